"""Storage types of tensors, and the precisions that arithmetic peaks are quoted for."""

from enum import StrEnum


class DType(StrEnum):
    """Storage type of one tensor element."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT32 = "int32"

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return {"float32": 4, "float16": 2, "bfloat16": 2, "int32": 4}[self.value]


class Precision(StrEnum):
    """Arithmetic that has a peak of its own: the unit, the input type and the accumulator.

    Tensor-unit entries are dense rates (no 2:4 sparsity). FP32, FP64 and FP16 are the ordinary
    pipes, with a fused multiply-add counted as two operations.
    """

    FP64 = "fp64"
    FP32 = "fp32"
    FP16 = "fp16"
    FP64_TENSOR = "fp64_tensor"
    TF32_TENSOR = "tf32_tensor"
    FP16_TENSOR_FP16_ACC = "fp16_tensor_fp16_acc"
    FP16_TENSOR_FP32_ACC = "fp16_tensor_fp32_acc"
    BF16_TENSOR_FP32_ACC = "bf16_tensor_fp32_acc"
    FP8_TENSOR_FP16_ACC = "fp8_tensor_fp16_acc"
    FP8_TENSOR_FP32_ACC = "fp8_tensor_fp32_acc"
    INT8_TENSOR = "int8_tensor"
    FP4_TENSOR = "fp4_tensor"
