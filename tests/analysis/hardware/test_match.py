"""Drivers' names matched to the table: the right ones, and the near ones that must not be."""

import pytest

from rooflens.analysis.hardware import DriverAttributes, find_card, known_cards, match_driver_name
from rooflens.errors import UsageError
from rooflens.hardware import HardwareSpec
from tests.analysis.hardware.cards import attributes

GIB = 2**30


def _of(card: HardwareSpec, name: str, memory_bytes: int) -> DriverAttributes:
    return attributes(
        name=name,
        compute_capability=card.compute_capability,
        sm_count=card.limits.sm_count,
        total_memory_bytes=memory_bytes,
    )


@pytest.mark.parametrize(
    ("driver_name", "table_name", "memory_bytes"),
    # Memory as drivers report it, in bytes.
    [
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090", 25_250_000_000),
        ("GeForce RTX 3090", "GeForce RTX 3090", 25_430_000_000),
        ("NVIDIA GeForce RTX 3060", "GeForce RTX 3060 12GB", 12_630_000_000),
        ("NVIDIA GeForce RTX 5090", "GeForce RTX 5090", 33_670_000_000),
        ("NVIDIA H200", "H200 SXM 141GB", 150_120_000_000),
        ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM4", 85_100_000_000),
        ("A100-SXM4-40GB", "A100 40GB SXM4", 42_300_000_000),
        ("NVIDIA H100 80GB HBM3", "H100 SXM5 80GB", 85_000_000_000),
        ("NVIDIA H100 PCIe", "H100 PCIe 80GB", 85_000_000_000),
        ("Tesla T4", "Tesla T4", 15_634_661_376),
        ("Tesla V100-SXM2-16GB", "Tesla V100 SXM2 16GB", 16_945_512_448),
        ("Tesla V100-SXM2-32GB", "Tesla V100 SXM2 32GB", 34_080_000_000),
        ("NVIDIA L4", "L4", 23_660_000_000),
        ("NVIDIA L40S", "L40S", 47_700_000_000),
        ("NVIDIA A10", "A10", 23_690_000_000),
        ("NVIDIA B200", "B200 SXM 180GB", 191_503_138_816),
        ("NVIDIA GH200 480GB", "GH200 96GB HBM3", 101_960_000_000),
        ("NVIDIA GH200 144G HBM3e", "GH200 144GB HBM3e", 150_750_000_000),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada", 51_010_000_000),
        ("NVIDIA RTX A6000", "RTX A6000", 51_030_000_000),
        ("Orin", "Jetson AGX Orin 64GB", 65_890_000_000),
    ],
)
def test_driver_names_of_known_cards(driver_name: str, table_name: str, memory_bytes: int) -> None:
    card = find_card(table_name)
    told = _of(card, driver_name, memory_bytes)
    assert match_driver_name(driver_name, told) is card
    assert match_driver_name(driver_name.lower().replace(" ", "  "), told) is card


@pytest.mark.parametrize(
    "driver_name",
    [
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4080 SUPER",
        "NVIDIA GeForce RTX 3070 Ti",
        "NVIDIA A10G",
        "NVIDIA A10-24Q",
        "NVIDIA H200 NVL",
        "NVIDIA H100 NVL",
        "NVIDIA A100-PCIE-40GB",
        "NVIDIA A100 80GB PCIe",
        "NVIDIA H200 MIG 1g.18gb",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA L40",
        "Quadro RTX 6000",
        "GRID A100-10C",
        "NVIDIA",
        "",
    ],
)
def test_near_names_match_no_card_even_with_its_attributes(driver_name: str) -> None:
    for card in known_cards():
        assert card.dram_bytes is not None
        told = _of(card, driver_name, card.dram_bytes)
        assert match_driver_name(driver_name, told) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"sm_count": 16},
        {"sm_count": 131},
        {"compute_capability": (8, 9)},
        {"total_memory_bytes": 18 * GIB},
        {"total_memory_bytes": 126 * GIB},
        {"total_memory_bytes": 156 * GIB},
    ],
)
def test_attributes_must_agree(changed: dict[str, object]) -> None:
    assert match_driver_name("NVIDIA H200", attributes()) is not None
    assert match_driver_name("NVIDIA H200", attributes(**changed)) is None


def test_an_rtx_3060_of_8_gib_is_not_the_one_of_12() -> None:
    card = find_card("RTX 3060")
    name = "NVIDIA GeForce RTX 3060"
    assert match_driver_name(name, _of(card, name, 12 * GIB)) is card
    assert match_driver_name(name, _of(card, name, 8 * GIB)) is None


def test_other_orins_are_not_the_agx_of_64_gib() -> None:
    def orin(sms: int, memory: int) -> DriverAttributes:
        return attributes(
            name="Orin", compute_capability=(8, 7), sm_count=sms, total_memory_bytes=memory
        )

    assert match_driver_name("Orin", orin(16, 61 * GIB)) is not None
    assert match_driver_name("Orin", orin(14, 30 * GIB)) is None
    assert match_driver_name("Orin", orin(8, 15 * GIB)) is None


@pytest.mark.parametrize(
    "changed",
    [{"sm_count": 0}, {"total_memory_bytes": -1}, {"compute_capability": (0, 0)}],
)
def test_impossible_attributes_are_refused(changed: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="a device needs"):
        attributes(**changed)
