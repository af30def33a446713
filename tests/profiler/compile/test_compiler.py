from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rooflens.errors import (
    CompileError,
    DataFormatError,
    NotAvailableError,
    NotSupportedError,
    UsageError,
)
from rooflens.profiler.compile import (
    Architecture,
    CodeKind,
    CompiledCode,
    compile_source,
    compiler,
    find_headers,
    nvrtc_version,
    supported_architectures,
)
from rooflens.profiler.compile import ParameterLayout as P
from rooflens.profiler.compile.nvrtc import Outcome, compile_program

Write = Callable[..., Path]
SM_89 = Architecture(8, 9)
KERNEL_K = 'extern "C" __global__ void k() {}\n'
pytestmark = pytest.mark.usefixtures("nvrtc")


def compile_afresh(*args: bytes, options: list[bytes], **more: object) -> Outcome:
    """compile_program without NVRTC's own cache, which there is from 13 on where a driver is."""
    if nvrtc_version() >= (13, 0):
        options = [*options, b"--no-cache"]
    return compile_program(*args, options=options, **more)  # type: ignore[arg-type]


def build(path: Path, **defines: str) -> CompiledCode:
    return compile_source(path, architecture=SM_89, defines=defines, cache=None)


def test_cubin(write: Write, nvrtc: tuple[int, int]) -> None:
    code = build(write())
    assert code.code.startswith(b"\x7fELF")
    assert (code.kind, code.target, code.nvrtc_version) == (CodeKind.CUBIN, "sm_89", nvrtc)
    assert (code.notes, code.from_cache) == ((), False)
    assert code.parameters == {"saxpy": (P(0, 8), P(8, 4))}
    resources = code.entries["saxpy"]
    assert resources is not None
    assert 4 <= resources.registers <= 16
    assert (resources.shared_bytes, resources.spill_bytes, resources.local_bytes) == (0, 0, 0)
    assert code.source_hash is not None
    assert len(code.source_hash) == 64


@pytest.mark.parametrize(
    "architecture", ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120"]
)
def test_exact_architectures(write: Write, architecture: str) -> None:
    wanted = Architecture.parse(architecture)
    if wanted.number not in supported_architectures():
        pytest.skip(f"this NVRTC does not know {wanted}")
    code = compile_source(write(), architecture=wanted, cache=None)
    assert code.target == architecture
    assert f"for '{architecture}'" in code.log
    assert code.notes == ()


def test_shared_memory(data: Path) -> None:
    resources = build(data / "parameters.cu").entries["mixed"]
    assert resources is not None
    assert resources.shared_bytes == 64 * 4


def test_spills_are_seen(data: Path) -> None:
    entries = build(data / "spill.cu").entries
    assert entries.keys() == {"spilling", "spilling_in_a_call", "unbounded", "frugal"}
    for name in ("spilling", "spilling_in_a_call"):
        resources = entries[name]
        assert resources is not None
        assert resources.registers == 64  # 65536 / 1024
        assert resources.spill_bytes > 0
        assert resources.local_bytes > 0
    frugal = entries["frugal"]
    assert frugal is not None
    assert frugal.spill_bytes == 0


def test_register_limit(data: Path) -> None:
    path = data / "spill.cu"
    free = build(path).entries["unbounded"]
    code = compile_source(path, architecture=SM_89, options=("--maxrregcount=32",), cache=None)
    limited = code.entries["unbounded"]
    assert free is not None
    assert limited is not None
    assert free.registers > 80
    assert free.spill_bytes == 0
    assert limited.registers == 32
    assert limited.spill_bytes > 0


def test_defines(write: Write) -> None:
    path = write(text='extern "C" __global__ void k(float* x) { *x = NUMBER; }')
    assert build(path, NUMBER="1.0f + 2.0f").source_hash != build(path, NUMBER="3").source_hash
    with pytest.raises(CompileError, match="NUMBER"):
        build(path)


def test_language_standard(write: Write) -> None:
    for options, expected in (((), 201703), (("--std=c++20",), 202002)):
        path = write(text=f'static_assert(__cplusplus == {expected}, "");\n{KERNEL_K}')
        code = compile_source(path, architecture=SM_89, options=options, cache=None)
        assert "warning" not in code.log


@pytest.mark.parametrize(
    "option",
    [
        "-I/x",
        "-I",
        "--include-path=/x",
        "-DX",
        "-arch=sm_90",
        "-use-pch=x",
        "--pch",
        "--gpu-architecture=sm_90",
        "x.cu",
        "",
    ],
)
def test_reserved_options(write: Write, option: str) -> None:
    with pytest.raises(UsageError, match="cannot be given here"):
        compile_source(write(), architecture=SM_89, options=(option,), cache=None)


def test_bad_option(write: Write) -> None:
    with pytest.raises(CompileError, match="--nonsense"):
        compile_source(write(), architecture=SM_89, options=("--nonsense",), cache=None)


@pytest.mark.parametrize(("name", "value"), [("A B", "1"), ("", "1"), ("A=B", ""), ("A", "\0")])
def test_bad_defines(write: Write, name: str, value: str) -> None:
    with pytest.raises(UsageError, match="cannot define"):
        compile_source(write(), architecture=SM_89, defines={name: value}, cache=None)


class TestErrors:
    def test_file_and_line_in_the_source(self, write: Write) -> None:
        path = write("größe x/bad, one.cu", "\n\n__global__ void k() { undeclared(); }\n")
        with pytest.raises(CompileError) as caught:
            build(path)
        assert f"{path}(3): error: " in caught.value.log
        assert str(caught.value).startswith(f"{path}: NVRTC cannot compile it for sm_89")
        assert "--gpu-architecture=sm_89" in caught.value.options

    def test_file_and_line_in_an_included_file(self, write: Write) -> None:
        header = write("größe x/sub/bad.cuh", "\nint good;\n\nint bad = undeclared;\n")
        path = write("größe x/k.cu", '#include "sub/bad.cuh"\n__global__ void k() {}\n')
        with pytest.raises(CompileError) as caught:
            build(path)
        assert f"{header}(4): error: " in caught.value.log

    def test_missing_header(self, write: Write) -> None:
        with pytest.raises(CompileError, match="no_such_header") as caught:
            build(write(text="#include <no_such_header.h>\n__global__ void k() {}"))
        assert "(1): " in caught.value.log

    def test_no_headers_on_this_machine(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(compiler, "find_headers", lambda nvrtc: None)
        assert build(write()).headers is None
        with pytest.raises(CompileError, match="no CUDA headers were found"):
            build(write(text="#include <mma.h>\n__global__ void k() {}"))

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"gone\.cu: No such file"):
            build(tmp_path / "gone.cu")

    def test_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="cannot read"):
            build(tmp_path)

    def test_impossible_name(self) -> None:
        with pytest.raises(UsageError, match="cannot read"):
            build(Path("a\0b.cu"))

    @pytest.mark.parametrize("text", ["", " \n\n"])
    def test_empty(self, write: Write, text: str) -> None:
        with pytest.raises(DataFormatError, match="empty"):
            build(write(text=text))

    def test_no_kernel(self, write: Write) -> None:
        with pytest.raises(CompileError, match="holds no kernel"):
            build(write(text="__device__ int f() { return 1; }"))

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
    def test_wide_text(self, write: Write, encoding: str) -> None:
        with pytest.raises(DataFormatError, match="NUL byte") as caught:
            build(write(text="int a;\n".encode(encoding)))
        assert caught.value.line == 1

    def test_feature_that_the_card_has_not(self, write: Write) -> None:
        with pytest.raises(NotSupportedError):
            compile_source(write(), architecture=Architecture(8, 9, "a"), cache=None)

    def test_card_too_old(self, write: Write) -> None:
        with pytest.raises(NotAvailableError):
            compile_source(write(), architecture=Architecture(3, 5), cache=None)

    def test_log_and_code_must_agree(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        def planted(old: str, new: str) -> None:
            def lying(*args: bytes, **more: object) -> object:
                outcome = compile_afresh(*args, **more)  # type: ignore[arg-type]
                assert old in outcome.log
                return replace(outcome, log=outcome.log.replace(old, new))

            monkeypatch.setattr(compiler, "compile_program", lying)

        path = write()
        planted("Used ", "Used 1")
        with pytest.raises(DataFormatError, match="registers, but"):
            build(path)
        planted("saxpy", "other")
        with pytest.raises(DataFormatError, match="entry points"):
            build(path)


class TestReport:
    """NVRTC's own cache gives code without the report of ptxas that resources are read from."""

    def planted(self, monkeypatch: pytest.MonkeyPatch, *, refused: bool) -> list[bool]:
        """Make NVRTC leave the report out unless --no-cache is given; record each call's use."""
        calls: list[bool] = []

        def caching(*args: bytes, options: list[bytes], **more: object) -> object:
            calls.append(b"--no-cache" in options)
            plain = [option for option in options if option != b"--no-cache"]
            outcome = compile_afresh(*args, options=plain, **more)
            if not calls[-1]:
                return replace(outcome, log="")
            return replace(outcome, code=None, log="unrecognized option") if refused else outcome

        monkeypatch.setattr(compiler, "compile_program", caching)
        return calls

    def test_a_missing_report_is_asked_for_again(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = self.planted(monkeypatch, refused=False)
        assert build(write()).entries["saxpy"] is not None
        assert calls == [False, True]

    def test_without_a_report_there_are_no_numbers(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = self.planted(monkeypatch, refused=True)
        with pytest.raises(DataFormatError, match="the log names entry points"):
            build(write())
        assert calls == [False, True]


class TestText:
    def test_latin_1_in_a_comment(self, write: Write) -> None:
        path = write(text=b'// \xe9t\xe9\nextern "C" __global__ void k() {}\n')
        assert build(path).entries.keys() == {"k"}

    def test_byte_order_mark_and_windows_line_ends(self, write: Write) -> None:
        path = write(text=b'\xef\xbb\xbf// x\r\nextern "C" __global__ void k() {}\r\n')
        assert build(path).entries.keys() == {"k"}

    def test_no_line_end(self, write: Write) -> None:
        assert build(write(text='extern "C" __global__ void k() {}')).entries.keys() == {"k"}

    def test_relative_path(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write("größe x/kernel.cu")
        write("größe x/a.cuh", "")
        path.write_text('#include "a.cuh"\n' + path.read_text())
        monkeypatch.chdir(path.parent)
        assert build(Path("kernel.cu")).code == build(path).code  # line information too


class TestIncludes:
    def test_order_of_folders(self, write: Write, tmp_path: Path) -> None:
        path = write("own/k.cu", '#include "a.cuh"\n#include <b.cuh>\nextern "C" ' + KERNEL)
        write("own/a.cuh", "#define A 1\n")
        write("one/a.cuh", "#error the source's own folder comes first\n")
        write("one/b.cuh", "#define B 2\n")
        write("two/b.cuh", "#error the first folder comes first\n")
        folders = (tmp_path / "one", tmp_path / "two")
        code = compile_source(path, architecture=SM_89, include_folders=folders, cache=None)
        assert code.entries.keys() == {"k"}

    def test_own_folders_before_cudas(self, write: Write, tmp_path: Path) -> None:
        path = write("k.cu", '#include <cuda_fp16.h>\nextern "C" ' + KERNEL)
        write("mine/cuda_fp16.h", "#define A 1\n#define B 2\n")
        mine = (tmp_path / "mine",)
        code = compile_source(path, architecture=SM_89, include_folders=mine, cache=None)
        assert code.entries.keys() == {"k"}

    @pytest.mark.parametrize("header", ["cuda_fp16.h", "cuda_bf16.h", "mma.h", "cuda_fp8.h"])
    def test_cudas_own(self, write: Write, header: str) -> None:
        headers = find_headers()
        if headers is None or headers.note is not None:
            pytest.skip("no complete CUDA headers of NVRTC's version on this machine")
        code = build(write(text=f'#include <{header}>\nextern "C" __global__ void k() {{}}'))
        assert code.source_hash is not None
        assert code.headers == headers.describe()
        assert build(write(text='extern "C" __global__ void k() {}')).code != b""


KERNEL = '__global__ void k(int* x) { static_assert(A == 1 && B == 2, ""); *x = A + B; }\n'


class TestClamping:
    def test_ptx(self, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        exact = build(data / "parameters.cu")
        monkeypatch.setattr(compiler, "supported_architectures", lambda: (75, 80))
        code = compile_source(data / "parameters.cu", architecture=Architecture(9, 0), cache=None)
        assert (code.kind, code.target) == (CodeKind.PTX, "compute_80")
        assert b".entry" in code.code
        assert set(code.entries.values()) == {None}  # not known, and not 0
        assert code.parameters == exact.parameters
        assert "sm_90" in code.notes[0]

    def test_cubin(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compiler, "supported_architectures", lambda: (75, 80, 90))
        code = build(write())
        assert (code.kind, code.target) == (CodeKind.CUBIN, "sm_80")
        assert "sm_89" in code.notes[0]
