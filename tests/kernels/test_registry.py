"""The catalogue: names, selection, and kernels of other packages."""

from importlib.metadata import EntryPoint

import pytest

from rooflens.errors import UnknownNameError, UsageError
from rooflens.kernels import registry
from rooflens.kernels.registry import catalogue, select
from rooflens.kernels.softmax import KERNELS


def test_a_family_is_its_ladder_in_order() -> None:
    assert [kernel.variant for kernel in select(("softmax",))] == [
        "unfused",
        "thread_per_row",
        "naive",
        "online",
        "warp_reduce",
        "warp_per_row",
        "cached",
    ]


def test_nothing_named_is_everything() -> None:
    assert select(()) == tuple(catalogue().values())


def test_a_kernel_named_twice_runs_once() -> None:
    chosen = select(("softmax.naive", "softmax", "softmax.naive"))
    assert len(chosen) == 7
    assert chosen[0].name == "softmax.naive"


@pytest.mark.parametrize(
    ("asked", "near"), [("softmax.niave", "softmax.naive"), ("sofmax", "softmax")]
)
def test_an_unknown_name_lists_near_ones(asked: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match="did you mean") as caught:
        select((asked,))
    assert near in caught.value.near


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Entry points that the registry will see, on a catalogue of its own."""
    points: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setattr(registry, "catalogue", catalogue.__wrapped__)
    return points


def point(value: str) -> EntryPoint:
    return EntryPoint(name="mine", value=value, group=registry.ENTRY_POINT_GROUP)


def test_a_name_given_twice_is_an_error(third_party: list[EntryPoint]) -> None:
    third_party.append(point("rooflens.kernels.softmax:KERNELS"))
    with pytest.raises(UsageError, match=r"two kernels are named softmax\.unfused"):
        registry.catalogue()


def test_a_package_that_does_not_load_is_named(third_party: list[EntryPoint]) -> None:
    third_party.append(point("no_such_module:KERNELS"))
    with pytest.raises(UsageError, match=r"'mine' \(no_such_module:KERNELS\) cannot be loaded"):
        registry.catalogue()


def test_every_source_is_one_variants_own() -> None:
    sources = [kernel.source for kernel in KERNELS]
    assert len(set(sources)) == len(sources)
