"""Kernels on a real card, through the driver: cuda.core where it has what is needed."""

from rooflens.profiler.cuda.device import CudaDevice
from rooflens.profiler.cuda.enumerate import count_devices, list_devices

__all__ = ["CudaDevice", "count_devices", "list_devices"]
