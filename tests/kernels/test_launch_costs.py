"""What launches need for themselves and what the whole needs: fusing them can only save."""

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.cost import Traffic
from rooflens.errors import NotSupportedError
from rooflens.kernels.registry import BUILT_IN
from rooflens.kernels.spec import AnyKernelSpec, Plan, Role

LIMITS = find_card("GeForce RTX 4090").limits


def plans(kernel: AnyKernelSpec) -> list[Plan]:
    found = []
    for sizes in kernel.family.sizes.values():
        for size in sizes:
            for dtype in kernel.dtypes:
                try:
                    found.append(kernel.plan(size, dtype, LIMITS))
                except NotSupportedError:
                    continue
    assert found
    return found


def of_buffers(plan: Plan) -> Traffic:
    """Every input read once and every output written once, from the buffers' own sizes."""
    return Traffic(
        read_bytes=sum(one.size_bytes for one in plan.buffers if one.role is Role.INPUT),
        write_bytes=sum(one.size_bytes for one in plan.buffers if one.role is Role.OUTPUT),
    )


@pytest.mark.parametrize("kernel", BUILT_IN, ids=lambda one: one.name)
def test_launches_cover_the_whole(kernel: AnyKernelSpec) -> None:
    for plan in plans(kernel):
        needs = [launch.cost.compulsory for launch in plan.launches]
        whole = plan.cost.compulsory
        if len(needs) == 1:
            assert needs == [whole]
        assert sum(one.read_bytes for one in needs) >= whole.read_bytes
        assert sum(one.write_bytes for one in needs) >= whole.write_bytes


@pytest.mark.parametrize("kernel", BUILT_IN, ids=lambda one: one.name)
def test_the_whole_needs_what_its_buffers_hold(kernel: AnyKernelSpec) -> None:
    """A cache that is updated in place is larger than what a step touches: counted by hand."""
    for plan in plans(kernel):
        if any(buffer.role is Role.IN_OUT for buffer in plan.buffers):
            assert kernel.family.name == "kv_cache"
            continue
        assert plan.cost.compulsory == of_buffers(plan)


@pytest.mark.parametrize("kernel", BUILT_IN, ids=lambda one: one.name)
def test_what_is_issued_is_what_the_launches_issue(kernel: AnyKernelSpec) -> None:
    for plan in plans(kernel):
        issued = [launch.cost.issued for launch in plan.launches]
        assert plan.cost.issued.read_bytes == sum(one.read_bytes for one in issued)
        assert plan.cost.issued.write_bytes == sum(one.write_bytes for one in issued)
