"""NVTX ranges that a launch ran in, out of the columns in which Nsight Compute prints them.

A cell is a thread's (or range's) number, then each range in quotes, outermost first: its domain
(not on the page of summaries), its name, and six fields of attributes, joined by colons. Names may
hold colons.
"""

import re
from functools import lru_cache

DEFAULT_DOMAIN = "<default domain>"
_ATTRIBUTES = ":PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
_ATTRIBUTE_COUNT = 6
_QUOTED = re.compile(r'"([^"]*)"')


def is_nvtx_column(name: str) -> bool:
    """Whether a column of this name holds ranges."""
    return name.endswith(_ATTRIBUTES)


@lru_cache(maxsize=4096)
def range_names(column: str, cell: str) -> tuple[str, ...]:
    """The ranges in a cell, outermost first; a domain other than the default stands before "/".

    What is not printed in this way is one range of that very text.
    """
    if not cell.strip():
        return ()
    with_domain = "Domain:" in column
    quoted = _QUOTED.findall(cell)
    if not quoted:
        return (cell.strip(),)
    return tuple(_name(text, with_domain=with_domain) for text in quoted)


def _name(text: str, *, with_domain: bool) -> str:
    fields = text.split(":")
    if len(fields) > _ATTRIBUTE_COUNT + with_domain:
        fields = fields[:-_ATTRIBUTE_COUNT]
    if not with_domain or len(fields) < 2:
        return ":".join(fields)
    domain, name = fields[0], ":".join(fields[1:])
    return name if domain == DEFAULT_DOMAIN else f"{domain}/{name}"
