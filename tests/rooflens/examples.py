"""Made-up runs with round numbers, so that what is derived from them can be worked by hand."""

from dataclasses import replace

from rooflens.cost import Cost, Traffic
from rooflens.hardware import Ceiling, HardwareSpec, LaunchLimits
from rooflens.measurement import LaunchRecord, Measurement, Resources, TimeSamples, Verification
from rooflens.precision import DType, Precision
from rooflens.run import Calibration, ColdClock, Provenance, Run
from rooflens.terms import Basis, CacheState, CeilingBasis, MemoryLevel, Status

VARIANTS = (
    "naive",
    "unfused",
    "thread_per_row",
    "warp_per_row",
    "warp_reduce",
    "online",
    "cached",
)

CARD = HardwareSpec(
    name="Example GPU",
    architecture="Example",
    limits=LaunchLimits(
        compute_capability=(9, 0), sm_count=100, shared_bytes_per_block=232448, threads_per_sm=2048
    ),
    sm_clock_hz=2e9,
    dram_bytes=80_000_000_000,
    l2_bytes=50_000_000,
    bandwidths={
        MemoryLevel.DRAM: Ceiling(per_s=4e12, basis=CeilingBasis.NOMINAL, source="data sheet")
    },
    peaks={Precision.FP32: Ceiling(per_s=60e12, basis=CeilingBasis.NOMINAL, source="data sheet")},
    sources={"dram_bytes": "data sheet"},
    driver_uuid="GPU-0",
)

PROVENANCE = Provenance(
    created_utc="2025-01-31T12:34:56Z",
    rooflens_version="0.1.0",
    git_revision=None,
    python_version="3.11.7",
    platform="Linux",
    driver_version="580.1",
    nvrtc_version="13.0",
    arguments=("run", "softmax"),
    calibration=Calibration(
        cold_clock=ColdClock.STAMPS,
        empty_graph_s=0.5e-6,
        hot_constant_s=1.1e-6,
        cold_first_s=1.4e-6,
        cold_following_s=1.2e-6,
        resolution_s=0.1e-6,
        samples=100,
    ),
)


def cost(rows: int, cols: int, reads: int = 1) -> Cost:
    """5 operations per element; `reads` reads and one write of each are issued."""
    tensor = rows * cols * 4
    return Cost(
        flops={Precision.FP32: 5 * rows * cols},
        special_function_ops=rows * cols,
        compulsory=Traffic(read_bytes=tensor, write_bytes=tensor),
        issued=Traffic(read_bytes=reads * tensor, write_bytes=tensor),
    )


def times(median_s: float, method: str, spread: float = 0.001) -> TimeSamples:
    """11 samples evenly about a median."""
    return TimeSamples(
        samples_s=tuple(median_s * (1 + spread * step / 5) for step in range(-5, 6)),
        method=method,
        launches_per_sample=200 if method == "graph" else 1,
        correction_s=0.0 if method == "graph" else 2.9e-6,
        resolution_s=0.1e-6,
        stopped_by="interval",
    )


def modelled(variant: str, rows: int = 16384, cols: int = 4096, reads: int = 1) -> Measurement:
    """A row that was compiled and never run."""
    launch = LaunchRecord(
        entry=f"softmax_{variant}",
        grid=(rows, 1, 1),
        block=(256, 1, 1),
        dynamic_shared_bytes=0,
        cost=cost(rows, cols, reads),
        resources=Resources(registers=32, shared_bytes=1024, spill_bytes=0, local_bytes=0),
    )
    return Measurement(
        kernel=f"softmax.{variant}",
        family="softmax",
        variant=variant,
        dtype=DType.FLOAT32,
        size={"rows": rows, "cols": cols},
        status=Status.OK,
        basis=Basis.MODELLED,
        cost=cost(rows, cols, reads),
        working_set_bytes=2 * rows * cols * 4,
        launches=(launch,),
        architecture="sm_90",
        source_hash="0" * 64,
    )


def measured(
    variant: str, hot_s: float, cold_s: float, rows: int = 16384, cols: int = 4096, reads: int = 1
) -> Measurement:
    """A row that was verified and timed in both cache states."""
    return replace(
        modelled(variant, rows, cols, reads),
        basis=Basis.MEASURED,
        verification=Verification(
            passed=True,
            max_abs_error=1e-7,
            relative_l2_error=2e-7,
            absolute_tolerance=1e-6,
            relative_tolerance=1e-5,
            tolerance_reason="float32 sums",
        ),
        times={CacheState.HOT: times(hot_s, "graph"), CacheState.COLD: times(cold_s, "event pair")},
    )


def ended(variant: str, status: Status, reason: str) -> Measurement:
    """A row that failed or was skipped."""
    return replace(modelled(variant), status=status, reason=reason, launches=(), cost=None)


def run_of(*measurements: Measurement, card: HardwareSpec = CARD) -> Run:
    return Run(
        device_kind="cuda", hardware=card, provenance=PROVENANCE, measurements=tuple(measurements)
    )


def ladder() -> Run:
    """Seven variants at one size, the slowest first."""
    steps = ((3, 0.0), (5, 0.1), (3, 0.3), (3, 0.4), (3, 0.5), (2, 0.6), (1, 0.65))
    return run_of(
        *(
            measured(variant, (1 - gain) * 600e-6, (1 - gain) * 610e-6, reads=reads)
            for variant, (reads, gain) in zip(VARIANTS, steps, strict=True)
        )
    )
