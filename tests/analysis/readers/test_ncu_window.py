"""Tables that the tool's window exports: units behind the names, launches down or across."""

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.errors import DataFormatError
from rooflens.terms import CacheState, MemoryLevel
from tests.analysis.readers.exports import written

LINES = (
    ("ID", "0", "1"),
    ("Function Name", "scale", "gemm"),
    ("Demangled Name", "scale(float *, int)", "void gemm<4>(float *)"),
    ("Process", "[100] app", "[100] app"),
    ("Device Name", "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
    ("Grid Size", "128, 1, 1", "16, 16, 1"),
    ("Block Size [block]", "256, 1, 1", "32, 8, 1"),
    ("gpu__time_duration.sum [us]", "12.50", "1,250.75"),
    ("dram__bytes_read.sum [Gbyte]", "0.50", "1.25"),
    ("dram__bytes_write.sum [Gbyte]", "0.25", "0.00"),
    ("launch__registers_per_thread [register/thread]", "32", "128"),
    ("lts__t_sector_hit_rate.pct [%]", "41.50", "n/a"),
    ("smsp__inst_executed.sum [inst]", "1,000", "2,000"),
)


def check(read: ReportFile) -> None:
    first, second = read.measurements
    assert [first.kernel, second.kernel] == ["scale", "gemm<4>"]
    assert first.times[CacheState.REPORTED].samples_s == (12.5e-6,)
    assert second.times[CacheState.REPORTED].samples_s == (1250.75e-6,)
    assert first.report is not None
    assert second.report is not None
    assert first.report.kernel_name == "scale(float *, int)"
    assert first.report.traffic_bytes == {MemoryLevel.DRAM: 0.75e9}
    assert first.report.registers == 32
    assert first.report.grid == (128, 1, 1)
    assert second.report.block == (32, 8, 1)
    assert first.report.fractions["l2_hit_rate"] == pytest.approx(0.415)
    assert "l2_hit_rate" not in second.report.fractions
    assert [card.name for card in read.cards] == ["NVIDIA GeForce RTX 4090"]


def test_a_line_for_each_metric() -> None:
    check(read_ncu_csv(written(LINES).encode(), name="x"))


def test_a_line_for_each_launch() -> None:
    check(read_ncu_csv(written(list(zip(*LINES, strict=True))).encode(), name="x"))


def test_without_quotes_where_none_are_needed() -> None:
    lines = [[f'"{cell}"' if "," in cell else cell for cell in cells] for cells in LINES]
    check(read_ncu_csv("\r\n".join(map(",".join, lines)).encode("utf-8-sig"), name="x"))


def test_a_line_that_lost_a_cell_is_refused() -> None:
    lines = [list(cells) for cells in LINES]
    del lines[8][1]
    with pytest.raises(DataFormatError, match=r"x:9: got 2 cells, expected 3"):
        read_ncu_csv(written(lines).encode(), name="x")
