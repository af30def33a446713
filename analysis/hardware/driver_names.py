"""What the driver calls the cards of the table.

Each name is spelled out: a name that merely contains another is another card ("RTX 4090 D",
"RTX 4090 Laptop GPU", "H100 NVL", "A100-PCIE-40GB", a MIG slice).
"""

from collections.abc import Mapping

DRIVER_NAMES: Mapping[str, str] = {
    "GeForce RTX 4090": "GeForce RTX 4090",
    "GeForce RTX 4080": "GeForce RTX 4080",
    "GeForce RTX 3060": "GeForce RTX 3060 12GB",
    "GeForce RTX 3070": "GeForce RTX 3070",
    "GeForce RTX 3090": "GeForce RTX 3090",
    "GeForce RTX 5090": "GeForce RTX 5090",
    "A100-SXM4-40GB": "A100 40GB SXM4",
    "A100-SXM4-80GB": "A100 80GB SXM4",
    "H100 80GB HBM3": "H100 SXM5 80GB",
    "H100 PCIe": "H100 PCIe 80GB",
    "H200": "H200 SXM 141GB",
    "L4": "L4",
    "L40S": "L40S",
    "A10": "A10",
    "Tesla T4": "Tesla T4",
    "Tesla V100-SXM2-16GB": "Tesla V100 SXM2 16GB",
    "Tesla V100-SXM2-32GB": "Tesla V100 SXM2 32GB",
    "B200": "B200 SXM 180GB",
    # The driver's figure here is the CPU's memory; the GPU part of both has 96 GB.
    "GH200 480GB": "GH200 96GB HBM3",
    "GH200 120GB": "GH200 96GB HBM3",
    "GH200 144G HBM3e": "GH200 144GB HBM3e",
    "RTX 6000 Ada Generation": "RTX 6000 Ada",
    "RTX A6000": "RTX A6000",
    # All Orin modules share this name; SMs and memory tell them apart.
    "Orin": "Jetson AGX Orin 64GB",
}


def normalised(name: str) -> str:
    """A driver's name in lower case, single-spaced, without the vendor (older drivers omit it)."""
    words = name.casefold().replace("-", " ").split()
    return " ".join(words[1:] if words[:1] == ["nvidia"] else words)


BY_NORMALISED: Mapping[str, str] = {normalised(key): card for key, card in DRIVER_NAMES.items()}
