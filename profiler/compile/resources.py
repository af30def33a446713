"""What compiled code takes, from the log of ptxas --verbose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rooflens.errors import DataFormatError
from rooflens.measurement import Resources

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '[^']+'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(?<![\d+]) (\d+) bytes smem")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")


@dataclass(slots=True)
class _Block:
    """What the log says of one entry function, as far as it has been read."""

    entry: str
    function: str | None = None  # whose properties come next
    registers: int | None = None
    shared_bytes: int = 0  # ptxas leaves it out where there is none
    spill_bytes: int = 0
    frame_bytes: int | None = None
    stack_bytes: int | None = None


def parse_resources(log: str, *, path: str) -> Mapping[str, Resources]:
    """Resources by entry point, from a log of ptxas; DataFormatError where the log falls short.

    spill_bytes is stores plus loads, of the entry and of the functions that it calls: ptxas gives
    each entry its own copy of them and lists them behind it. local_bytes is the whole stack of a
    thread where calls make it deeper than the entry's own frame.
    """
    blocks: list[_Block] = []
    for line in log.splitlines():
        if (found := _ENTRY.search(line)) is not None:
            blocks.append(_Block(found[1]))
        elif blocks:
            _read_line(blocks[-1], line, path)
    resources = {block.entry: _finished(block, path) for block in blocks}
    if len(resources) != len(blocks):
        raise DataFormatError("an entry function is listed twice", path=path, field="ptxas log")
    return resources


def _read_line(block: _Block, line: str, path: str) -> None:
    if (found := _PROPERTIES.search(line)) is not None:
        block.function = found[1]
    elif (found := _FRAME.search(line)) is not None:
        block.spill_bytes += int(found[2]) + int(found[3])
        if block.function == block.entry:
            block.frame_bytes = int(found[1])
    elif (found := _USED.search(line)) is not None:
        if block.registers is not None:
            raise _unreadable(block, path, f"a second line of registers: {line.strip()!r}")
        block.registers = int(found[1])
        for word, pattern in (("smem", _SHARED), ("cumulative stack", _STACK)):
            amount = pattern.search(line)
            if amount is None and word in line:
                raise _unreadable(block, path, f"{word} in an unknown form: {line.strip()!r}")
            if amount is not None and word == "smem":
                block.shared_bytes = int(amount[1])
            elif amount is not None:
                block.stack_bytes = int(amount[1])


def _finished(block: _Block, path: str) -> Resources:
    if block.registers is None or block.frame_bytes is None:
        missing = "registers" if block.registers is None else "stack frame and spills"
        raise _unreadable(block, path, f"no line with its {missing}")
    return Resources(
        registers=block.registers,
        shared_bytes=block.shared_bytes,
        spill_bytes=block.spill_bytes,
        local_bytes=max(block.frame_bytes, block.stack_bytes or 0),
    )


def _unreadable(block: _Block, path: str, problem: str) -> DataFormatError:
    return DataFormatError(f"{block.entry}: {problem}", path=path, field="ptxas log")
