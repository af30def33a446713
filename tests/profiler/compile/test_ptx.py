import pytest

from rooflens.errors import DataFormatError
from rooflens.profiler.compile import ParameterLayout as P
from rooflens.profiler.compile.ptx import read_ptx

PTX = """\
.version 9.5
.target sm_90
// .visible .entry commented(
.visible .entry mixed(
\t.param .u64 .ptr .global .align 4 mixed_param_0,
\t.param .align 8 .b8 mixed_param_1[13],
\t.param .u16 mixed_param_2,
\t.param .align 16 .b8 mixed_param_3[16],
\t.param .u8 mixed_param_4,
\t.param .f64 mixed_param_5
)
.maxntid 128, 1, 1
{ ret; }
.weak .entry _Z1qIiEvPT_(.param .u32 a)
{ ret; }
.visible .entry none()
{ ret; }
"""


def test_layouts_by_hand() -> None:
    assert read_ptx(PTX, path="k.cu") == {
        "mixed": (P(0, 8), P(8, 13), P(22, 2), P(32, 16), P(48, 1), P(56, 8)),
        "_Z1qIiEvPT_": (P(0, 4),),
        "none": (),
    }


@pytest.mark.parametrize("bad", [".u65 x", ".pred p", ".align 0 .b8 x[4]", ".b8 x[]", "u32 x"])
def test_unknown_form(bad: str) -> None:
    with pytest.raises(DataFormatError, match="unknown parameter"):
        read_ptx(f".visible .entry k(.param {bad})", path="k.cu")
