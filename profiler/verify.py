"""Whether a kernel's result is its reference's, element by element. No kernel is timed before."""

from collections.abc import Mapping

import numpy as np

from rooflens.errors import VerificationError
from rooflens.kernels.spec import Array, Tolerance
from rooflens.measurement import Verification

CHUNK_ELEMENTS = 1 << 22


def compare(
    outputs: Mapping[str, Array], references: Mapping[str, Array], tolerance: Tolerance
) -> Verification:
    """Compares all outputs with their float64 references under |out - ref| <= abs + rel * |ref|.

    A NaN passes only where the reference is NaN, an infinity only where the reference is the same
    one. Errors are over all outputs together; the failure names the worst element of the first
    output that fails. Raises VerificationError if names or shapes differ.
    """
    if set(outputs) != set(references):
        raise VerificationError(
            f"outputs {sorted(outputs)} are compared with references {sorted(references)}"
        )
    worst, error_squared, reference_squared, finite = 0.0, 0.0, 0.0, True
    failure: str | None = None
    for name, reference in references.items():
        output = outputs[name]
        if output.shape != reference.shape:
            raise VerificationError(
                f"output {name} has shape {output.shape}, its reference {reference.shape}"
            )
        flat_out, flat_ref = output.reshape(-1), reference.reshape(-1)
        bad = 0
        worst_excess, worst_index = -1.0, 0
        for start in range(0, flat_ref.size, CHUNK_ELEMENTS):
            ref = flat_ref[start : start + CHUNK_ELEMENTS].astype(np.float64)
            out = flat_out[start : start + CHUNK_ELEMENTS].astype(np.float64)
            error, excess = _errors(out, ref, tolerance)
            # What agrees exactly, NaN with NaN and infinity with infinity, has error 0.
            comparable = np.isfinite(error)
            finite = finite and bool(comparable.all())
            worst = max(worst, float(error[comparable].max(initial=0.0)))
            error_squared += float(np.square(error[comparable]).sum())
            reference_squared += float(np.square(ref[np.isfinite(ref)]).sum())
            wrong = ~(excess <= 0)
            bad += int(wrong.sum())
            if wrong.any():
                ranked = np.where(np.isnan(excess), np.inf, excess)
                index = int(np.argmax(ranked))
                if ranked[index] > worst_excess:
                    worst_excess, worst_index = float(ranked[index]), start + index
        if bad and failure is None:
            place = ", ".join(str(int(i)) for i in np.unravel_index(worst_index, reference.shape))
            failure = (
                f"{bad} of {flat_ref.size} elements of {name} are out of tolerance; worst at "
                f"[{place}]: got {float(flat_out[worst_index])!r}, "
                f"expected {float(flat_ref[worst_index])!r}"
            )
    relative = None
    if finite and reference_squared > 0:
        relative = float(np.sqrt(error_squared / reference_squared))
    return Verification(
        passed=failure is None,
        max_abs_error=worst if finite else None,
        relative_l2_error=relative,
        absolute_tolerance=tolerance.absolute,
        relative_tolerance=tolerance.relative,
        tolerance_reason=tolerance.reason,
        failure=failure,
    )


def _errors(out: Array, ref: Array, tolerance: Tolerance) -> tuple[Array, Array]:
    """|out - ref| and by how much it is over the limit; NaN and inf follow the rule of compare."""
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(out - ref)
        limit = tolerance.absolute + tolerance.relative * np.abs(ref)
        same = (out == ref) | (np.isnan(out) & np.isnan(ref))
        error = np.where(same, 0.0, error)
        excess = np.where(same, 0.0, error - limit)
        # An infinite reference has an infinite limit, which would let anything finite pass.
        excess = np.where(~same & ~np.isfinite(ref), np.inf, excess)
    return error, excess
