"""Where the catalogue's CUDA sources lie on disk."""

from pathlib import Path

KERNELS_FOLDER = Path(__file__).resolve().parent


def source_path(source: str) -> Path:
    """The .cu file of a KernelSpec's `source`; absolute paths stand as they are."""
    return KERNELS_FOLDER / source
