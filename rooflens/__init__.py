"""rooflens: time CUDA kernels exactly, and say what limits them and where each number comes from.

Importing this package needs no GPU, no driver and no CUDA library; each room is imported when used.
"""

from rooflens.errors import RooflensError
from rooflens.version import VERSION as __version__

__all__ = ["RooflensError", "__version__"]
