import sys
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import pytest

from rooflens.errors import CudaError, NotAvailableError
from rooflens.profiler.compile import nvrtc_version, supported_architectures
from rooflens.profiler.compile.nvrtc import compile_program, nvrtc_build


class Result(IntEnum):
    SUCCESS = 0
    NVRTC_ERROR_OUT_OF_MEMORY = 1
    NVRTC_ERROR_COMPILATION = 6
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7


class FakeBindings:
    """cuda.bindings.nvrtc with a compiler whose result and log are given."""

    def __init__(self, result: Result = Result.SUCCESS, log: bytes = b"") -> None:
        self.result = result
        self.log = log + b"\0"
        self.destroyed = 0

    def nvrtcVersion(self) -> tuple[Result, int, int]:  # noqa: N802
        return Result.SUCCESS, 12, 4

    def nvrtcGetSupportedArchs(self) -> tuple[Result, list[int]]:  # noqa: N802
        return Result.SUCCESS, [90, 75]

    def nvrtcCreateProgram(self, *_: Any) -> tuple[Result, object]:  # noqa: N802
        return Result.SUCCESS, object()

    def nvrtcCompileProgram(self, *_: Any) -> tuple[Result]:  # noqa: N802
        return (self.result,)

    def nvrtcGetProgramLogSize(self, _: Any) -> tuple[Result, int]:  # noqa: N802
        return Result.SUCCESS, len(self.log)

    def nvrtcGetProgramLog(self, _: Any, buffer: bytearray) -> tuple[Result]:  # noqa: N802
        buffer[:] = self.log
        return (Result.SUCCESS,)

    def nvrtcGetCUBINSize(self, _: Any) -> tuple[Result, int]:  # noqa: N802
        return Result.SUCCESS, 3

    def nvrtcGetCUBIN(self, _: Any, buffer: bytearray) -> tuple[Result]:  # noqa: N802
        buffer[:] = b"ELF"
        return (Result.SUCCESS,)

    def nvrtcDestroyProgram(self, _: Any) -> tuple[Result]:  # noqa: N802
        self.destroyed += 1
        return (Result.SUCCESS,)


def install(monkeypatch: pytest.MonkeyPatch, bindings: Any) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", bindings)


def test_version_and_architectures(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeBindings())
    assert nvrtc_version() == (12, 4)
    assert supported_architectures() == (75, 90)


def test_bindings_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None)  # makes the import fail
    with pytest.raises(NotAvailableError, match="cuda-bindings") as caught:
        nvrtc_version()
    assert "rooflens[cuda13]" in caught.value.hint
    assert "rooflens[cuda12]" in caught.value.hint


@pytest.mark.parametrize("error", [RuntimeError("no\nlibnvrtc.so.13"), OSError("bad library")])
def test_library_missing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    install(monkeypatch, SimpleNamespace(nvrtcVersion=fail))
    with pytest.raises(NotAvailableError, match="NVRTC library") as caught:
        supported_architectures()
    assert "\n" not in str(caught.value)
    assert "rooflens[cuda13]" in caught.value.hint


def test_pathfinder_error_is_covered() -> None:
    pathfinder = pytest.importorskip("cuda.pathfinder")
    assert issubclass(pathfinder.DynamicLibNotFoundError, RuntimeError)


def test_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = FakeBindings(log=b"\xe9t\xe9")
    install(monkeypatch, bindings)
    outcome = compile_program(b"x", name=b"x.cu", options=[])
    assert (outcome.code, outcome.log) == (b"ELF", "\ufffdt\ufffd")
    assert bindings.destroyed == 1


def test_refusal_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = FakeBindings(Result.NVRTC_ERROR_COMPILATION, b"x.cu(1): error")
    install(monkeypatch, bindings)
    outcome = compile_program(b"x", name=b"x.cu", options=[])
    assert (outcome.code, outcome.log) == (None, "x.cu(1): error")
    assert bindings.destroyed == 1


def test_other_failures_are_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = FakeBindings(Result.NVRTC_ERROR_OUT_OF_MEMORY)
    install(monkeypatch, bindings)
    with pytest.raises(CudaError) as caught:
        compile_program(b"x", name=b"x.cu", options=[])
    assert (caught.value.code, caught.value.call) == (1, "nvrtcCompileProgram")
    assert caught.value.name == "NVRTC_ERROR_OUT_OF_MEMORY"
    assert bindings.destroyed == 1


def test_builtins_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = FakeBindings(
        Result.NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, b"failed to open libnvrtc-builtins.so.13.0"
    )
    install(monkeypatch, bindings)
    with pytest.raises(NotAvailableError, match=r"libnvrtc-builtins\.so\.13\.0"):
        compile_program(b"x", name=b"x.cu", options=[])
    assert bindings.destroyed == 1


def test_an_empty_log_leaves_the_interpreter_alone(nvrtc: tuple[int, int]) -> None:
    source = b'extern "C" __global__ void k() {}'
    outcome = compile_program(source, name=b"k.cu", options=[b"--gpu-architecture=sm_90"])
    assert outcome.code is not None
    assert outcome.log.strip() == ""
    assert bytes([32]) == b" "  # bytes of length one are shared; a write into one shows here


def test_real_library(nvrtc: tuple[int, int]) -> None:
    assert nvrtc[0] >= 12
    known = set(supported_architectures())
    assert {80, 86, 89, 90} <= known
    assert nvrtc < (12, 8) or {100, 120} <= known


def test_build_tells_libraries_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    install(monkeypatch, FakeBindings())
    library = tmp_path / "libnvrtc.so"

    def load(name: str) -> SimpleNamespace:
        assert name == "nvrtc"
        return SimpleNamespace(abs_path=str(library))

    monkeypatch.setitem(
        sys.modules, "cuda.pathfinder", SimpleNamespace(load_nvidia_dynamic_lib=load)
    )
    assert nvrtc_build() == "12.4"  # no such file
    library.write_bytes(b"12345")
    assert nvrtc_build() == "12.4, 5 bytes"
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    assert nvrtc_build() == "12.4"
