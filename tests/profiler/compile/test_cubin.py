import re
import shutil
import struct
import subprocess
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflens.errors import DataFormatError
from rooflens.profiler.compile import Architecture, compile_source, read_cubin
from rooflens.profiler.compile import ParameterLayout as P

SHORT = struct.Struct("<BBH")
ENTRY = 0x10  # the flag of an entry point in st_other


def attribute(kind: int, *words: int, layout: str) -> bytes:
    value = struct.pack(f"<{layout}", *words)
    return SHORT.pack(4, kind, len(value)) + value


def parameter(ordinal: int, offset: int, size: int) -> bytes:
    return attribute(0x17, 0, ordinal, offset, size << 18 | 0x1F000, layout="IHHI")


def block(size: int) -> bytes:
    return SHORT.pack(3, 0x19, size)


def cubin(
    info: bytes, *, shared: bytes = b"", symbol_other: int = ENTRY, machine: int = 190
) -> bytes:
    """A cubin of one kernel "k", whose section .nv.info.k holds info."""
    strings = b"\0.shstrtab\0.strtab\0.symtab\0.nv.info\0.nv.info.k\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, symbol_other, 5, 0, 16)
    sections = [  # name, kind, link, contents
        (0, 0, 0, b""),
        (1, 3, 0, strings),
        (11, 3, 0, b"\0k\0"),
        (19, 2, 2, symbols),
        (27, 0x70000000, 3, shared),
        (36, 0x70000000, 3, info),
    ]
    body, rows, offset = b"", b"", 64
    for name, kind, link, contents in sections:
        rows += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, len(contents), link, 0, 1, 0)
        body += contents
        offset += len(contents)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, offset, 0, 64, 56, 0, 64, 6, 1)
    return head + body + rows


GOOD = cubin(
    SHORT.pack(1, 0x35, 0) + parameter(1, 8, 4) + parameter(0, 0, 8) + block(12),
    shared=attribute(0x2F, 1, 40, layout="II"),
)


def test_by_hand() -> None:
    entry = read_cubin(GOOD, path="k.cu")["k"]
    assert entry.parameters == (P(0, 8), P(8, 4))
    assert entry.registers == 40


def test_registers_may_be_absent() -> None:
    assert read_cubin(cubin(block(0)), path="k.cu")["k"].registers is None


def test_wide_parameters() -> None:
    info = attribute(0x45, 0, 0, 0, 0x0200_4E20, layout="IHHI") + block(20000)
    assert read_cubin(cubin(info), path="k.cu")["k"].parameters == (P(0, 20000),)


def test_a_device_function_is_no_entry() -> None:
    assert read_cubin(cubin(block(0), symbol_other=0), path="k.cu") == {}


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (b"", "no little-endian ELF64"),
        (b"PTX text", "no little-endian ELF64"),
        (GOOD[:40], "too early"),
        (GOOD[:-1], "outside the file"),
        (cubin(block(0), machine=62), "machine is 62"),
        (cubin(parameter(0, 0, 8)), "8 bytes in a block of 0"),
        (cubin(block(8)), "0 bytes in a block of 8"),
        (cubin(parameter(0, 0, 8) + block(16)), "8 bytes in a block of 16"),
        (cubin(parameter(1, 0, 8) + block(8)), r"numbered \[1\]"),
        (cubin(parameter(0, 0, 8) * 2 + block(8)), "twice"),
        (cubin(parameter(0, 0, 8) + parameter(1, 4, 8) + block(12)), "overlap"),
        (cubin(parameter(0, 0, 0) + block(0)), "empty"),
        (cubin(SHORT.pack(4, 0x17, 99)), "malformed attribute"),
        (cubin(SHORT.pack(9, 0x17, 0)), "malformed attribute"),
        (cubin(attribute(0x17, 0, layout="I")), "too early"),
        (cubin(block(0) + b"\1"), "too early"),
        (cubin(block(0), shared=attribute(0x2F, 7, 40, layout="II")), "symbol 7 of 2"),
        (GOOD.replace(b".nv.info.k\0", b".nv.info.q\0"), "no section .nv.info"),
        (GOOD.replace(b"\0k\0", b"\0kk", 1), "outside the string table"),
    ],
)
def test_hostile(code: bytes, problem: str) -> None:
    with pytest.raises(DataFormatError, match=problem) as caught:
        read_cubin(code, path="k.cu")
    assert caught.value.path == "k.cu"


@settings(max_examples=300)
@given(st.data())
def test_any_damage_is_an_answer_or_an_error(data: st.DataObject) -> None:
    damaged = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(GOOD) - 1))] = data.draw(st.integers(0, 255))
    length = data.draw(st.integers(0, len(GOOD)))
    try:
        entries = read_cubin(bytes(damaged[:length]), path="k.cu")
    except DataFormatError:
        return
    for entry in entries.values():
        assert all(layout.size > 0 for layout in entry.parameters)


ARCHITECTURES = ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_real_parameters(nvrtc: tuple[int, int], data: Path, architecture: str) -> None:
    target = Architecture.parse(architecture)
    code = compile_source(data / "parameters.cu", architecture=target, cache=None)
    assert code.parameters == {
        # float*, float*, int, double, short, 16-byte vector, bool, {double, char[5]}
        "mixed": (P(0, 8), P(8, 8), P(16, 4), P(24, 8), P(32, 2), P(48, 16), P(64, 1), P(72, 16)),
        "none": (),
        "_Z4fillIfEvPT_S0_": (P(0, 8), P(8, 4)),
    }
    big = compile_source(data / "big_parameter.cu", architecture=target, cache=None)
    assert big.parameters == {"big": (P(0, 8), P(8, 20000), P(20008, 2))}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("source", ["parameters.cu", "spill.cu"])
def test_against_cuobjdump(
    nvrtc: tuple[int, int], data: Path, tmp_path: Path, architecture: str, source: str
) -> None:
    tool = _cuobjdump()
    code = compile_source(data / source, architecture=Architecture.parse(architecture), cache=None)
    file = tmp_path / "code.cubin"
    file.write_bytes(code.code)
    usage = subprocess.run(
        [tool, "--dump-resource-usage", file], check=True, capture_output=True, text=True
    ).stdout
    seen = {
        match[1]: (int(match[2]), int(match[3]), int(match[4]))
        for match in re.finditer(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", usage)
    }
    # From compute capability 8.x or 9.0 on, 1 KiB of shared memory is the system's own. It counts
    # in the cubin where a kernel has shared memory at all, but is not the kernel's.
    assert seen.keys() == code.entries.keys()
    for name, resources in code.entries.items():
        assert resources is not None
        registers, stack, shared = seen[name]
        assert resources.registers == registers
        assert resources.local_bytes == stack
        assert resources.shared_bytes in (shared, shared - 1024)
        assert read_cubin(code.code, path="code.cubin")[name].registers == registers


def _cuobjdump() -> str:
    """The tool from PATH, from a wheel (NVIDIA's nvidia-cuda-cuobjdump), or a skipped test."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    places = [*packages.glob("cu*/bin/cuobjdump"), Path("/usr/local/cuda/bin/cuobjdump")]
    tool = shutil.which("cuobjdump") or next((str(p) for p in places if p.is_file()), None)
    if tool is None:
        pytest.skip("cuobjdump is not installed")
    return tool
