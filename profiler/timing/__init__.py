"""Timing short kernels, hot by graphs and cold by clock readings less calibrated constants."""

from rooflens.profiler.timing.calibrate import calibrate
from rooflens.profiler.timing.cold import time_cold
from rooflens.profiler.timing.hot import time_hot
from rooflens.profiler.timing.policy import TimingPolicy
from rooflens.profiler.timing.queue import Queue, Work

__all__ = ["Queue", "TimingPolicy", "Work", "calibrate", "time_cold", "time_hot"]
