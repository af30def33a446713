"""Measurements of kernels with made-up, exactly known costs and times."""

from collections.abc import Mapping

from rooflens.cost import Cost, Traffic
from rooflens.measurement import Measurement, TimeSamples, Verification
from rooflens.precision import DType, Precision
from rooflens.terms import Basis, CacheState, Status


def verification(*, passed: bool = True) -> Verification:
    return Verification(
        passed=passed,
        max_abs_error=1e-7,
        relative_l2_error=1e-7,
        absolute_tolerance=1e-6,
        relative_tolerance=1e-5,
        tolerance_reason="float32 rounding",
    )


def measured(
    *,
    flops: Mapping[Precision, int],
    moved: int,
    times_s: Mapping[CacheState, float | tuple[float, ...]],
    reads: int | None = None,
    working_set: int | None = -1,
    passed: bool = True,
    resolution_s: float = 0.0,
) -> Measurement:
    """A verified row: traffic half read and half written unless told, each sample the same."""
    reads = moved // 2 if reads is None else reads
    traffic = Traffic(read_bytes=reads, write_bytes=moved - reads)
    times = {
        state: TimeSamples(
            samples_s=value if isinstance(value, tuple) else (value,) * 20,
            method="made up",
            launches_per_sample=1,
            correction_s=0.0,
            resolution_s=resolution_s,
            stopped_by="interval",
        )
        for state, value in times_s.items()
    }
    return Measurement(
        kernel="family.variant",
        family="family",
        variant="variant",
        dtype=DType.FLOAT32,
        size={"n": 1},
        status=Status.OK,
        basis=Basis.MEASURED if times else Basis.MODELLED,
        cost=Cost(flops=flops, special_function_ops=0, compulsory=traffic, issued=traffic),
        working_set_bytes=moved if working_set == -1 else working_set,
        verification=verification(passed=passed) if times else None,
        times=times,
    )
