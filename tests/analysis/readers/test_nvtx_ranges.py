"""NVTX ranges out of the cells that hold them."""

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.nvtx_ranges import is_nvtx_column, range_names
from tests.analysis.readers.exports import written

ATTRIBUTES = "PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
PUSHED = f"thread Domain:Push/Pop_Range:{ATTRIBUTES}"
STARTED = f"Id:Domain:Start/Stop_Range:{ATTRIBUTES}"
SUMMED = f"Range:{ATTRIBUTES}"
NONE = "none:none:none:none:none:none"


@pytest.mark.parametrize(
    ("column", "cell", "names"),
    [
        (PUSHED, f'474  "<default domain>:gemms:{NONE}" ', ("gemms",)),
        (
            PUSHED,
            f'1  "<default domain>:step:{NONE}"  "nccl:all reduce:{NONE}" ',
            ("step", "nccl/all reduce"),
        ),
        (STARTED, f'7:"<default domain>:a::b:{NONE}"', ("a::b",)),
        (SUMMED, f' "block::A3:{NONE}"  "gemm:{NONE}" ', ("block::A3", "gemm")),
        (PUSHED, "", ()),
        (PUSHED, " ", ()),
        (PUSHED, "renamed", ("renamed",)),
        (PUSHED, '"short:name"', ("short/name",)),
    ],
)
def test_names_outermost_first(column: str, cell: str, names: tuple[str, ...]) -> None:
    assert is_nvtx_column(column)
    assert range_names(column, cell) == names


def test_a_summary_by_range_is_read_without_a_column_of_units() -> None:
    """What needs no unit is there; a time without one is absent, with the reason."""
    names = ("Domain", SUMMED, "Kernel Name", "Invocations", "Metric Name", "Average")
    start = ("<default domain>", f' "block::A3:{NONE}" ', "gemm", "2")
    table = written(
        [
            names,
            (*start, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "42.25"),
            (*start, "gpu__time_duration.sum", "1000"),
        ]
    )
    read = read_ncu_csv(table.encode(), name="x")
    (row,) = read.measurements
    assert row.report is not None
    assert row.report.ranges == ("block::A3",)
    assert row.report.launches == 2
    assert row.report.fractions["sm_throughput"] == 0.4225
    assert not row.times
    assert "unit is not in the report" in row.report.absent["time"]
    assert not any("refused" in note for note in read.notes)
