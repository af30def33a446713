"""Cards by the names that users type."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.hardware import DEFAULT_CARD, find_card, known_cards
from rooflens.errors import UnknownNameError, UsageError
from rooflens.hardware import HardwareSpec


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("RTX 4090", "GeForce RTX 4090"),
        ("rtx4090", "GeForce RTX 4090"),
        ("4090", "GeForce RTX 4090"),
        ("  GEFORCE   rtx-4090 ", "GeForce RTX 4090"),
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090"),
        ("rtx 3060", "GeForce RTX 3060 12GB"),
        ("H100 PCIe", "H100 PCIe 80GB"),
        ("h100 pcie 80 GB", "H100 PCIe 80GB"),
        ("H100 SXM", "H100 SXM5 80GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM5 80GB"),
        ("A100 80GB", "A100 80GB SXM4"),
        ("A100-SXM4-80GB", "A100 80GB SXM4"),
        ("a100 40g", "A100 40GB SXM4"),
        ("H200", "H200 SXM 141GB"),
        ("B200", "B200 SXM 180GB"),
        ("V100 32GB", "Tesla V100 SXM2 32GB"),
        ("T4", "Tesla T4"),
        ("L4", "L4"),
        ("L40S", "L40S"),
        ("A10", "A10"),
        ("A6000", "RTX A6000"),
        ("RTX 6000 Ada", "RTX 6000 Ada"),
        ("RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("GH200 96GB", "GH200 96GB HBM3"),
        ("AGX Orin", "Jetson AGX Orin 64GB"),
    ],
)
def test_names_that_users_type(typed: str, name: str) -> None:
    assert find_card(typed).name == name


@pytest.mark.parametrize("card", known_cards(), ids=lambda card: card.name)
def test_every_card_is_found_by_its_own_name(card: HardwareSpec) -> None:
    assert find_card(card.name) is card
    assert find_card(card.name.upper().replace(" ", "")) is card


@pytest.mark.parametrize(
    ("typed", "candidates"),
    [
        ("H100", ("H100 SXM5 80GB", "H100 PCIe 80GB")),
        ("a100", ("A100 40GB SXM4", "A100 80GB SXM4")),
        ("V100", ("Tesla V100 SXM2 16GB", "Tesla V100 SXM2 32GB")),
        ("GH200", ("GH200 96GB HBM3", "GH200 144GB HBM3e")),
    ],
)
def test_a_name_of_several_cards_lists_them(typed: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        find_card(typed)
    for candidate in candidates:
        assert candidate in str(caught.value)


@pytest.mark.parametrize(
    "typed",
    [
        "RTX 4090 D",
        "RTX 4090 Laptop GPU",
        "RTX 4080 SUPER",
        "RTX 6000",
        "A10G",
        "H200 NVL",
        "H100 NVL",
        "A100 PCIe",
        "A100 80GB PCIe",
        "Orin",
        "Orin NX",
        "L40",
        "RTX",
        "80GB",
        "",
        "  ",
        "Radeon RX 7900 XTX",
    ],
)
def test_other_cards_are_unknown(typed: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown card"):
        find_card(typed)


def test_near_matches_are_named() -> None:
    with pytest.raises(UnknownNameError) as caught:
        find_card("RTX 4091")
    assert "GeForce RTX 4090" in caught.value.near


@given(st.text(max_size=20))
def test_any_text_gives_a_card_or_an_error_of_ours(typed: str) -> None:
    with contextlib.suppress(UsageError):
        assert find_card(typed) in known_cards()


def test_the_default_card() -> None:
    assert DEFAULT_CARD == "GeForce RTX 4090"
    assert find_card(DEFAULT_CARD).name == DEFAULT_CARD
