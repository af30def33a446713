"""The recorded run: real, whole, and what the README shows of it."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rooflens.kernels.softmax import KERNELS
from rooflens.report.document import document
from rooflens.report.table import print_run
from rooflens.run import Run
from rooflens.store import find_run, read_run
from rooflens.terms import Basis, Bound, CacheState, Status


@pytest.fixture(scope="module")
def h200() -> Run:
    return read_run(find_run("h200"))


def test_it_is_a_measured_ladder_on_an_h200(h200: Run) -> None:
    assert h200.device_kind == "cuda"
    assert h200.hardware.name == "NVIDIA H200"
    assert h200.hardware.limits.sm_count == 132
    assert h200.provenance.calibration is not None
    rows = h200.measurements
    assert [row.variant for row in rows] == 3 * [kernel.variant for kernel in KERNELS]
    for row in rows:
        assert row.status is Status.OK
        assert row.basis is Basis.MEASURED
        assert row.verification is not None
        assert row.verification.passed
        for state in CacheState:
            assert len(row.times[state].samples_s) >= 20


def test_its_derived_numbers_are_what_this_version_derives(h200: Run) -> None:
    stored = json.loads((find_run("h200") / "run.json").read_text(encoding="utf-8"))
    derived = document(h200)
    for name in ("device", "provenance", "results"):
        assert derived[name] == stored[name]


def test_no_number_in_it_is_impossible(h200: Run) -> None:
    for row in document(h200)["results"]:
        for state in row["time"].values():
            assert state["bound"] != Bound.SUSPECT
            assert state["achieved_bytes_per_s"] < 4.814e12 or row["working_set_bytes"] < 62_914_560


def test_the_ladder_reaches_what_it_promises(h200: Run) -> None:
    """torch.softmax reached 2563 GB/s at 16384 x 4096 on such a card."""
    (row,) = (
        row
        for row in document(h200)["results"]
        if row["variant"] == "cached" and row["size"] == {"rows": 16384, "cols": 4096}
    )
    assert row["achieved_bytes_per_s"] > 2563e9


def test_the_readme_shows_it_as_it_is(checkout: Path, h200: Run) -> None:
    stream = StringIO()
    print_run(h200, Console(file=stream, width=200, no_color=True, highlight=False))
    printed = {line.rstrip() for line in stream.getvalue().splitlines()}
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    block = readme.split("```text\n")[1].split("\n```")[0].splitlines()
    assert len(block) > 14
    assert [line for line in block if line not in printed] == []
