"""The error tree. Each message says what, what was got, what was expected and what to do.

The command line catches `RooflensError` once and exits with `exit_code`.
"""


class RooflensError(Exception):
    """Base of every error that rooflens raises on purpose."""

    exit_code = 2

    @property
    def hint(self) -> str | None:
        """What the user can do about it, if that is not in the message itself."""
        return None


class UsageError(RooflensError):
    """The caller asked for something that does not exist or makes no sense (exit code 2)."""


class UnknownNameError(UsageError):
    """A name that is in no catalogue; lists the near matches."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        import difflib

        by_folded = {entry.casefold(): entry for entry in known}
        near = difflib.get_close_matches(name.casefold(), by_folded, n=4, cutoff=0.4)
        matches = [by_folded[entry] for entry in near]
        advice = f"did you mean {', '.join(matches)}?" if matches else f"known: {', '.join(known)}"
        super().__init__(f"unknown {kind} {name!r}: {advice}")
        self.kind = kind
        self.name = name
        self.near = tuple(matches)


class StorageError(UsageError):
    """A file or folder cannot be written (exit code 2)."""


class DataFormatError(RooflensError):
    """A file is not what it should be.

    `path` is the file, `line` its line if known, `field` the entry at fault if known.
    """

    def __init__(
        self, message: str, *, path: str, line: int | None = None, field: str | None = None
    ) -> None:
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {message}" if field is None else f"{place}: {field}: {message}")
        self.path = path
        self.line = line
        self.field = field


class NotAvailableError(RooflensError):
    """The machine lacks something; `hint` says how to get it (exit code 3)."""

    exit_code = 3

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self._hint = hint

    @property
    def hint(self) -> str:
        return self._hint


class CompileError(RooflensError):
    """NVRTC refused a source; `log` is its output and `options` what it was given (exit code 1)."""

    exit_code = 1

    def __init__(self, message: str, *, log: str, options: tuple[str, ...]) -> None:
        super().__init__(f"{message}\n{log.strip()}" if log.strip() else message)
        self.log = log
        self.options = options


class VerificationError(RooflensError):
    """A kernel's result is not its reference's (exit code 1)."""

    exit_code = 1


class TimingError(RooflensError):
    """A time could not be taken as the method demands (exit code 1)."""

    exit_code = 1


class DoesNotFitError(UsageError):
    """Buffers larger than the device's memory; refused before anything is allocated."""


class CudaError(RooflensError):
    """A driver or runtime call failed: its code, the code's name and the call (exit code 1)."""

    exit_code = 1

    def __init__(self, *, code: int, name: str, call: str) -> None:
        super().__init__(f"{call} failed: {name} ({code})")
        self.code = code
        self.name = name
        self.call = call


class NotSupportedError(RooflensError):
    """A kernel variant cannot do this size, dtype or card; the row is skipped with this reason."""
