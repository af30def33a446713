"""A careful reader of cubins: the entry points, their registers and their parameters.

A cubin is an ELF64 file of machine 190. Section .nv.info holds attributes of all functions and
.nv.info.<entry> those of one. Each attribute is a byte of format, a byte of kind and two bytes,
which are the value, or the length of the value that follows (format 4). Source of the layouts:
the System V ABI for ELF; for the attributes, what cuobjdump --dump-elf prints (the tests compare).
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rooflens.errors import DataFormatError

_EM_CUDA = 190
_SHT_SYMTAB = 2
_SHT_NOBITS = 8
_STT_FUNC = 2
_STO_CUDA_ENTRY = 0x10

_SIZED_FORMAT = 4
_SHORT_FORMATS = (1, 2, 3)
_KPARAM_INFO = 0x17  # index u32, ordinal u16, offset u16, then the size in the top 14 bits of a u32
_KPARAM_INFO_V2 = 0x45  # the same for parameters beyond 4 KiB: the size in the lower 16 bits
_CBANK_PARAM_SIZE = 0x19  # u16: bytes of all parameters
_REGCOUNT = 0x2F  # symbol u32, registers u32


@dataclass(frozen=True, slots=True, order=True)
class ParameterLayout:
    """Where a kernel parameter lies in the parameter block: offset and size in bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CubinEntry:
    """What a cubin says of one entry point; registers is None where it does not say."""

    registers: int | None
    parameters: tuple[ParameterLayout, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    link: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    is_entry: bool


def read_cubin(code: bytes, *, path: str) -> Mapping[str, CubinEntry]:
    """Entry points by name, in the order of the symbol table.

    path stands in messages. Whatever the bytes are, the answer is true to them or a
    DataFormatError.
    """
    try:
        return _read(code, path)
    except struct.error as error:
        raise _broken(path, f"it ends too early ({error})") from error


def _read(code: bytes, path: str) -> Mapping[str, CubinEntry]:
    sections = _sections(code, path)
    by_name = {section.name: section for section in sections}
    symbols = _symbols(sections, path)
    registers: dict[str, int] = {}
    shared = by_name.get(".nv.info")
    for kind, value in _attributes(shared.data if shared is not None else b"", path):
        if kind == _REGCOUNT:
            number, count = struct.unpack("<II", value)
            if number >= len(symbols):
                raise _broken(path, f"registers of symbol {number} of {len(symbols)}")
            registers[symbols[number].name] = count
    entries: dict[str, CubinEntry] = {}
    for symbol in symbols:
        if not symbol.is_entry:
            continue
        section = by_name.get(f".nv.info.{symbol.name}")
        if section is None:
            raise _broken(path, f"entry point {symbol.name} has no section .nv.info")
        entries[symbol.name] = CubinEntry(
            registers=registers.get(symbol.name),
            parameters=_parameters(section.data, symbol.name, path),
        )
    return entries


def _sections(code: bytes, path: str) -> list[_Section]:
    if code[:6] != b"\x7fELF\x02\x01":
        raise _broken(path, "it is no little-endian ELF64 file")
    (machine,) = struct.unpack_from("<H", code, 18)
    if machine != _EM_CUDA:
        raise _broken(path, f"its machine is {machine}, expected {_EM_CUDA} (CUDA)")
    (table,) = struct.unpack_from("<Q", code, 40)
    entry_size, count, names = struct.unpack_from("<HHH", code, 58)
    if entry_size != 64 or not 0 < names < count:
        raise _broken(path, "its section table is malformed")
    if table + 64 * count > len(code):
        raise _broken(path, "its section table lies outside the file")
    rows = [struct.unpack_from("<IIQQQQIIQQ", code, table + 64 * number) for number in range(count)]

    def contents(row: tuple[int, ...]) -> bytes:
        kind, offset, size = row[1], row[4], row[5]
        if kind == _SHT_NOBITS:
            return b""
        if offset + size > len(code):
            raise _broken(path, "a section lies outside the file")
        return code[offset : offset + size]

    strings = contents(rows[names])
    return [_Section(_string(strings, row[0], path), row[1], row[6], contents(row)) for row in rows]


def _symbols(sections: list[_Section], path: str) -> list[_Symbol]:
    table = next((section for section in sections if section.kind == _SHT_SYMTAB), None)
    if table is None or table.link >= len(sections) or len(table.data) % 24:
        raise _broken(path, "its symbol table is missing or malformed")
    strings = sections[table.link].data
    symbols = []
    for name, info, other, _section, _value, _size in struct.iter_unpack("<IBBHQQ", table.data):
        is_entry = info & 0xF == _STT_FUNC and bool(other & _STO_CUDA_ENTRY)
        symbols.append(_Symbol(_string(strings, name, path), is_entry))
    return symbols


def _attributes(data: bytes, path: str) -> Iterator[tuple[int, bytes]]:
    """Kind and value of each attribute of a section .nv.info."""
    position = 0
    while position < len(data):
        form, kind, length = struct.unpack_from("<BBH", data, position)
        position += 4
        if form in _SHORT_FORMATS:
            yield kind, data[position - 2 : position]
            continue
        if form != _SIZED_FORMAT or position + length > len(data):
            raise _broken(path, f"a malformed attribute ({form}, {kind}, {length})")
        yield kind, data[position : position + length]
        position += length


def _parameters(data: bytes, entry: str, path: str) -> tuple[ParameterLayout, ...]:
    """Layouts by ordinal; the whole must agree with the stated size of the parameter block."""
    found: dict[int, ParameterLayout] = {}
    block_size = 0
    for kind, value in _attributes(data, path):
        if kind == _CBANK_PARAM_SIZE:
            (block_size,) = struct.unpack("<H", value)
        elif kind in (_KPARAM_INFO, _KPARAM_INFO_V2):
            _index, ordinal, offset, packed = struct.unpack("<IHHI", value)
            size = packed >> 18 if kind == _KPARAM_INFO else packed & 0xFFFF
            if ordinal in found:
                raise _broken(path, f"{entry}: parameter {ordinal} stands there twice")
            found[ordinal] = ParameterLayout(offset, size)
    if sorted(found) != list(range(len(found))):
        raise _broken(path, f"{entry}: its parameters are numbered {sorted(found)}")
    layouts = tuple(found[ordinal] for ordinal in range(len(found)))
    end = 0
    for layout in layouts:
        if layout.offset < end or layout.size == 0:
            raise _broken(path, f"{entry}: its parameters overlap or are empty")
        end = layout.offset + layout.size
    if end != block_size:
        raise _broken(path, f"{entry}: parameters of {end} bytes in a block of {block_size}")
    return layouts


def _string(strings: bytes, offset: int, path: str) -> str:
    end = strings.find(b"\0", offset)
    if offset >= len(strings) or end < 0:
        raise _broken(path, "a name lies outside the string table")
    return strings[offset:end].decode("utf-8", errors="replace")


def _broken(path: str, problem: str) -> DataFormatError:
    return DataFormatError(problem, path=path, field="cubin")
