"""Which inputs and references a run works with, and what is kept for the next variant."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from rooflens.kernels.softmax import KERNELS, SOFTMAX, SoftmaxSize
from rooflens.kernels.spec import Array, KernelSpec
from rooflens.precision import DType
from rooflens.profiler.problems import Problems

SIZE = SoftmaxSize(rows=2, cols=5)


def negated(inputs: Mapping[str, Array], size: SoftmaxSize) -> dict[str, Array]:
    return {"y": -SOFTMAX.reference(inputs, size)["y"]}


PLAIN = KERNELS[0]
OTHER: KernelSpec[SoftmaxSize] = replace(KERNELS[1], reference=negated)


def test_a_variant_without_a_reference_has_its_familys() -> None:
    assert PLAIN.expected is SOFTMAX.reference
    assert OTHER.expected is negated


def test_each_variant_is_compared_with_its_own_reference() -> None:
    problems = Problems()
    inputs, plain = problems.draw(PLAIN, SIZE, DType.FLOAT32, 0)
    same_inputs, other = problems.draw(OTHER, SIZE, DType.FLOAT32, 0)
    _, plain_again = problems.draw(KERNELS[2], SIZE, DType.FLOAT32, 0)
    assert same_inputs is inputs
    assert (plain["y"] > 0).any()
    np.testing.assert_array_equal(other["y"], -plain["y"])
    np.testing.assert_array_equal(plain_again["y"], plain["y"])


def test_the_next_variant_gets_the_same_arrays() -> None:
    problems = Problems()
    inputs, references = problems.draw(PLAIN, SIZE, DType.FLOAT32, 0)
    again = problems.draw(KERNELS[1], SIZE, DType.FLOAT32, 0)
    assert again[0] is inputs
    assert again[1] is references


@pytest.mark.parametrize(
    ("size", "dtype", "seed"),
    [
        (SoftmaxSize(rows=2, cols=6), DType.FLOAT32, 0),
        (SIZE, DType.FLOAT16, 0),
        (SIZE, DType.FLOAT32, 1),
    ],
    ids=["size", "dtype", "seed"],
)
def test_another_problem_is_drawn_anew(size: SoftmaxSize, dtype: DType, seed: int) -> None:
    problems = Problems()
    problems.draw(PLAIN, SIZE, DType.FLOAT32, 0)
    inputs, references = problems.draw(PLAIN, size, dtype, seed)
    expected = SOFTMAX.make_inputs(size, dtype, np.random.default_rng(seed))
    assert inputs["x"].dtype == expected["x"].dtype
    np.testing.assert_array_equal(inputs["x"], expected["x"])
    np.testing.assert_array_equal(references["y"], SOFTMAX.reference(expected, size)["y"])


def test_inputs_are_the_familys_own() -> None:
    problems = Problems()
    problems.draw(PLAIN, SIZE, DType.FLOAT32, 0)
    zeros = replace(
        SOFTMAX,
        make_inputs=lambda size, dtype, rng: {"x": np.zeros((size.rows, size.cols), np.float32)},
    )
    inputs, references = problems.draw(replace(PLAIN, family=zeros), SIZE, DType.FLOAT32, 0)
    assert not inputs["x"].any()
    np.testing.assert_allclose(references["y"], 1 / 5)
