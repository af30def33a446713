"""The entry points and parameters of PTX text, for code that the driver will compile."""

import re
from collections.abc import Mapping

from rooflens.errors import DataFormatError
from rooflens.profiler.compile.cubin import ParameterLayout

_ENTRY = re.compile(r"^[^\n/]*\.entry\s+([A-Za-z_$%][\w$]*)\s*\(([^)]*)\)", re.M)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<kind>[a-z]+)(?P<bits>\d+)"
    r"(?:\s+\.ptr(?:\s+\.\w+)*(?:\s+\.align\s+\d+)?)?"
    r"\s+[\w$%]+(?:\[(?P<count>\d+)\])?"
)


def read_ptx(text: str, *, path: str) -> Mapping[str, tuple[ParameterLayout, ...]]:
    """Parameter layouts by entry point; DataFormatError for a parameter of unknown form.

    Each parameter lies at the next multiple of its alignment, which is its type's size unless
    .align says otherwise (PTX ISA, "Kernel Function Parameters").
    """
    entries: dict[str, tuple[ParameterLayout, ...]] = {}
    for entry in _ENTRY.finditer(text):
        layouts: list[ParameterLayout] = []
        end = 0
        for declaration in filter(None, (part.strip() for part in entry[2].split(","))):
            found = _PARAMETER.fullmatch(declaration)
            if found is None or int(found["bits"]) % 8 or found["align"] == "0":
                raise DataFormatError(
                    f"{entry[1]}: unknown parameter {declaration!r}", path=path, field="PTX"
                )
            item = int(found["bits"]) // 8
            align = int(found["align"] or item)
            offset = -(-end // align) * align
            layouts.append(ParameterLayout(offset, item * int(found["count"] or 1)))
            end = offset + layouts[-1].size
        entries[entry[1]] = tuple(layouts)
    return entries
