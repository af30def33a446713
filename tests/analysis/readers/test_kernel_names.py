"""Kernel names: short enough for a table, and still telling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.readers.kernel_names import LONGEST, short_name


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("scale", "scale"),
        ("scale(float *, int)", "scale"),
        ("void scale<float>(float *, int)", "scale<float>"),
        ("void at::<unnamed>::softmax<float, 4>(T1 *)", "at::softmax<float, 4>"),
        ("(anonymous namespace)::fill(int)", "fill"),
        ("void ns::f<(int)4, g<int>>(void (*)(int))", "ns::f<(int)4, g<int>>"),
        ("_Z5scalePfi", "_Z5scalePfi"),
        ("void broken<int(float", "void broken<int(float"),
    ],
)
def test_a_name_is_what_a_reader_calls_it(full: str, short: str) -> None:
    assert short_name(full) == short


def test_thousands_of_characters_of_template_become_a_short_name() -> None:
    full = "void cutlass::Kernel<" + ", ".join(f"A<{place}>" for place in range(2000)) + ">(P)"
    assert short_name(full) == "cutlass::Kernel<...>"


@given(st.text(max_size=300))
def test_any_name_is_short_and_never_empty_for_text(full: str) -> None:
    assert len(short_name(full)) <= max(LONGEST, len(full.strip()) and LONGEST)
    assert bool(short_name(full).strip()) or not full.strip()
