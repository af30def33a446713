"""What each layernorm variant makes of rows with mean 1e4 and deviation 1e-2.

Needs a card. Prints, over the rows, how many are NaN and the median and largest of the others' root
mean square errors in deviations (a result of zeros errs by about 1). Run
    python benchmarks/layernorm_trap.py
"""

import numpy as np

from rooflens.kernels.layernorm import KERNELS
from rooflens.kernels.layernorm.trap import TRAP_DTYPE, TRAP_SIZE, trap_errors, trap_inputs
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice


def main() -> None:
    inputs = trap_inputs(TRAP_SIZE, np.random.default_rng(0))
    device = CudaDevice(0, cache=CompileCache.default())
    print(f"layernorm, {TRAP_SIZE}, {TRAP_DTYPE}: errors of rows, in deviations")
    print(f"{'variant':<16}{'NaN rows':>9}{'median':>10}{'largest':>10}")
    for kernel in KERNELS:
        with device.execute(device.prepare(kernel, TRAP_SIZE, TRAP_DTYPE)) as execution:
            errors = trap_errors(execution.run_checked(inputs)["y"], inputs)
        known = errors[~np.isnan(errors)]
        middle, largest = (
            (f"{np.median(known):.2g}", f"{known.max():.2g}") if known.size else ("-", "-")
        )
        print(f"{kernel.variant:<16}{errors.size - known.size:>9}{middle:>10}{largest:>10}")
    device.close()


if __name__ == "__main__":
    main()
