"""Where a session's numbers come from: versions of what runs, and the time."""

import datetime
import platform
from collections.abc import Mapping, Sequence

from rooflens.profiler.revision import git_revision
from rooflens.run import Calibration, Provenance
from rooflens.version import VERSION


def provenance_now(
    arguments: Sequence[str],
    *,
    versions: Mapping[str, str | None] | None = None,
    headers: str | None = None,
    calibration: Calibration | None = None,
    notes: Sequence[str] = (),
) -> Provenance:
    """The provenance of what is done now. `versions` are by the names of Provenance's fields."""
    known = versions or {}
    return Provenance(
        created_utc=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        rooflens_version=VERSION,
        git_revision=git_revision(),
        python_version=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        headers=headers,
        arguments=tuple(arguments),
        calibration=calibration,
        driver_version=known.get("driver_version"),
        driver_cuda_version=known.get("driver_cuda_version"),
        nvrtc_version=known.get("nvrtc_version"),
        cuda_bindings_version=known.get("cuda_bindings_version"),
        cuda_core_version=known.get("cuda_core_version"),
        notes=tuple(notes),
    )
