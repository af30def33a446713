"""The card under test."""

from collections.abc import Iterator

import pytest

from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice


@pytest.fixture(scope="module")
def device() -> Iterator[CudaDevice]:
    """The first card, opened once for each file of tests."""
    card = CudaDevice(0, cache=CompileCache.default())
    yield card
    card.close()
