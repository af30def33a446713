"""Plain JSON values -> Run. Strict about what it knows; what it does not know is ignored, since a
later minor version may add fields. Derived numbers in the file are never read.
"""

from rooflens.codec.decode_report import decode_report
from rooflens.codec.node import Node, as_word, capability, optional, triple
from rooflens.codec.samples import Samples
from rooflens.cost import Cost, Traffic
from rooflens.errors import DataFormatError
from rooflens.hardware import Ceiling, HardwareSpec, LaunchLimits
from rooflens.measurement import LaunchRecord, Measurement, Resources, TimeSamples, Verification
from rooflens.precision import DType, Precision
from rooflens.run import SCHEMA_VERSION, Calibration, ColdClock, Provenance, Run
from rooflens.terms import Basis, CacheState, CeilingBasis, MemoryLevel, Status


def decode_run(record: object, samples: Samples, *, path: str) -> Run:
    """The run whose record and raw samples these are; `path` names the file in complaints.

    DataFormatError names path and field of the first thing that is missing, of a wrong type, not
    finite, an unknown word, or at odds with the samples.
    """
    root = Node(record, path=path, field="")
    check_schema_version(root)
    device = root.get("device")
    results = root.get("results").items()
    measurements = tuple(_result(node, index, samples) for index, node in enumerate(results))
    _refuse_stray_samples(samples, measurements, path)
    return Run(
        device_kind=device.get("kind").text(),
        hardware=_hardware(device) if device.get_optional("name") is not None else None,
        provenance=_provenance(root.get("provenance")),
        measurements=measurements,
    )


def check_schema_version(root: Node) -> None:
    """DataFormatError unless this version of rooflens reads the file's schema version."""
    node = root.get("schema_version")
    version = node.whole()
    if version > SCHEMA_VERSION:
        raise DataFormatError(
            f"written by a later version: schema_version {version}, this rooflens reads "
            f"{SCHEMA_VERSION}; upgrade rooflens",
            path=root.path,
        )
    if version < SCHEMA_VERSION:
        node.fail(f"got {version}, expected {SCHEMA_VERSION}")


def _refuse_stray_samples(
    samples: Samples, measurements: tuple[Measurement, ...], path: str
) -> None:
    for index, state in samples:
        if not 0 <= index < len(measurements) or state not in measurements[index].times:
            raise DataFormatError(
                f"there are {state} samples of result {index}, which the record does not have",
                path=path,
                field=f"results[{index}].time.{state}",
            )


def _hardware(node: Node) -> HardwareSpec:
    return HardwareSpec(
        name=node.get("name").text(),
        architecture=optional(node.get_optional("architecture"), Node.text),
        limits=_limits(node),
        sm_clock_hz=optional(node.get("clocks").get_optional("sm_hz"), Node.number),
        dram_bytes=optional(node.get_optional("dram_bytes"), Node.whole),
        l2_bytes=optional(node.get_optional("l2_bytes"), Node.whole),
        bandwidths={
            as_word(entry, name, MemoryLevel): _ceiling(entry)
            for name, entry in node.get("bandwidths").entries().items()
        },
        peaks={
            as_word(entry, name, Precision): _ceiling(entry)
            for name, entry in node.get("peaks").entries().items()
        },
        sources={name: entry.text() for name, entry in node.get("sources").entries().items()},
        notes=node.get("notes").texts(),
        driver_uuid=optional(node.get_optional("uuid"), Node.text),
    )


def _limits(device: Node) -> LaunchLimits:
    node = device.get("limits")
    return LaunchLimits(
        compute_capability=capability(device.get("compute_capability")),
        sm_count=device.get("sm_count").whole(),
        shared_bytes_per_block=node.get("shared_bytes_per_block").whole(),
        threads_per_block=node.get("threads_per_block").whole(),
        shared_bytes_per_sm=optional(node.get_optional("shared_bytes_per_sm"), Node.whole),
        threads_per_sm=optional(node.get_optional("threads_per_sm"), Node.whole),
        blocks_per_sm=optional(node.get_optional("blocks_per_sm"), Node.whole),
        registers_per_sm=optional(node.get_optional("registers_per_sm"), Node.whole),
        reserved_shared_bytes_per_block=optional(
            node.get_optional("reserved_shared_bytes_per_block"), Node.whole
        ),
    )


def _ceiling(node: Node) -> Ceiling:
    per_s = node.get("per_s").number()
    basis = node.get("basis").word(CeilingBasis)
    source = node.get("source").text()
    return node.build(lambda: Ceiling(per_s=per_s, basis=basis, source=source))


def _provenance(node: Node) -> Provenance:
    def text(name: str) -> str | None:
        return optional(node.get_optional(name), Node.text)

    return Provenance(
        created_utc=node.get("created_utc").text(),
        rooflens_version=node.get("rooflens_version").text(),
        git_revision=text("git_revision"),
        python_version=node.get("python_version").text(),
        platform=node.get("platform").text(),
        driver_version=text("driver_version"),
        driver_cuda_version=text("driver_cuda_version"),
        nvrtc_version=text("nvrtc_version"),
        cuda_bindings_version=text("cuda_bindings_version"),
        cuda_core_version=text("cuda_core_version"),
        headers=text("headers"),
        arguments=node.get("arguments").texts(),
        calibration=optional(node.get_optional("calibration"), _calibration),
        notes=node.get("notes").texts(),
    )


def _calibration(node: Node) -> Calibration:
    return Calibration(
        cold_clock=node.get("cold_clock").word(ColdClock),
        empty_graph_s=node.get("empty_graph_s").number(),
        hot_constant_s=node.get("hot_constant_s").number(),
        cold_first_s=node.get("cold_first_s").number(),
        cold_following_s=node.get("cold_following_s").number(),
        resolution_s=node.get("resolution_s").span(),
        samples=node.get("samples").whole(),
    )


def _result(node: Node, index: int, samples: Samples) -> Measurement:
    times = {
        as_word(entry, name, CacheState): _times(entry, index, CacheState(name), samples)
        for name, entry in node.get("time").entries().items()
    }
    imported = node.get("basis").word(Basis) is Basis.IMPORTED
    report = node.build(lambda: decode_report(node)) if imported else None
    return node.build(
        lambda: Measurement(
            kernel=node.get("kernel").text(),
            family=optional(node.get_optional("family"), Node.text),
            variant=optional(node.get_optional("variant"), Node.text),
            dtype=optional(node.get_optional("dtype"), lambda dtype: dtype.word(DType)),
            size={name: entry.whole() for name, entry in node.get("size").entries().items()},
            status=node.get("status").word(Status),
            basis=node.get("basis").word(Basis),
            reason=optional(node.get_optional("reason"), Node.text),
            cost=_cost(node) if report is None and _has_cost(node) else None,
            working_set_bytes=optional(node.get_optional("working_set_bytes"), Node.whole),
            launches=tuple(_launch(entry) for entry in node.get("launches").items()),
            architecture=optional(node.get_optional("architecture"), Node.text),
            source_hash=optional(node.get_optional("source_hash"), Node.text),
            verification=optional(node.get_optional("verification"), _verification),
            times=times,
            notes=node.get("notes").texts(),
            report=report,
        )
    )


def _times(node: Node, index: int, state: CacheState, samples: Samples) -> TimeSamples:
    declared = node.get("samples").whole()
    values = samples.get((index, state), ())
    if len(values) != declared:
        node.get("samples").fail(f"says {declared} samples, but {len(values)} are stored")
    return node.build(
        lambda: TimeSamples(
            samples_s=values,
            method=node.get("method").text(),
            launches_per_sample=node.get("launches_per_sample").whole(),
            correction_s=node.get("correction_s").number(),
            resolution_s=node.get("resolution_s").span(),
            stopped_by=node.get("stopped_by").text(),
        )
    )


def _verification(node: Node) -> Verification:
    return Verification(
        passed=node.get("passed").truth(),
        max_abs_error=optional(node.get_optional("max_abs_error"), Node.number),
        relative_l2_error=optional(node.get_optional("relative_l2_error"), Node.number),
        absolute_tolerance=node.get("absolute_tolerance").number(),
        relative_tolerance=node.get("relative_tolerance").number(),
        tolerance_reason=node.get("tolerance_reason").text(),
        failure=optional(node.get_optional("failure"), Node.text),
    )


def _has_cost(node: Node) -> bool:
    """A cost is there whole or not at all; a part of one is complained about by `_cost`."""
    names = ("flops", "special_function_ops", "bytes")
    return any(node.get_optional(name) is not None for name in names)


def _cost(node: Node) -> Cost:
    traffic = node.get("bytes")
    return Cost(
        flops={
            as_word(entry, name, Precision): entry.whole()
            for name, entry in node.get("flops").entries().items()
        },
        special_function_ops=node.get("special_function_ops").whole(),
        compulsory=_traffic(traffic, "compulsory"),
        issued=_traffic(traffic, "issued"),
    )


def _traffic(node: Node, kind: str) -> Traffic:
    return Traffic(
        read_bytes=node.get(f"{kind}_read").whole(), write_bytes=node.get(f"{kind}_write").whole()
    )


def _launch(node: Node) -> LaunchRecord:
    return LaunchRecord(
        entry=node.get("entry").text(),
        grid=triple(node.get("grid")),
        block=triple(node.get("block")),
        dynamic_shared_bytes=node.get("dynamic_shared_bytes").whole(),
        cost=_cost(node),
        resources=optional(node.get_optional("resources"), _resources),
    )


def _resources(node: Node) -> Resources:
    return Resources(
        registers=node.get("registers").whole(),
        shared_bytes=node.get("shared_bytes").whole(),
        spill_bytes=node.get("spill_bytes").whole(),
        local_bytes=node.get("local_bytes").whole(),
    )
