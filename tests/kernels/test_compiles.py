"""Every kernel of the catalogue compiles for every architecture, with no GPU."""

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.kernels.registry import catalogue
from rooflens.kernels.sources import source_path
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.prepare import prepare

CARDS = {
    "sm_80": "A100 80GB SXM4",
    "sm_86": "GeForce RTX 3090",
    "sm_89": "GeForce RTX 4090",
    "sm_90": "H100 SXM5 80GB",
    "sm_100": "B200",
    "sm_120": "GeForce RTX 5090",
}


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("architecture", CARDS)
@pytest.mark.parametrize("name", catalogue())
def test_it_compiles_without_spills(name: str, architecture: str) -> None:
    """Planned for a real card of that architecture; each argument is as wide as its parameter."""
    kernel, card = catalogue()[name], find_card(CARDS[architecture])
    spills_are_explained = "spill" in source_path(kernel.source).read_text(encoding="utf-8")
    for dtype in kernel.dtypes:
        for sizes in kernel.family.sizes.values():
            prepared = prepare(
                kernel,
                sizes[0],
                dtype,
                limits=card.limits,
                memory_bytes=card.dram_bytes,
                cache=CompileCache.default(),
            )
            assert prepared.code.target == architecture
            for launch in prepared.plan.launches:
                resources = prepared.code.entries[launch.entry]
                assert resources is not None
                assert resources.registers > 0
                assert resources.spill_bytes == 0 or spills_are_explained
                assert prepared.code.parameters[launch.entry]
