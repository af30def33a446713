"""What stands around a table, what is missing in it, and what is refused with its place."""

import pytest

from rooflens.analysis.readers.locale_numbers import DecimalMark
from rooflens.analysis.readers.ncu_csv import REFUSED, read_ncu_csv
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement
from rooflens.reported import Report
from rooflens.terms import CacheState, MemoryLevel
from tests.analysis.readers.exports import ONE, listed, raw

TIME = ("gpu__time_duration.sum", "ns", "42,496")
BYTES = ("dram__bytes.sum", "byte", "40,093,440")


def read(text: str) -> ReportFile:
    return read_ncu_csv(text.encode(), name="x.csv")


def only(text: str) -> Measurement:
    (row,) = read(text).measurements
    return row


def report(text: str) -> Report:
    found = only(text).report
    assert found is not None
    return found


def refusal(text: str) -> str:
    with pytest.raises(DataFormatError) as caught:
        read(text)
    return str(caught.value)


def time_s(row: Measurement) -> float:
    return row.times[CacheState.REPORTED].samples_s[0]


def test_lines_of_the_tool_and_of_the_program_are_passed_over() -> None:
    table = listed(TIME, BYTES).splitlines()
    noisy = [
        "==PROF== Connected to process 100",
        'loss, "step", 1,2,3',
        table[0],
        'epoch "1", loss 0.5, "a,b"',
        table[1],
        "==WARNING== something, with a comma",
        table[2],
        "==PROF== Disconnected",
    ]
    row = only("\n".join(noisy))
    assert time_s(row) == 42.496e-6
    assert row.report is not None
    assert row.report.traffic_bytes[MemoryLevel.DRAM] == 40_093_440


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no table of Nsight Compute in it"),
        ("==WARNING== No kernels were profiled.\n", "profiled no kernels"),
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n",
            "refused the counters",
        ),
        ("==ERROR== The application returned an error code (11)\n", "returned an error code"),
        ("  scale(float*)\n    Section: GPU Speed Of Light\n    ---- ----\n", "printed as text"),
        (listed().splitlines()[0], "a table without a row"),
    ],
)
def test_a_file_without_launches_says_what_it_holds(text: str, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.parametrize("word", ["n/a", "nan", "inf", "(!) nan", "no data", "", "-nan"])
def test_no_number_is_absent_with_its_reason_and_never_0(word: str) -> None:
    found = report(listed(TIME, ("dram__bytes.sum", "byte", word)))
    assert MemoryLevel.DRAM not in found.traffic_bytes
    assert found.absent["dram bytes"].startswith("dram__bytes.sum")


def test_a_report_where_everything_is_n_a_says_that_counters_were_refused() -> None:
    empty = read(listed((TIME[0], "ns", "n/a"), (BYTES[0], "byte", "n/a")))
    assert REFUSED in empty.notes
    assert not empty.measurements[0].times
    assert REFUSED not in read(listed(TIME, (BYTES[0], "byte", "n/a"))).notes


def test_an_unknown_unit_is_refused_where_its_metric_is_read() -> None:
    said = refusal(listed(TIME, ("dram__bytes.sum", "furlong", "7")))
    assert "x.csv:3: dram__bytes.sum: got unit 'furlong'" in said
    assert time_s(only(listed(TIME, ("my__metric.sum", "furlong", "7")))) == 42.496e-6


def test_a_unit_of_another_dimension_is_refused() -> None:
    assert "which is of bytes" in refusal(listed(("gpu__time_duration.sum", "byte", "7")))
    assert "without a unit" in refusal(listed(("gpu__time_duration.sum", "", "7")))


def test_lost_quotes_move_no_cell_to_another_column() -> None:
    """The name's comma then makes a cell more than the header has."""
    table = raw(TIME, BYTES).replace('"scale(float *, int)"', "scale(float *, int)")
    said = refusal(table)
    assert said.startswith("x.csv:3: got 14 cells, expected 13")


def test_a_row_with_the_start_of_another_before_it_is_refused() -> None:
    """A cell more than a metric's row has, though fewer than the header."""
    table = listed(TIME, BYTES).replace('"Metric Value"', '"Metric Value","Rule Name","Rule Type"')
    said = refusal(table.replace('"0","100"', '"0","0","100"', 1))
    assert said.startswith("x.csv:2: got 16 cells, expected 15 or 17")


def test_a_last_line_that_is_cut_off_is_left_out_with_a_note() -> None:
    whole = listed(TIME, BYTES)
    cut = read(whole[: whole.rindex('"byte"')])
    assert any("is cut off and left out" in note for note in cut.notes)
    assert time_s(cut.measurements[0]) == 42.496e-6


def test_a_number_that_the_file_s_end_cuts_is_not_read() -> None:
    """ "40,093,440" cut to "40,09" is another number."""
    whole = listed(TIME, BYTES)
    found = report(whole[: whole.rindex(",440")])
    assert MemoryLevel.DRAM not in found.traffic_bytes


def test_two_values_of_one_metric_are_refused() -> None:
    said = refusal(listed(TIME, (TIME[0], "ns", "42,497")))
    assert "'42,496' in line 2 and '42,497'" in said


def test_a_row_of_another_kernel_under_the_same_id_is_refused() -> None:
    table = listed(TIME, BYTES).splitlines()
    table[2] = table[2].replace("scale(", "scatter(")
    assert "launch '0' is not the one of that ID in line 2" in refusal("\n".join(table))


def test_processes_with_the_same_ids_stay_apart() -> None:
    first = listed(TIME)
    second = listed((TIME[0], "ns", "50,000"), launch=("0", "101", *ONE[2:]))
    rows = read(first + second.split("\n", 1)[1]).measurements
    assert [time_s(row) for row in rows] == [42.496e-6, 50e-6]


def test_a_german_file_is_read_as_german() -> None:
    table = listed(
        ("gpu__time_duration.sum", "nsecond", "117.344"),
        ("dram__bytes.sum", "byte", "1.530.000"),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "0,27"),
    )
    found = report(table)
    assert time_s(only(table)) == 117.344e-6
    assert found.traffic_bytes[MemoryLevel.DRAM] == 1_530_000
    assert found.fractions["sm_throughput"] == 0.0027
    assert any("decimal comma" in note for note in read(table).notes)


def test_an_ambiguous_file_is_refused_until_the_user_tells() -> None:
    table = listed(("gpu__time_duration.sum", "usecond", "117.344"))
    assert "--decimal point or --decimal comma" in refusal(table)
    for mark, time in ((DecimalMark.POINT, 117.344e-6), (DecimalMark.COMMA, 117_344e-6)):
        (row,) = read_ncu_csv(table.encode(), name="x", decimal=mark).measurements
        assert time_s(row) == pytest.approx(time)


def test_a_very_long_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rooflens.analysis.readers.csv_scan.MAX_LINE_CHARACTERS", 1000)
    assert "got a line of 2000 characters" in refusal("x" * 2000)


def test_negative_counts_and_times_are_refused() -> None:
    assert "'-42,496'" in refusal(listed(("gpu__time_duration.sum", "ns", "-42,496")))
    assert "'-7'" in refusal(listed(TIME, ("dram__bytes.sum", "byte", "-7")))
    assert "from 0 to 1e+24" in refusal(listed(TIME, ("dram__bytes.sum", "byte", "1e999")))


def test_old_exports_without_shape_and_device_are_read() -> None:
    table = (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context",'
        '"Stream","Section Name","Metric Name","Metric Unit","Metric Value"\n'
        '"0","1","app","127.0.0.1","scale","2020-May-01 10:00:00","1","7",'
        '"GPU Speed Of Light","Duration","usecond","12.50"\n'
        '"0","1","app","127.0.0.1","scale","2020-May-01 10:00:00","1","7",'
        '"GPU Speed Of Light","SOL SM","%","55.00"\n'
    )
    found = report(table)
    assert time_s(only(table)) == pytest.approx(12.5e-6)
    assert found.fractions["sm_throughput"] == 0.55
    assert found.grid is None
    assert found.device.compute_capability is None
