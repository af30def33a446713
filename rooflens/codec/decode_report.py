"""The entries that an imported row adds to a result -> Report."""

from collections.abc import Callable
from typing import TypeVar

from rooflens.codec.node import Node, as_word, capability, optional, triple
from rooflens.precision import Precision
from rooflens.reported import Report, ReportedDevice, Source, TensorInput
from rooflens.terms import MemoryLevel

T = TypeVar("T")


def decode_report(node: Node) -> Report:
    """The report of an imported row; `node` is the whole result."""
    report, launch, traffic = node.get("report"), node.get("launch"), node.get("bytes")
    resources = node.get_optional("resources")

    def resource(name: str) -> int | None:
        return None if resources is None else optional(resources.get_optional(name), Node.whole)

    def text(name: str) -> str | None:
        return optional(report.get_optional(name), Node.text)

    split = None not in (resource("static_shared_bytes"), resource("dynamic_shared_bytes"))
    return Report(
        kernel_name=node.get("kernel_name").text(),
        source=_source(node.get("source")),
        device=_device(node.get("device")),
        grid=optional(launch.get_optional("grid"), triple),
        block=optional(launch.get_optional("block"), triple),
        thread_count=optional(launch.get_optional("thread_count"), Node.whole),
        registers=resource("registers"),
        static_shared_bytes=resource("static_shared_bytes"),
        dynamic_shared_bytes=resource("dynamic_shared_bytes"),
        shared_bytes=None if split else resource("shared_bytes"),
        process_id=text("process_id"),
        process_name=text("process_name"),
        context=text("context"),
        stream=text("stream"),
        operator=text("operator"),
        ranges=report.get("ranges").texts(),
        launches=report.get("launches").whole(),
        mean_time_s=optional(report.get_optional("mean_time_s"), Node.number),
        traffic_bytes={
            as_word(entry, name, MemoryLevel): entry.number()
            for name, entry in traffic.entries().items()
            if name not in ("dram_read", "dram_write")
        },
        dram_read_bytes=optional(traffic.get_optional("dram_read"), Node.number),
        dram_write_bytes=optional(traffic.get_optional("dram_write"), Node.number),
        flops={
            as_word(entry, name, Precision): entry.number()
            for name, entry in node.get("flops").entries().items()
        },
        not_arithmetic=tuple(
            entry.word(Precision) for entry in report.get("not_arithmetic").items()
        ),
        tensor_ops={
            as_word(entry, name, TensorInput): entry.number()
            for name, entry in node.get("tensor_ops").entries().items()
        },
        tensor_precisions={
            as_word(entry, name, Precision): entry.number()
            for name, entry in report.get("tensor_precisions").entries().items()
        },
        special_function_instructions=optional(
            report.get_optional("special_function_instructions"), Node.number
        ),
        fractions=_members(report, "fractions", Node.number),
        stall_cycles=_members(report, "stall_cycles", Node.number),
        clocks_hz=_members(report, "clocks_hz", Node.number),
        derivations=_members(report, "derivations", Node.text),
        absent=_members(report, "absent", Node.text),
    )


def _members(node: Node, name: str, read: Callable[[Node], T]) -> dict[str, T]:
    return {key: read(entry) for key, entry in node.get(name).entries().items()}


def _source(node: Node) -> Source:
    return Source(
        file=node.get("file").text(),
        row=node.get("row").whole(),
        tool=node.get("tool").text(),
        tool_version=optional(node.get_optional("tool_version"), Node.text),
    )


def _device(node: Node) -> ReportedDevice:
    return ReportedDevice(
        index=optional(node.get_optional("index"), Node.whole),
        name=optional(node.get_optional("name"), Node.text),
        compute_capability=optional(node.get_optional("compute_capability"), capability),
        sm_count=optional(node.get_optional("sm_count"), Node.whole),
    )
