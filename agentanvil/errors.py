"""Every error that AgentAnvil raises on purpose.

AnvilError
├── InputError            fix your input: nothing was spent, exit 2
│   ├── UsageError            a flag or argument
│   ├── ConfigError           anvil.yaml, or an option that the judge cannot honour
│   ├── RubricError           the contract
│   ├── DatasetError          the rows
│   ├── RunFolderError        the folder holds another run, or is in use
│   └── JudgeSetupError       the judge cannot be used as named: unreachable, unknown, unauthorised
├── CallError             one call brought no verdict; `code` becomes the cell's judge_error code
│   ├── TransientError        may pass on retry
│   │   ├── RateLimitedError
│   │   ├── ServerFaultError
│   │   ├── ConnectionFaultError
│   │   ├── DeadlineError
│   │   └── MalformedBodyError
│   │       └── OtherContractError
│   ├── RejectedError         this request will never pass, others may
│   │   └── RequestTooLargeError
│   ├── ParameterRefusedError one parameter of the request is not accepted
│   └── EndpointError         no request will pass: key, model, quota; ends the run
├── BudgetReachedError    --max-calls or --max-cost: stop cleanly, resumable, exit 3
└── RunWriteError         the disk takes no more of a run: what it has is safe, resumable, exit 3
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """A place that a person can open: file, 1-based line, key or field."""

    file: str | None = None
    line: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        if self.key is None:
            return place
        return f"{place}: {self.key}" if place else self.key


def quoted(name: str, longest: int = 40) -> str:
    """Return `name` for a message: on one line, printable, and cut where it is long."""
    cut = name if len(name) <= longest else name[: longest - 1] + "…"
    return f"`{cut}`" if cut.isprintable() else repr(cut)


class AnvilError(Exception):
    """Base of the tree: what is wrong, where, and what to do about it."""

    def __init__(self, message: str, *, where: Where | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where is not None and str(self.where) else ""
        advice = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.message}{advice}"


class InputError(AnvilError):
    """Something the user gave cannot be used; nothing was spent."""


class UsageError(InputError):
    """A flag or argument is wrong."""


class ConfigError(InputError):
    """`anvil.yaml`, or an option that was set explicitly, cannot be honoured."""


class RubricError(InputError):
    """The rubric breaks its own format."""


class DatasetError(InputError):
    """A data file or a row of it cannot be read as declared."""


class RunFolderError(InputError):
    """The run folder belongs to another run, is damaged, or is in use."""


class JudgeSetupError(InputError):
    """The judge cannot be used as named."""


class CallError(AnvilError):
    """One judge call brought no verdict.

    `code` is the machine-readable kind that a report shows, such as `timeout`. `attempts` counts the wire
    requests that were spent on it. `billed_tokens` are those in and out that the provider counted all the same, and
    `cost` what they come to in US dollars; None where nobody said.
    """

    code = "call_failed"
    attempts = 1
    billed_tokens: tuple[int, int] | None = None
    cost: float | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code or type(self).code
        self.status = status


class TransientError(CallError):
    """The same request may pass later; `retry_after` is what the provider asked for, in seconds."""

    code = "transient"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint, status=status)
        self.retry_after = retry_after


class RateLimitedError(TransientError):
    """The provider said slow down (429, or the like inside a 200)."""

    code = "rate_limited"


class ServerFaultError(TransientError):
    """5xx, 408, 409, 529: the provider's own trouble."""

    code = "server_error"


class ConnectionFaultError(TransientError):
    """No connection, a reset, or a body cut short."""

    code = "connection"


class DeadlineError(TransientError):
    """The attempt's total deadline passed."""

    code = "timeout"


class MalformedBodyError(TransientError):
    """A 200 whose body is not the API's JSON (a proxy's page, half an object)."""

    code = "malformed_body"


class OtherContractError(MalformedBodyError):
    """An answer in the form of another provider's contract: the judge was named wrongly, unless others passed."""


class RejectedError(CallError):
    """The provider will never accept this very request; another row may pass."""

    code = "rejected"


class RequestTooLargeError(RejectedError):
    """The row does not fit the judge's context."""

    code = "request_too_large"


class ParameterRefusedError(CallError):
    """The endpoint refuses one parameter; `parameter` is the request-body name."""

    code = "parameter_refused"

    def __init__(self, message: str, *, parameter: str, status: int | None = None) -> None:
        super().__init__(message, status=status)
        self.parameter = parameter


class EndpointError(CallError):
    """No request to this endpoint and model will pass until a person mends something."""

    code = "endpoint"


class BudgetReachedError(AnvilError):
    """A limit is used up; the run stops and can be resumed. `flag` is what the limit is called by."""

    def __init__(self, message: str, *, hint: str | None = None, flag: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.flag = flag


class RunWriteError(AnvilError):
    """A file of the run cannot be written: a full disk, most likely. What is in the journal is safe."""
