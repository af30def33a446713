"""The one gate to NVRTC, through cuda.bindings 12.x and 13.x. Needs no GPU and no driver.

cuda.bindings is imported when a function is called, so this module can be imported without it.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflens.errors import CudaError, NotAvailableError

INSTALL_HINT = (
    "pip install 'rooflens[cuda13]' (or 'rooflens[cuda12]' for NVIDIA drivers older than 580)"
)
# nvrtcResult values (nvrtc.h) that say that the program or its options are at fault.
_INVALID_OPTION = 5
_COMPILATION = 6
_BUILTINS_FAILURE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What NVRTC said (log) and made (code; None where it refused the program or an option)."""

    log: str
    code: bytes | None


def nvrtc_version() -> tuple[int, int]:
    """(major, minor) of the NVRTC library in use; NotAvailableError where there is none."""
    version = _call(_bindings(), "nvrtcVersion")
    return int(version[0]), int(version[1])


def supported_architectures() -> tuple[int, ...]:
    """The architectures that NVRTC compiles for, ascending, as 10 * major + minor: (75, 80, ...).

    NotAvailableError where NVRTC is missing.
    """
    return tuple(sorted(int(each) for each in _call(_bindings(), "nvrtcGetSupportedArchs")[0]))


def nvrtc_build() -> str:
    """What tells one NVRTC library from another: its version and its file's size in bytes.

    NVRTC gives no patch number, and two patches of one version make different code. The size is
    left out where the library's file cannot be found (bindings without cuda.pathfinder).
    """
    version = "{}.{}".format(*nvrtc_version())
    try:
        pathfinder: Any = importlib.import_module("cuda.pathfinder")
        library = Path(pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path)
        return f"{version}, {library.stat().st_size} bytes"
    except (ImportError, AttributeError, TypeError, RuntimeError, OSError):
        return version


def compile_program(
    source: bytes, *, name: bytes, options: Sequence[bytes], ptx: bool = False
) -> Outcome:
    """Compile one program to a cubin, or to PTX text. name is the file's path, for messages.

    NotAvailableError where NVRTC or its built-in functions are missing; CudaError where a call
    fails for a reason that is not the program's (out of memory).
    """
    bindings = _bindings()
    program = _call(bindings, "nvrtcCreateProgram", source, name, 0, [], [])[0]
    try:
        answer = bindings.nvrtcCompileProgram(program, len(options), list(options))
        log = _text(_fetch(bindings, program, "nvrtcGetProgramLog"))
        result = int(answer[0])
        if result == _BUILTINS_FAILURE:
            raise NotAvailableError(
                f"NVRTC cannot use its library of built-in functions: {log.strip()}", INSTALL_HINT
            )
        if result in (_COMPILATION, _INVALID_OPTION):
            return Outcome(log=log, code=None)
        _checked(answer, "nvrtcCompileProgram")
        code = _fetch(bindings, program, "nvrtcGetPTX" if ptx else "nvrtcGetCUBIN")
        return Outcome(log=log, code=code)
    finally:
        bindings.nvrtcDestroyProgram(program)


def _bindings() -> Any:
    """cuda.bindings.nvrtc, with its library loaded (each is looked for only once by Python)."""
    try:
        module: Any = importlib.import_module("cuda.bindings.nvrtc")
        module.nvrtcVersion()  # the library is loaded by the first call into it
    except ImportError as error:
        raise NotAvailableError(f"cuda-bindings cannot be used: {error}", INSTALL_HINT) from error
    except (RuntimeError, OSError) as error:
        # cuda.pathfinder's DynamicLibNotFoundError is a RuntimeError, as is what older bindings
        # raise when the library or one of its functions is missing.
        reason = " ".join(str(error).split())
        raise NotAvailableError(f"the NVRTC library cannot be used: {reason}", INSTALL_HINT) from (
            error
        )
    return module


def _checked(answer: tuple[Any, ...], call: str) -> tuple[Any, ...]:
    """The values that a call returned behind its result code, or CudaError."""
    code = int(answer[0])
    if code != 0:
        raise CudaError(code=code, name=str(getattr(answer[0], "name", code)), call=call)
    return answer[1:]


def _call(bindings: Any, call: str, *arguments: object) -> tuple[Any, ...]:
    return _checked(getattr(bindings, call)(*arguments), call)


def _fetch(bindings: Any, program: Any, call: str) -> bytes:
    """The bytes that a pair of calls gives: nvrtcGetXSize for their number, nvrtcGetX for them.

    The buffer is a bytearray of our own, because NVRTC writes into it: a bytes object of length
    one (an empty log) is shared by the whole interpreter.
    """
    size = int(_call(bindings, f"{call}Size", program)[0])
    buffer = bytearray(size)
    _call(bindings, call, program, buffer)
    return bytes(buffer)


def _text(raw: bytes) -> str:
    return raw.rstrip(b"\0").decode("utf-8", errors="replace")
