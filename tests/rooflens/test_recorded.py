"""The recorded run: real, whole, and what the README shows of it."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rooflens.analysis.ladder import ladders
from rooflens.kernels.registry import BUILT_IN
from rooflens.report.document import document
from rooflens.report.ladder import print_ladders
from rooflens.run import Run
from rooflens.store import find_run, read_run
from rooflens.terms import Basis, Bound, CacheState, SizeSet, Status

STATES = (CacheState.HOT, CacheState.COLD)


RUNS = ("h200", "h200_more")


@pytest.fixture(scope="module", params=RUNS)
def recorded(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def h200() -> Run:
    return read_run(find_run("h200"))


def cold_s(run: Run, kernel: str, place: int = 0) -> float:
    """The cold median of a kernel at its place-th size."""
    times = [row["time"]["cold"] for row in document(run)["results"] if row["kernel"] == kernel]
    median: float = times[place]["median_s"]
    return median


def test_together_they_hold_every_kernel_at_every_default_size() -> None:
    expected = [
        (kernel.name, kernel.dtypes[0], size.as_dict())
        for kernel in BUILT_IN
        for sizes in SizeSet
        for size in kernel.family.sizes[sizes]
    ]
    rows = [row for name in RUNS for row in read_run(find_run(name)).measurements]
    found = {str((row.kernel, row.dtype, dict(row.size))) for row in rows}
    assert found == set(map(str, expected))


def test_it_was_measured_and_verified_on_an_h200(recorded: str) -> None:
    run = read_run(find_run(recorded))
    assert run.device_kind == "cuda"
    assert run.hardware is not None
    assert run.hardware.name == "NVIDIA H200"
    assert run.hardware.limits.sm_count == 132
    assert run.provenance.calibration is not None
    for row in run.measurements:
        assert row.status is Status.OK, row.reason
        assert row.basis is Basis.MEASURED
        assert row.verification is not None
        assert row.verification.passed
        for state in STATES:
            assert len(row.times[state].samples_s) >= 20


def test_its_derived_numbers_are_what_this_version_derives(recorded: str) -> None:
    stored = json.loads((find_run(recorded) / "run.json").read_text(encoding="utf-8"))
    derived = document(read_run(find_run(recorded)))
    for name in ("device", "provenance", "results"):
        assert derived[name] == stored[name]


def test_its_rows_say_which_source_ran_and_of_which_revision(recorded: str) -> None:
    run = read_run(find_run(recorded))
    for row in run.measurements:
        assert re.fullmatch(r"[0-9a-f]{64}", row.source_hash or "")
    if run.provenance.git_revision is None:
        assert any("no git revision" in note for note in run.provenance.notes)


def test_no_number_in_it_is_impossible(recorded: str) -> None:
    for row in document(read_run(find_run(recorded)))["results"]:
        for state in row["time"].values():
            assert state["bound"] != Bound.SUSPECT
            assert state["achieved_bytes_per_s"] < 4.814e12 or row["working_set_bytes"] < 62_914_560


def test_its_ladders_go_the_right_way(h200: Run) -> None:
    """Factors that a user may expect on such a card; torch.softmax reached 2563 GB/s there."""
    assert cold_s(h200, "softmax.unfused", 1) > 2 * cold_s(h200, "softmax.cached", 1)
    assert 2 * 16384 * 4096 * 4 / cold_s(h200, "softmax.cached", 1) > 2563e9
    assert cold_s(h200, "rmsnorm.naive") > 12 * cold_s(h200, "rmsnorm.warp")
    assert cold_s(h200, "attention.naive") > cold_s(h200, "attention.flash_v3")
    assert cold_s(h200, "gemm.naive", 1) > 10 * cold_s(h200, "gemm.tensor_core", 1)


def test_the_readme_shows_it_as_it_is(checkout: Path, h200: Run) -> None:
    stream = StringIO()
    ideas = {one.name: one.idea for one in BUILT_IN}
    order = tuple(ideas)
    console = Console(file=stream, width=200, no_color=True, highlight=False)
    for family in dict.fromkeys(one.family.name for one in BUILT_IN):
        print_ladders(ladders(h200, family, order), ideas, console)
    printed = "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```text\n")[1].split("\n```")[0]
    tables = ["\n".join(map(str.rstrip, one.splitlines())) for one in shown.split("\n\n")]
    assert len(tables) == 2
    for table in tables:
        assert f"\n\n{table}\n\n" in printed
