import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.errors import DataFormatError
from rooflens.measurement import Resources
from rooflens.profiler.compile.resources import parse_resources

LOG = """\
/x/k.cu(3): warning #177-D: variable "i" was declared but never referenced
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'caller' for 'sm_80'
ptxas info    : Function properties for caller
ptxas         .     176 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 64 registers, used 0 barriers, 192 bytes cumulative stack size, \
364 bytes cmem[0]
ptxas info    : Compile time = 26.490 ms
ptxas info    : Function properties for _Z1hPfi
ptxas         .     16 bytes stack frame, 328 bytes spill stores, 300 bytes spill loads
ptxas info    : Compiling entry function '_Z1kv' for 'sm_90a'
ptxas info    : Function properties for _Z1kv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem, 560 bytes cmem[0]
"""


def test_log() -> None:
    assert parse_resources(LOG, path="k.cu") == {
        "caller": Resources(
            registers=64, shared_bytes=0, spill_bytes=4 + 8 + 328 + 300, local_bytes=192
        ),
        "_Z1kv": Resources(registers=12, shared_bytes=256, spill_bytes=0, local_bytes=0),
    }


def test_no_entries() -> None:
    assert parse_resources("ptxas info    : 0 bytes gmem\n", path="k.cu") == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Used 64 registers", "Uses 64 registers"),
        ("Used 12 registers", "Used many registers"),
        ("176 bytes stack frame, 4 bytes", "176 bytes of stack, 4 bytes"),
        ("256 bytes smem", "some smem"),
        ("256 bytes smem", "256+16 bytes smem"),
        ("192 bytes cumulative stack size", "a cumulative stack size"),
        ("function '_Z1kv'", "function 'caller'"),
        ("Function properties for caller", "Function properties for other"),
        ("ptxas info    : Compile time", "ptxas info    : Used 3 registers"),
    ],
)
def test_a_changed_format_is_refused(old: str, new: str) -> None:
    assert old in LOG
    with pytest.raises(DataFormatError, match=r"k\.cu: ptxas log: "):
        parse_resources(LOG.replace(old, new), path="k.cu")


@given(st.integers(0, len(LOG)))
def test_a_truncated_log_gives_no_wrong_numbers(length: int) -> None:
    whole = parse_resources(LOG, path="k.cu")
    try:
        read = parse_resources(LOG[:length], path="k.cu")
    except DataFormatError:
        return
    assert read.keys() <= whole.keys()
