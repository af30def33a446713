"""Launches together need at least what the whole needs, so that fusing them can only save."""

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.errors import NotSupportedError
from rooflens.kernels.registry import BUILT_IN
from rooflens.kernels.spec import AnyKernelSpec

LIMITS = find_card("GeForce RTX 4090").limits


@pytest.mark.parametrize("kernel", BUILT_IN, ids=lambda one: one.name)
def test_launches_cover_the_whole(kernel: AnyKernelSpec) -> None:
    planned = 0
    for sizes in kernel.family.sizes.values():
        for size in sizes:
            for dtype in kernel.dtypes:
                try:
                    plan = kernel.plan(size, dtype, LIMITS)
                except NotSupportedError:
                    continue
                planned += 1
                needs = [launch.cost.compulsory for launch in plan.launches]
                whole = plan.cost.compulsory
                assert sum(one.read_bytes for one in needs) >= whole.read_bytes, (size, dtype)
                assert sum(one.write_bytes for one in needs) >= whole.write_bytes, (size, dtype)
    assert planned
