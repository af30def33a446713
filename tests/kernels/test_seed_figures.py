"""The seed texts' figures: as printed, of kernels that there are, and consistent."""

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.kernels.registry import catalogue
from rooflens.kernels.seed_figures import REFERENCE_CARD, SeedFigure, seed_figures
from rooflens.terms import MemoryLevel, SizeSet

BY_NAME = {one.kernel: one for one in seed_figures()}


@pytest.mark.parametrize("figure", seed_figures(), ids=lambda one: one.kernel)
def test_each_is_a_kernel_at_its_seed_size(figure: SeedFigure) -> None:
    family = catalogue()[figure.kernel].family
    assert figure.size in [size.as_dict() for size in family.sizes[SizeSet.SEED]]


def test_figures_are_as_printed() -> None:
    assert len(BY_NAME) == 12
    naive = BY_NAME["softmax.naive"]
    assert naive.time_s == pytest.approx(5.3e-6)
    assert naive.bytes_per_s == pytest.approx(785.19e9)
    assert naive.ratio == 1.0
    assert naive.time_step_s == pytest.approx(0.05e-6)
    warp = BY_NAME["rmsnorm.warp"]
    assert warp.time_is_about
    assert warp.ratio_is_about
    assert warp.ratio == 12.33
    assert BY_NAME["softmax.online"].bytes_per_s is None
    assert BY_NAME["attention.flash_v1"].ratio == 0.69


def test_a_tensor_is_read_and_written_once() -> None:
    assert BY_NAME["softmax.naive"].tensor_bytes == 2 * 128 * 4096 * 4
    assert BY_NAME["rmsnorm.naive"].tensor_bytes == 2 * 2048 * 4096 * 4
    assert BY_NAME["rope.naive"].tensor_bytes == 2 * 2048 * 32 * 128 * 4
    assert BY_NAME["attention.naive"].tensor_bytes is None


@pytest.mark.parametrize("figure", seed_figures(), ids=lambda one: one.kernel)
def test_printed_bandwidths_are_those_of_printed_times(figure: SeedFigure) -> None:
    rates = figure.rates()
    if figure.bytes_per_s is None or rates is None or figure.time_is_about:
        pytest.skip("no bandwidth, or an approximate time")
    assert rates[0] <= figure.bytes_per_s <= rates[1]


def test_the_figures_beyond_dram_are_those_that_the_texts_ascribe_to_the_cache() -> None:
    dram = find_card(REFERENCE_CARD).bandwidths[MemoryLevel.DRAM].per_s
    beyond = {one.kernel for one in seed_figures() if (one.least_rate() or 0.0) > dram}
    assert beyond == {
        "softmax.online",
        "softmax.warp_reduce",
        "rmsnorm.warp",
        "rope.naive",
        "rope.vectorized",
    }
