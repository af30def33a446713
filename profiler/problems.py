"""Inputs and the results expected of them, kept from one variant of a family to the next."""

import numpy as np

from rooflens.kernels.spec import AnyKernelSpec, Array, Size
from rooflens.precision import DType


class Problems:
    """Keeps the last inputs and the last references, no more of either: they can be gigabytes."""

    def __init__(self) -> None:
        self._inputs: tuple[object, dict[str, Array]] | None = None
        self._references: tuple[object, dict[str, Array]] | None = None

    def draw(
        self, kernel: AnyKernelSpec, size: Size, dtype: DType, seed: int
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """The family's inputs, and what this variant should make of them, by buffer name."""
        family = kernel.family
        drawn = (family, size, dtype, seed)
        if self._inputs is None or self._inputs[0] != drawn:
            self._inputs = self._references = None
            self._inputs = (drawn, family.make_inputs(size, dtype, np.random.default_rng(seed)))
        inputs = self._inputs[1]
        if self._references is None or self._references[0] != kernel.expected:
            self._references = None
            self._references = (kernel.expected, kernel.expected(inputs, size))
        return inputs, self._references[1]
