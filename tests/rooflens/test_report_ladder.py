"""Ladders, seed figures and launches on terminals of any width: nothing clipped, nothing lost."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from rooflens.analysis.ladder import ladders
from rooflens.analysis.seeds import seed_rows
from rooflens.kernels.seed_figures import seed_figures
from rooflens.report.ladder import print_ladders
from rooflens.report.launches import print_launches
from rooflens.report.seeds import print_seeds
from rooflens.run import Run
from rooflens.terms import Status
from tests.rooflens.examples import VARIANTS, ended, ladder, measured, modelled, run_of

IDEAS = {f"softmax.{variant}": f"the idea of {variant}, {'in words ' * 6}" for variant in VARIANTS}


def console_of(width: int | None) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    made = Console(
        file=stream,
        width=width or 80,
        force_terminal=width is not None,
        color_system=None,
        legacy_windows=False,
    )
    return made, stream


def ladder_text(run: Run, width: int | None = None) -> str:
    console, stream = console_of(width)
    print_ladders(ladders(run, "softmax", tuple(IDEAS)), IDEAS, console)
    return stream.getvalue()


def cells(text: str, rung: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"{rung} "))
    return re.split(r"\s{2,}", line.strip())


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_every_number_and_idea_is_whole_at_any_width(width: int) -> None:
    text = ladder_text(ladder(), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    # 536 870 912 bytes: 600 us at first, 0.35 x 600 = 210 us at last, of 4 TB/s.
    assert cells(text, "cached")[:5] == ["cached", "210 us", "2.86", "2.56 TB/s", "63.9 %"]
    flat = " ".join(text.split())
    for variant in VARIANTS:
        assert f"the idea of {variant}," in flat


def test_a_pipe_gets_the_idea_in_its_row() -> None:
    assert cells(ladder_text(ladder()), "cached")[-1].startswith("the idea of cached")
    assert "not shown" not in ladder_text(ladder())


def test_an_open_speed_up_is_printed_with_its_interval() -> None:
    wide = measured("cached", 2e-4, 2e-4)
    wide = replace(
        wide,
        times={
            state: replace(one, samples_s=tuple(2e-4 * (1 + 0.02 * step) for step in range(-5, 6)))
            for state, one in wide.times.items()
        },
    )
    # 11 samples: their 95 % interval is from the 2nd to the 10th, so 2e-4 x (0.92 to 1.08), against
    # 4e-4 x (0.9992 to 1.0008): 1.85 to 2.18.
    text = ladder_text(run_of(measured("naive", 4e-4, 4e-4), wide))
    assert "2 (1.9 to 2.2)" in text


def test_rungs_without_times_say_why() -> None:
    text = ladder_text(
        run_of(
            measured("naive", 4e-4, 4e-4),
            ended("online", Status.SKIPPED, "needs\x1b[31m 300 kB"),
            ended("cached", Status.FAILED, "row 3: got 0"),
        ),
        80,
    )
    assert cells(text, "online")[1:3] == ["skipped", "-"]
    assert cells(text, "cached")[1:3] == ["FAILED", "-"]
    assert "online: skipped: needs?[31m 300 kB" in text
    assert "cached: failed: row 3: got 0" in text


def test_a_modelled_ladder_has_a_bound_and_no_time() -> None:
    # 2 x 1000 x 500 000 x 4 bytes at 4 TB/s
    text = ladder_text(run_of(modelled("naive", rows=1000, cols=500_000)))
    assert cells(text, "naive")[:3] == ["naive", "-", "1.00 ms"]
    assert "median" not in text


@pytest.mark.parametrize("width", [80, None])
def test_launches_are_whole_and_the_sum_of_their_parts(width: int | None) -> None:
    one = modelled("naive", rows=1000, cols=500_000)
    launch = replace(one.launches[0], entry="e" * 30)
    console, stream = console_of(width)
    print_launches(run_of(replace(one, launches=(launch, launch))), console)
    text = stream.getvalue()
    assert "…" not in text
    assert "e" * 30 in text
    flat = " ".join(text.split())
    # Twice 4 GB, of which 4 GB are needed: 1 ms at 4 TB/s.
    assert "save 4.00 GB between launches (2.00 GB written, 2.00 GB read), 50.0 %" in flat
    assert "1.00 ms at the DRAM bandwidth of 4.00 TB/s (nominal)" in flat
    assert "only the whole of a kernel is timed" in flat


def test_a_run_without_launches_says_so() -> None:
    console, stream = console_of(None)
    print_launches(run_of(ended("naive", Status.FAILED, "no")), console)
    assert stream.getvalue() == "no kernel of this run has launches on record\n"


def test_seed_figures_fit_a_narrow_terminal_as_printed() -> None:
    run = run_of(measured("naive", 8e-6, 9e-6, rows=128), measured("online", 4e-6, 5e-6, rows=128))
    console, stream = console_of(80)
    print_seeds(seed_rows(seed_figures(), run, 1008e9), run, "mine", 1008e9, console)
    text = stream.getvalue()
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert cells(text, "rope.naive")[1:4] == ["0.04", "1675.92 *", "1.00"]
    # 2 x 128 x 4096 x 4 bytes in 4 us
    assert cells(text, "softmax.online") == [
        "softmax.online",
        "0.0041",
        "- *",
        "1.30",
        "4.00 us",
        "1049",
        "2.00",
    ]
    assert "run mine" in text
