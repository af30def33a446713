"""Hypothesis strategies for every record that a run is made of."""

from typing import TypeVar

from hypothesis import strategies as st

from rooflens.cost import Cost, Traffic
from rooflens.hardware import Ceiling, HardwareSpec, LaunchLimits
from rooflens.measurement import LaunchRecord, Measurement, Resources, TimeSamples, Verification
from rooflens.precision import DType, Precision
from rooflens.reported import Report, ReportedDevice, Source, TensorInput
from rooflens.run import Calibration, ColdClock, Provenance, Run
from rooflens.terms import Basis, CacheState, CeilingBasis, MemoryLevel, Status

T = TypeVar("T")


def maybe(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | strategy


words = st.text(max_size=12)
wholes = st.integers(0, 2**63 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
spans = st.floats(0, 1e9)
rates = st.floats(1e3, 1e18)
notes = st.lists(words, max_size=2).map(tuple)
triples = st.tuples(wholes, wholes, wholes)

ceilings = st.builds(Ceiling, per_s=rates, basis=st.sampled_from(CeilingBasis), source=words)
limits = st.builds(
    LaunchLimits,
    compute_capability=st.tuples(st.integers(0, 99), st.integers(0, 99)),
    sm_count=wholes,
    shared_bytes_per_block=wholes,
    threads_per_block=wholes,
    shared_bytes_per_sm=maybe(wholes),
    threads_per_sm=maybe(wholes),
    blocks_per_sm=maybe(wholes),
    registers_per_sm=maybe(wholes),
    reserved_shared_bytes_per_block=maybe(wholes),
)
cards = st.builds(
    HardwareSpec,
    name=words,
    architecture=maybe(words),
    limits=limits,
    sm_clock_hz=maybe(finite),
    dram_bytes=maybe(wholes),
    l2_bytes=maybe(wholes),
    bandwidths=st.dictionaries(st.sampled_from(MemoryLevel), ceilings),
    peaks=st.dictionaries(st.sampled_from(Precision), ceilings, max_size=3),
    sources=st.dictionaries(words, words, max_size=2),
    notes=notes,
    driver_uuid=maybe(words),
)

traffic = st.builds(Traffic, read_bytes=wholes, write_bytes=wholes)
costs = st.builds(
    Cost,
    flops=st.dictionaries(st.sampled_from(Precision), wholes, max_size=3),
    special_function_ops=wholes,
    compulsory=traffic,
    issued=traffic,
)
resources = st.builds(
    Resources, registers=wholes, shared_bytes=wholes, spill_bytes=wholes, local_bytes=wholes
)
launches = st.builds(
    LaunchRecord,
    entry=words,
    grid=triples,
    block=triples,
    dynamic_shared_bytes=wholes,
    cost=costs,
    resources=maybe(resources),
)
verifications = st.builds(
    Verification,
    passed=st.booleans(),
    max_abs_error=maybe(finite),
    relative_l2_error=maybe(finite),
    absolute_tolerance=finite,
    relative_tolerance=finite,
    tolerance_reason=words,
    failure=maybe(words),
)
time_samples = st.builds(
    TimeSamples,
    samples_s=st.lists(finite, min_size=1, max_size=8).map(tuple),
    method=words,
    launches_per_sample=st.integers(1, 10**6),
    correction_s=finite,
    resolution_s=spans,
    stopped_by=words,
)


amounts = st.floats(0, 1e30)
reports = st.builds(
    Report,
    kernel_name=words,
    source=st.builds(Source, file=words, row=wholes, tool=words, tool_version=maybe(words)),
    device=st.builds(
        ReportedDevice,
        index=maybe(wholes),
        name=maybe(words),
        compute_capability=maybe(st.tuples(st.integers(0, 99), st.integers(0, 9))),
        sm_count=maybe(wholes),
    ),
    grid=maybe(triples),
    block=maybe(triples),
    thread_count=maybe(wholes),
    registers=maybe(wholes),
    dynamic_shared_bytes=maybe(wholes),
    shared_bytes=maybe(wholes),
    operator=maybe(words),
    process_id=maybe(words),
    process_name=maybe(words),
    context=maybe(words),
    stream=maybe(words),
    ranges=notes,
    launches=st.integers(1, 2**40),
    mean_time_s=maybe(finite),
    traffic_bytes=st.dictionaries(st.sampled_from(MemoryLevel), amounts),
    dram_read_bytes=maybe(amounts),
    dram_write_bytes=maybe(amounts),
    flops=st.dictionaries(st.sampled_from(Precision), amounts, max_size=3),
    not_arithmetic=st.lists(st.sampled_from(Precision), max_size=1).map(tuple),
    tensor_ops=st.dictionaries(st.sampled_from(TensorInput), amounts, max_size=3),
    tensor_precisions=st.dictionaries(st.sampled_from(Precision), amounts, max_size=2),
    special_function_instructions=maybe(amounts),
    fractions=st.dictionaries(words, finite, max_size=2),
    stall_cycles=st.dictionaries(words, finite, max_size=2),
    clocks_hz=st.dictionaries(words, finite, max_size=2),
    derivations=st.dictionaries(words, words, max_size=2),
    absent=st.dictionaries(words, words, max_size=2),
)


@st.composite
def imported(draw: st.DrawFn) -> Measurement:
    return Measurement(
        kernel=draw(words),
        status=Status.OK,
        basis=Basis.IMPORTED,
        architecture=draw(maybe(words)),
        times=draw(st.dictionaries(st.just(CacheState.REPORTED), time_samples)),
        notes=draw(notes),
        report=draw(reports),
    )


@st.composite
def measurements(draw: st.DrawFn) -> Measurement:
    status = draw(st.sampled_from(Status))
    basis = draw(st.sampled_from([one for one in Basis if one is not Basis.IMPORTED]))
    ours: list[CacheState] = [CacheState.HOT, CacheState.COLD]
    by_state = st.dictionaries(st.sampled_from(ours), time_samples)
    family, variant = draw(words), draw(words)
    return Measurement(
        kernel=f"{family}.{variant}",
        family=family,
        variant=variant,
        dtype=draw(st.sampled_from(DType)),
        size=draw(st.dictionaries(words, wholes, max_size=3)),
        status=status,
        basis=basis,
        reason=draw(maybe(words) if status is Status.OK else st.text(min_size=1, max_size=9)),
        cost=draw(maybe(costs)),
        working_set_bytes=draw(maybe(wholes)),
        launches=draw(st.lists(launches, max_size=2).map(tuple)),
        architecture=draw(maybe(words)),
        source_hash=draw(maybe(words)),
        verification=draw(maybe(verifications)),
        times={} if basis is Basis.MODELLED else draw(by_state),
        notes=draw(notes),
    )


provenances = st.builds(
    Provenance,
    created_utc=st.just("2025-01-31T12:34:56Z"),
    rooflens_version=words,
    git_revision=maybe(words),
    python_version=words,
    platform=words,
    driver_version=maybe(words),
    driver_cuda_version=maybe(words),
    nvrtc_version=maybe(words),
    cuda_bindings_version=maybe(words),
    cuda_core_version=maybe(words),
    headers=maybe(words),
    arguments=notes,
    calibration=maybe(
        st.builds(
            Calibration,
            cold_clock=st.sampled_from(ColdClock),
            empty_graph_s=finite,
            hot_constant_s=finite,
            cold_first_s=finite,
            cold_following_s=finite,
            resolution_s=spans,
            samples=wholes,
        )
    ),
    notes=notes,
)
runs = st.builds(
    Run,
    device_kind=words,
    hardware=maybe(cards),
    provenance=provenances,
    measurements=st.lists(measurements() | imported(), max_size=3).map(tuple),
)
