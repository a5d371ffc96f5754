"""One tree of errors; each class carries the exit code of CONTRACT section 6.

::

    MunimentError (1)
    |- UsageError (2)
    |- NotFoundError (4)
    |- DamageError (5)
    |- NoStoreError (10)
    |- LockedError (11)
    |- StateError (12)
    |- NoSpaceError (13)
    |- MissingToolError (14)
    |- RemoteError (1)      what is asked for lies elsewhere, and can't be reached now
    `- InputError (3)       one input is at fault; a batch goes on
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a process says when it ends; the table is part of ``--help``."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTIAL = 3
    NOT_FOUND = 4
    DAMAGE = 5
    NO_STORE = 10
    LOCKED = 11
    STATE = 12
    NO_SPACE = 13
    MISSING_TOOL = 14
    INTERRUPTED = 130
    TERMINATED = 143


class MunimentError(Exception):
    """Anything this project raises on purpose.

    ``code`` is a stable word for machines, ``hint`` the next thing a person can do.
    """

    exit_code = ExitCode.FAILED
    code = "failed"

    def __init__(
        self, message: str, *, code: str | None = None, hint: str = "", path: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.hint = hint
        self.path = path


class UsageError(MunimentError):
    """The request itself is wrong: an option, a value, a configuration file."""

    exit_code = ExitCode.USAGE
    code = "usage"


class NotFoundError(MunimentError):
    """No such object in this scope, or ``--require`` was not met."""

    exit_code = ExitCode.NOT_FOUND
    code = "not_found"


class DamageError(MunimentError):
    """What is stored does not match what was recorded of it."""

    exit_code = ExitCode.DAMAGE
    code = "damaged"


class NoStoreError(MunimentError):
    """There is no store at this root."""

    exit_code = ExitCode.NO_STORE
    code = "no_store"


class LockedError(MunimentError):
    """Another process holds the lock; trying later will do."""

    exit_code = ExitCode.LOCKED
    code = "locked"


class StateError(MunimentError):
    """The store's state or version refuses the operation."""

    exit_code = ExitCode.STATE
    code = "state"


class NoSpaceError(MunimentError):
    """The file system is full."""

    exit_code = ExitCode.NO_SPACE
    code = "no_space"


class MissingToolError(MunimentError):
    """A program, library or model that the work needs is absent."""

    exit_code = ExitCode.MISSING_TOOL
    code = "missing_tool"


class RemoteError(MunimentError):
    """A server can't be reached or refuses; nothing is lost, and trying later may do."""

    code = "store_unreachable"


class InputError(MunimentError):
    """One input can't be read; the batch goes on and the reason is kept.

    ``status`` is one of ``partial, empty, encrypted, unsupported, skipped, failed``.
    ``transient`` says that the fault is the machine's or ours, so the next run tries again.
    """

    exit_code = ExitCode.PARTIAL
    code = "unreadable"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: str = "failed",
        transient: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.status = status
        self.transient = transient

    def __reduce__(self) -> tuple[object, ...]:
        """Keep keyword state across a process border (``Exception`` would drop it)."""
        state = {
            "code": self.code,
            "status": self.status,
            "transient": self.transient,
            "hint": self.hint,
        }
        return (_input_error, (self.message, state))


def _input_error(message: str, state: dict[str, object]) -> InputError:
    return InputError(message, **state)  # type: ignore[arg-type]  # the keywords above
