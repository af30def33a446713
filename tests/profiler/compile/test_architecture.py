import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.errors import NotAvailableError, NotSupportedError, UsageError
from rooflens.profiler.compile import Architecture, CodeKind, choose_target

KNOWN = (75, 80, 86, 87, 89, 90, 100, 103, 120)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sm_89", Architecture(8, 9)),
        ("sm_90a", Architecture(9, 0, "a")),
        ("compute_120", Architecture(12, 0)),
        ("8.6", Architecture(8, 6)),
        ("10.0a", Architecture(10, 0, "a")),
        ((10, 3), Architecture(10, 3)),
    ],
)
def test_parse(text: str | tuple[int, int], expected: Architecture) -> None:
    assert Architecture.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "89", "sm_9", "sm_90f", "sm_90A", "sm_1000", " sm_89", "sm_89\n", "sm_٨٩", "8.10", "-8.9"],
)
def test_parse_refuses(text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        Architecture.parse(text)


@pytest.mark.parametrize("pair", [(8,), (8, 9, 0), (0, 0), (8, 10), (8, -1), (8.0, 9), (True, 0)])
def test_parse_refuses_pairs(pair: tuple[int, ...]) -> None:
    with pytest.raises(UsageError):
        Architecture.parse(pair)


def test_unknown_feature() -> None:
    with pytest.raises(UsageError, match="'f'"):
        Architecture(10, 0, "f")


def test_names() -> None:
    architecture = Architecture(9, 0, "a")
    assert (architecture.sm, architecture.compute, str(architecture)) == (
        "sm_90a",
        "compute_90a",
        "sm_90a",
    )
    assert Architecture(12, 1).number == 121


def test_exact() -> None:
    target = choose_target(Architecture(8, 9), KNOWN)
    assert (target.name, target.kind, target.note) == ("sm_89", CodeKind.CUBIN, None)


@pytest.mark.parametrize(
    ("requested", "name"),
    [
        ((12, 1), "sm_120"),  # newer than all
        ((10, 1), "sm_100"),  # in a gap: 10.3 is known, but its code does not run on 10.1
        ((8, 8), "sm_87"),
        ((8, 1), "sm_80"),
    ],
)
def test_same_major_gives_a_cubin(requested: tuple[int, int], name: str) -> None:
    target = choose_target(Architecture.parse(requested), KNOWN)
    assert (target.name, target.kind) == (name, CodeKind.CUBIN)
    assert target.note is not None
    assert name in target.note
    assert target.requested.sm in target.note


@pytest.mark.parametrize(
    ("requested", "name"),
    [((13, 0), "compute_120"), ((11, 0), "compute_103")],  # 12.0 does not run on 11.0
)
def test_other_major_gives_ptx(requested: tuple[int, int], name: str) -> None:
    target = choose_target(Architecture.parse(requested), KNOWN)
    assert (target.name, target.kind) == (name, CodeKind.PTX)
    assert target.note is not None
    assert name in target.note


def test_first_known_of_its_major_is_newer() -> None:
    target = choose_target(Architecture(10, 0), (90, 103))
    assert (target.name, target.kind) == ("compute_90", CodeKind.PTX)


def test_older_than_all() -> None:
    with pytest.raises(NotAvailableError, match=r"sm_61.*sm_75") as caught:
        choose_target(Architecture(6, 1), KNOWN)
    assert "rooflens[cuda12]" in caught.value.hint


def test_nothing_known() -> None:
    with pytest.raises(NotAvailableError):
        choose_target(Architecture(8, 9), ())


def test_feature_is_exact() -> None:
    assert choose_target(Architecture(9, 0, "a"), KNOWN).name == "sm_90a"


@pytest.mark.parametrize("requested", [(8, 9, "a"), (12, 1, "a"), (10, 1, "a"), (6, 0, "a")])
def test_feature_is_never_clamped(requested: tuple[int, int, str]) -> None:
    with pytest.raises(NotSupportedError, match="needs sm_"):
        choose_target(Architecture(*requested), KNOWN)


@given(
    st.integers(1, 20),
    st.integers(0, 9),
    st.sets(st.integers(50, 129), min_size=1),
)
def test_code_always_runs_on_the_card(major: int, minor: int, known: set[int]) -> None:
    requested = Architecture(major, minor)
    if requested.number < min(known):
        with pytest.raises(NotAvailableError):
            choose_target(requested, known)
        return
    target = choose_target(requested, known)
    chosen = target.architecture
    assert chosen.number in known
    assert not any(chosen.number < other <= requested.number for other in known)
    assert (target.note is None) == (chosen == requested)
    assert (target.kind is CodeKind.CUBIN) == (chosen.major == requested.major)
