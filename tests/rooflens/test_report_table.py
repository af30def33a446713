"""The table: the right number under the right heading, and nothing clipped."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from rooflens.cost import Cost, Traffic
from rooflens.precision import DType, Precision
from rooflens.report.table import print_run
from rooflens.run import Run
from rooflens.terms import CacheState, Status
from tests.rooflens.examples import CARD, VARIANTS, ended, ladder, measured, modelled, run_of, times


def printed(run: Run, width: int | None = None) -> str:
    """What is printed: on a terminal of a width, or into a pipe that claims to be 80 wide."""
    stream = io.StringIO()
    terminal = width is not None
    console = Console(
        file=stream,
        width=width or 80,
        force_terminal=terminal,
        color_system=None,
        legacy_windows=False,
    )
    print_run(run, console)
    return stream.getvalue()


def row(text: str, kernel: str) -> list[str]:
    """The cells of the first row of a kernel; cells are two spaces apart at least."""
    line = next(line for line in text.splitlines() if line.startswith(f"{kernel} "))
    return re.split(r"\s{2,}", line.strip())


def flat(text: str) -> str:
    return " ".join(text.split())


def test_each_number_stands_in_its_column() -> None:
    """1000 x 500 000 floats: 4 GB compulsory in 2 ms cold; 6 GB issued; 2.5 GFLOP."""
    text = printed(run_of(measured("cached", 1.6e-3, 2e-3, rows=1000, cols=500_000, reads=2)))
    assert row(text, "softmax.cached") == [
        "softmax.cached",
        "1000 x 500000",
        "ok",
        "1.60 ms",
        "2.00 ms",
        "256000",
        "2000",
        "1.50",
        "0.625",
        "2.50",
        "50.0 %",
        "memory",
        "32",
        "0",
    ]
    assert "of roof: share of DRAM bandwidth 4.00 TB/s (nominal)" in text
    assert "FP32 ridge 15.0 FLOP/byte" in text
    assert "source of the roofs: data sheet" in text


def test_a_pipe_gets_every_column_in_full() -> None:
    long = replace(measured("naive", 1e-3, 1e-3), kernel="softmax." + "n" * 200, variant="n" * 200)
    text = printed(run_of(long, *ladder().measurements))
    assert "n" * 200 in text
    assert "…" not in text
    assert "not shown" not in text
    assert len(row(text, "softmax.thread_per_row")) == 14
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_a_terminal_gets_what_fits_and_hears_what_does_not(width: int) -> None:
    text = printed(ladder(), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    for variant in VARIANTS:
        cells = row(text, f"softmax.{variant}")
        assert "16384 x 4096" in cells
        assert "memory" in cells
    full = len(row(printed(ladder()), "softmax.naive"))
    hidden = full - len(row(text, "softmax.naive"))
    said = re.search(r"not shown, for want of width: (.*) \(see", flat(text))
    assert (len(said[1].split(", ")) if said else 0) == hidden


def test_a_very_narrow_terminal_still_gets_whole_names() -> None:
    text = printed(ladder(), 30)
    assert "softmax.thread_per_row" in text
    assert "…" not in text


def test_a_modelled_run_shows_its_bound_time_as_modelled() -> None:
    text = printed(run_of(*(modelled(one, rows=1000, cols=500_000) for one in VARIANTS)))
    assert "bound time" in text
    assert "(modelled)" in text
    assert "nothing was timed" in text
    assert row(text, "softmax.naive")[2:6] == ["-", "-", "-", "1.00 ms"]
    assert "(memory)" in row(text, "softmax.naive")
    assert "GB/s" not in text
    assert "it was not measured" in text


def test_the_bound_time_survives_a_narrow_terminal() -> None:
    text = printed(run_of(modelled("naive", rows=1000, cols=500_000)), 80)
    assert "1.00 ms" in row(text, "softmax.naive")


def test_failed_and_skipped_rows_have_their_reasons_below() -> None:
    text = printed(
        run_of(
            ended("naive", Status.FAILED, "row 3: got 0, expected 0.25"),
            ended("cached", Status.SKIPPED, "needs 300 kB"),
            ended("online", Status.SKIPPED, "needs 300 kB"),
        )
    )
    assert row(text, "softmax.naive")[2] == "FAILED"
    assert row(text, "softmax.cached")[2] == "skipped"
    assert "failed: softmax.naive 16384 x 4096: row 3: got 0, expected 0.25" in text
    both = "skipped: softmax.cached 16384 x 4096, softmax.online 16384 x 4096: needs 300 kB"
    assert both in text
    assert "check: every" not in text


def test_a_time_that_is_not_resolved_is_not_shown_as_one() -> None:
    text = printed(run_of(measured("naive", 0.07e-6, 5e-6, rows=1, cols=64)))
    assert "<= 0.10 us" in text
    assert "70.0 ns" not in text
    assert "not above what the method can tell apart" in text


def test_a_loose_median_is_said() -> None:
    loose = replace(
        measured("naive", 1e-3, 1e-3), times={CacheState.HOT: times(1e-3, "graph", spread=0.4)}
    )
    assert "wider than 1 %: softmax.naive 16384 x 4096 hot (" in printed(run_of(loose))
    assert "wider than 1 %" not in printed(ladder())


def test_more_than_the_memory_can_is_never_without_a_word() -> None:
    """4.2 MB twice in 1 us hot is 8.4 TB/s, which L2 explains; 537 MB in 100 us nothing does."""
    warm = replace(
        measured("cached", 1e-6, 5e-6, rows=256, cols=4096),
        times={CacheState.HOT: times(1e-6, "graph")},
    )
    text = printed(run_of(warm))
    assert "210 %" in row(text, "softmax.cached")
    assert "cache" in row(text, "softmax.cached")
    assert "faster than DRAM, which is no error" in text
    text = printed(run_of(measured("cached", 100e-6, 100e-6)))
    assert "suspect" in row(text, "softmax.cached")
    assert "does not fit" in text


def test_a_compute_bound_row_is_held_against_the_peak() -> None:
    """600 GFLOP in 20 ms is 30 of 60 TFLOP/s."""
    work = Cost(
        flops={Precision.FP32: 600 * 10**9},
        special_function_ops=0,
        compulsory=Traffic(read_bytes=10**9, write_bytes=10**9),
        issued=Traffic(read_bytes=10**9, write_bytes=10**9),
    )
    heavy = replace(measured("naive", 20e-3, 20e-3), cost=work)
    text = printed(run_of(heavy))
    assert row(text, "softmax.naive")[10:12] == ["50.0 %", "compute"]
    assert "of roof: share of FP32 peak 60.0 TFLOP/s (nominal) where arithmetic bounds" in text


def test_mixed_states_are_named_in_each_cell() -> None:
    hot_only = replace(measured("naive", 1e-3, 1e-3), times={CacheState.HOT: times(1e-3, "graph")})
    text = printed(run_of(hot_only, measured("cached", 1e-3, 1e-3)))
    assert "537 hot" in row(text, "softmax.naive")
    assert "537 cold" in row(text, "softmax.cached")


def test_mixed_sizes_and_dtypes_are_named() -> None:
    other = replace(modelled("naive"), size={"n": 5}, dtype=DType.FLOAT16)
    text = printed(run_of(modelled("cached"), other))
    assert row(text, "softmax.naive")[1:3] == ["float16", "n=5"]
    assert row(text, "softmax.cached")[1:3] == ["float32", "rows=16384,cols=4096"]


def test_unknown_roofs_are_said_to_be_unknown() -> None:
    blind = replace(CARD, bandwidths={}, peaks={}, sm_clock_hz=None, l2_bytes=None, dram_bytes=None)
    text = printed(run_of(measured("naive", 1e-3, 1e-3), card=blind))
    assert "DRAM bandwidth unknown" in text
    assert "no DRAM bandwidth is known for Example GPU" in text
    assert "%" not in text


def test_text_from_a_file_cannot_command_the_terminal() -> None:
    hostile = "\x1b[31mred [bold]x[/bold] \x07\u202e\ntwo"
    nasty = replace(
        ended("naive", Status.SKIPPED, hostile), kernel=f"softmax.{hostile}", variant=hostile
    )
    for width in (None, 120):
        text = printed(run_of(nasty, card=replace(CARD, name=hostile)), width)
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
        assert "[bold]x[/bold]" in text


def test_a_run_without_results_is_printed() -> None:
    assert "no results" in printed(run_of())
    assert "no results" in printed(run_of(), 80)
