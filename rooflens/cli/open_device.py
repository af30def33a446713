"""Which device a command runs on."""

from rooflens.analysis.hardware import DEFAULT_CARD, find_card
from rooflens.cli.console import remark
from rooflens.errors import NotAvailableError, UsageError
from rooflens.profiler.compile import CompileCache, nvrtc_version
from rooflens.profiler.device import Device


def open_device(name: str, target: str | None, cache: CompileCache | None) -> Device:
    """The device that --device and --target ask for.

    "auto" is the first card, or the model of `target` where there is none or `target` is given;
    "none" is the model; a number is that card. Raises UsageError for other text or for a number
    with a target, NotAvailableError for a card that is not there.
    """
    if name.isascii() and name.isdigit():
        if target is not None:
            raise UsageError(f"--target {target!r} is a card to model, --device {name} a real one")
        from rooflens.profiler.cuda import CudaDevice

        return CudaDevice(int(name), cache=cache)
    if name not in ("auto", "none"):
        raise UsageError(f"--device is auto, none or a card's number, got {name!r}")
    if name == "auto" and target is None:
        from rooflens.profiler.cuda import CudaDevice, count_devices

        try:
            reason = None if count_devices() else "the driver shows no GPU"
        except NotAvailableError as error:
            reason = str(error)
        if reason is None:
            return CudaDevice(0, cache=cache)
        nvrtc_version()  # without NVRTC there is nothing to model with, and that is the error
        remark(f"{reason}; modelling {DEFAULT_CARD}, nothing is executed or timed")
    from rooflens.profiler.model import ModelDevice

    return ModelDevice(hardware=find_card(DEFAULT_CARD if target is None else target), cache=cache)
