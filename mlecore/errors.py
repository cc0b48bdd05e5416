"""Every error that mlecore raises on purpose: what is wrong, where, and what to do about it."""

from __future__ import annotations

from mlecore.redaction import redacted


class MlecoreError(Exception):
    """The root of the hierarchy.

    ``str(error)`` is the whole message; ``fix`` is its last line, what the reader can do, where there is such a thing.
    ``exit_code`` is what the command line ends with: 1 the thing checked is bad, 2 wrong usage, 3 undecided.
    Secrets in either are replaced by asterisks.
    """

    exit_code = 3

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        message, fix = redacted(message), redacted(fix) if fix else fix
        super().__init__(f"{message}\n{fix}" if fix else message)
        self.message = message
        self.fix = fix

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the fix, so that it survives the way back from a worker process."""
        return (_rebuild, (type(self), self.message, self.fix))


def _rebuild(cls: type[MlecoreError], message: str, fix: str | None) -> MlecoreError:
    return cls(message, fix=fix)


class InvalidSubmission(MlecoreError):
    """A submission that Kaggle's grader would refuse: the agent's fault, with the reason."""

    exit_code = 1


class UsageError(MlecoreError):
    """The caller asked for something impossible: an unknown name or option, a plan that contradicts itself."""

    exit_code = 2


class NotPrepared(UsageError):
    """The data of a competition are not prepared yet."""


class PluginError(MlecoreError):
    """A plugin is broken or did what its contract forbids; the message names the plugin and the hook."""


class DataError(MlecoreError):
    """Data are not what they should be: a damaged archive, a wrong checksum, a disk that is full."""


class DiskError(DataError):
    """A disk that mlecore needs is full, unmounted or failing: once it works again, a retry succeeds."""


class GradingError(MlecoreError):
    """A submission could not be graded, and not through its own fault: damaged answers, a bug, a limit of mlecore."""


class BackendError(MlecoreError):
    """A backend cannot do what was asked; asking again will not help, the fix will."""


class EndpointError(MlecoreError):
    """A model's endpoint cannot serve runs now: it is unreachable, fails, or the account's quota is used up."""


class ImageGone(BackendError):
    """What a backend built for an agent was removed. Building it again helps."""


class BackendUnreachable(BackendError):
    """A backend does not answer, so nothing is known about its jobs; ask again later."""
