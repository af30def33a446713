"""The one place where CUDA libraries are imported and their failures become ours."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rooflens.errors import CudaError, NotAvailableError, RooflensError

INSTALL_HINT = "pip install 'rooflens[cuda13]' (rooflens[cuda12] for drivers older than 580)"


def driver_module() -> Any:
    """cuda.bindings.driver; NotAvailableError with the install command where it is missing."""
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise NotAvailableError(
            f"cuda-bindings cannot be imported: {error}", INSTALL_HINT
        ) from error


def core_module() -> Any:
    """cuda.core; NotAvailableError with the install command where it is missing or too old."""
    try:
        core = importlib.import_module("cuda.core")
    except ImportError as error:
        raise NotAvailableError(f"cuda-core cannot be imported: {error}", INSTALL_HINT) from error
    if not hasattr(core, "launch"):
        raise NotAvailableError("this cuda-core is older than 1.0", INSTALL_HINT)
    return core


def checked(result: tuple[Any, ...], call: str) -> Any:
    """The payload of a driver call's (status, ...) tuple; CudaError unless it succeeded."""
    status, *payload = result
    if int(status) != 0:
        raise CudaError(code=int(status), name=getattr(status, "name", str(status)), call=call)
    if not payload:
        return None
    return payload[0] if len(payload) == 1 else tuple(payload)


@contextmanager
def translated(call: str) -> Iterator[None]:
    """Turns errors of cuda.core inside the block into a CudaError of `call`."""
    try:
        yield
    except RooflensError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith("cuda."):
            raise
        # cuda.core writes "CUDA_ERROR_NAME: explanation"; the code has to be found by the name.
        name = str(error).split(":", 1)[0].strip()
        member = getattr(driver_module().CUresult, name, None)
        code = -1 if member is None else int(member)
        raise CudaError(code=code, name=name or type(error).__name__, call=call) from error
