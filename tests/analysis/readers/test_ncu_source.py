"""Source pages by hand: what is arithmetic, and which launch a page is of."""

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.read_report import launches_of
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement
from rooflens.precision import Precision
from rooflens.reported import Report
from tests.analysis.readers.exports import listed, written

COLUMNS = (
    "Address",
    "Source",
    "# Samples",
    "Instructions Executed",
    "Thread Instructions Executed",
)
ACTIVE = "Predicated-On Thread Instructions Executed"
TIME = ("gpu__time_duration.sum", "ns", "42,496")


def page(*instructions: tuple[str, str], kernel: str = "scale(float *, int)") -> str:
    rows = [
        (f"0x7f{place:04x}", text, "1", "1", active, active)
        for place, (text, active) in enumerate(instructions)
    ]
    title = '"Kernel Name","' + kernel + '",\n'
    return title + written([(*COLUMNS, ACTIVE), *rows])


def read(*parts: str) -> tuple[Measurement, ...]:
    """The launches of several files."""
    return launches_of(read_ncu_csv(part.encode(), name="x.csv") for part in parts)


def only(*parts: str) -> Report:
    (row,) = read(*parts)
    assert row.report is not None
    return row.report


@pytest.mark.parametrize(
    ("text", "flops"),
    [
        ("      FADD R5, R0, 1", {Precision.FP32: 10}),
        ("@P0   FFMA.FTZ R5, R0, R5, 1", {Precision.FP32: 20}),
        ("@!UP1 FMUL R5, R0, R5", {Precision.FP32: 10}),
        ("      FFMA2 R4, R2, R6, R8", {Precision.FP32: 40}),
        ("      DFMA R4, R2, R6, R8", {Precision.FP64: 20}),
        ("      HFMA2 R5, R1, R2, R3", {Precision.FP16: 40}),
        ("      HFMA2.BF16_V2 R5, R1, R2, R3", {Precision.FP16: 40}),
        ("      HFMA2.MMA R5, -RZ, RZ, 2, 0", {}),
        ("      HFMA2.MMA R5, R1, RZ, 2, 0 ;", {}),
        ("      HADD2.F32 R5, -RZ, R1.H0_H0", {}),
        ("      HADD2 R5, R2, R1", {Precision.FP16: 20}),
        ("      FSEL R5, R2, R1, P0", {}),
        ("      MUFU.EX2 R5, R2", {}),
        ("      LDG.E R5, desc[UR4][R2.64]", {}),
    ],
)
def test_an_instruction_counts_its_operations(text: str, flops: dict[Precision, int]) -> None:
    told = only(page((text, "10"), ("      EXIT", "10"))).flops
    assert {precision: count for precision, count in told.items() if count} == flops


def test_counts_may_be_grouped_in_any_way() -> None:
    for text in ("1,000", "1.000", "1 000", "1'000"):
        assert only(page(("FADD R5, R0, 1", text))).flops[Precision.FP32] == 1000


def test_a_count_that_is_none_is_refused_with_its_place() -> None:
    with pytest.raises(DataFormatError, match=r"x\.csv:3: Predicated-On .*: got 'many'"):
        read(page(("FADD R5, R0, 1", "many")))


def test_tensor_instructions_leave_operations_unknown() -> None:
    told = only(page(("FADD R5, R0, 1", "10"), ("HMMA.16816.F32 R4, R8, R2, R4", "10")))
    assert told.flops == {}
    assert told.absent["fp32 FLOP"] == "it runs HMMA"


def test_a_page_fills_what_its_launch_lacks() -> None:
    report = only(listed(TIME), page(("FFMA R5, R0, R5, 1", "100")))
    assert report.flops == {Precision.FP32: 200, Precision.FP64: 0, Precision.FP16: 0}
    assert "fp32 FLOP" not in report.absent
    assert "Predicated-On" in report.derivations["fp32 FLOP"]


def test_the_page_tells_constants_from_half_arithmetic() -> None:
    executed = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
    half = [(executed.format(op), "inst", count) for op, count in
            (("hadd", "0"), ("hmul", "0"), ("hfma", "100"))]  # fmt: skip
    single = [(executed.format(op), "inst", "7") for op in ("fadd", "fmul", "ffma")]
    counted = only(listed(TIME, *half, *single))
    assert counted.flops[Precision.FP16] == 400
    report = only(listed(TIME, *half, *single), page(("HFMA2.MMA R5, -RZ, RZ, 2, 0", "100")))
    assert report.flops[Precision.FP16] == 0
    assert report.flops[Precision.FP32] == 28
    assert report.not_arithmetic == ()


def test_a_page_printed_twice_is_one() -> None:
    once = page(("FADD R5, R0, 1", "10"))
    assert len(read(once + once)) == 1
    assert len(read(once + page(("FADD R5, R0, 1", "11")))) == 2


def test_pages_of_more_launches_than_there_are_stay_alone() -> None:
    pages = (page(("FADD R5, R0, 1", "10")), page(("FADD R5, R0, 1", "11")))
    rows = read(listed(TIME), *pages)
    assert len(rows) == 3
    assert rows[0].report is not None
    assert not rows[0].report.flops


def test_lines_of_source_text_are_no_machine_code() -> None:
    with pytest.raises(DataFormatError, match="no machine code"):
        read(page(("float x = y * 2;", "10")))
