"""What another tool reports of a launch, as the entries that an imported row adds to a result."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from rooflens.reported import Report, ReportedDevice, Source

Plain = dict[str, Any]


def encode_report(report: Report) -> Plain:
    """The entries of an imported row; they take the place of a catalogue row's of the same name."""
    return {
        "kernel_name": report.kernel_name,
        "launch": _launch(report),
        "device": _device(report.device),
        "source": _source(report.source),
        "resources": _resources(report),
        "bytes": {
            **_amounts(report.traffic_bytes),
            "dram_read": amount(report.dram_read_bytes),
            "dram_write": amount(report.dram_write_bytes),
        },
        "flops": _amounts(report.flops),
        "tensor_ops": _amounts(report.tensor_ops),
        "report": {
            "launches": report.launches,
            "mean_time_s": report.mean_time_s,
            "process_id": report.process_id,
            "process_name": report.process_name,
            "context": report.context,
            "stream": report.stream,
            "operator": report.operator,
            "ranges": list(report.ranges),
            "not_arithmetic": [precision.value for precision in report.not_arithmetic],
            "tensor_precisions": _amounts(report.tensor_precisions),
            "special_function_instructions": amount(report.special_function_instructions),
            "fractions": dict(report.fractions),
            "stall_cycles": dict(report.stall_cycles),
            "clocks_hz": dict(report.clocks_hz),
            "derivations": dict(report.derivations),
            "absent": dict(report.absent),
        },
    }


def amount(value: float | None) -> float | None:
    """A count, written without a fraction where it has none."""
    return int(value) if value is not None and value.is_integer() else value


def _amounts(amounts: Mapping[Any, float]) -> dict[str, float | None]:
    return {_word(name): amount(value) for name, value in amounts.items()}


def _word(name: StrEnum) -> str:
    return name.value


def _launch(report: Report) -> Plain:
    return {
        "grid": None if report.grid is None else list(report.grid),
        "block": None if report.block is None else list(report.block),
        "threads": report.threads,
        "thread_count": report.thread_count,
    }


def _device(device: ReportedDevice) -> Plain:
    capability = device.compute_capability
    return {
        "index": device.index,
        "name": device.name,
        "compute_capability": None if capability is None else f"{capability[0]}.{capability[1]}",
        "sm_count": device.sm_count,
    }


def _source(source: Source) -> Plain:
    return {
        "file": source.file,
        "row": source.row,
        "tool": source.tool,
        "tool_version": source.tool_version,
    }


def _resources(report: Report) -> Plain | None:
    """As of compiled code, as far as the report tells; what it does not tell is absent."""
    static, dynamic = report.static_shared_bytes, report.dynamic_shared_bytes
    both = report.shared_bytes
    if both is None and static is not None and dynamic is not None:
        both = static + dynamic
    if report.registers is None and static is None and dynamic is None and both is None:
        return None
    return {
        "registers": report.registers,
        "shared_bytes": both,
        "static_shared_bytes": static,
        "dynamic_shared_bytes": dynamic,
        "spill_bytes": None,
        "local_bytes": None,
    }
