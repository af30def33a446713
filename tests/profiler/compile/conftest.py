"""Fixtures of the compiler's tests: sources to compile."""

from collections.abc import Callable
from pathlib import Path

import pytest

SAXPY = 'extern "C" __global__ void saxpy(float* y, float a) { y[threadIdx.x] *= a; }\n'


@pytest.fixture
def data() -> Path:
    """The folder of the tests' CUDA sources."""
    return Path(__file__).parents[2] / "data" / "compile"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a source below tmp_path and gives its path."""

    def write_file(name: str = "kernel.cu", text: str | bytes = SAXPY) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file
