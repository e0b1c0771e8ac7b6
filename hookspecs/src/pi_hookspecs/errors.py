"""Every error that pi raises on purpose, so that one ``except PiError`` separates them from bugs.

```text
PiError
├── UserError              the user can act on it: printed as one line, carries the exit code
│   ├── NoModel            no usable model is configured
│   ├── MissingKey         the provider is known, its key is not
│   ├── UnknownName        no such option, provider, plugin ...; knows the nearest names
│   └── WrongUse           the command line is wrong: exit code 2
├── Aborted                the run was stopped on request
├── AgentBusy              a second prompt while one is running
├── RequestFailed          a model request ended in an error; providers turn it into an ``Error`` event
├── UsageLimitExceeded     a run was stopped because it would have exceeded the program's limits
├── InvalidOutput          an answer does not match the requested output type
├── InvalidArguments       a tool call's arguments do not fit the tool's schema
├── PluginError            a plugin did something invalid; names the plugin
└── StaleObject            a ``pi`` or ``ctx`` from before a reload, or of a session that has ended
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.messages import Usage

__all__ = [
    "Aborted",
    "AgentBusy",
    "InvalidArguments",
    "InvalidOutput",
    "MissingKey",
    "NoModel",
    "PiError",
    "PluginError",
    "RequestFailed",
    "StaleObject",
    "UnknownName",
    "UsageLimitExceeded",
    "UserError",
    "WrongUse",
]


class PiError(Exception):
    """Root of all errors that pi raises on purpose."""


class UserError(PiError):
    """An error that the user can fix; printed without a traceback.

    Attributes:
        exit_code: The process's exit code when it is not handled.
    """

    exit_code = 1


class WrongUse(UserError):
    """Arguments of a command that it does not take; the message names the command's ``--help``."""

    exit_code = 2


class NoModel(UserError):
    """No model is selected and none can be chosen."""


class MissingKey(UserError):
    """A known provider has no key; the message says how to set one."""


class UnknownName(UserError):
    """A name that is not known.

    Args:
        kind: What was looked up, as the message names it: ``"option"``, ``"plugin"``.
        name: The name as the user wrote it.
        known: All valid names.
        hint: What to do when no name is similar.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), hint: str = "") -> None:
        from difflib import get_close_matches  # only an error needs it, start-up does not

        self.kind = kind
        self.name = name
        self.nearest = get_close_matches(name, sorted(known), n=3, cutoff=0.6)
        message = f"Unknown {kind}: {name}"
        if self.nearest:
            message += f". Did you mean {' or '.join(self.nearest)}?"
        elif hint:
            message += f". {hint}"
        super().__init__(message)


class Aborted(PiError):
    """The run was aborted; the message is the reason."""


class AgentBusy(PiError):
    """The agent is already working on a prompt: steer it, or queue a follow-up."""


class RequestFailed(PiError):
    """A model request that failed.

    Args:
        message: Status and body as the API sent them, or the transport's error.
        status: HTTP status; None if there was no answer.
        retry_after_ms: The server's own hint, in milliseconds.
        request_id: The server's id of the request, for support.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after_ms: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.request_id = request_id


class UsageLimitExceeded(PiError):
    """A run was stopped because it would have used more than ``UsageLimits`` allow; the conversation can go on.

    Args:
        message: Which limit, and how much was used.
        limit: The limit's name, for example ``"requests"``.
        requests: Requests to models that were made.
        tool_calls: Tool calls that ran.
        usage: Tokens and cost in total.
    """

    def __init__(self, message: str, *, limit: str, requests: int, tool_calls: int, usage: Usage) -> None:
        super().__init__(message)
        self.limit = limit
        self.requests = requests
        self.tool_calls = tool_calls
        self.usage = usage


class InvalidOutput(PiError):
    """An answer does not match ``output_type``, after it was requested a second time.

    Args:
        message: What does not match.
        text: The answer as the model wrote it.
    """

    def __init__(self, message: str, *, text: str) -> None:
        super().__init__(message)
        self.text = text


class InvalidArguments(PiError):
    """Arguments of a tool call that do not fit the schema; the message is written for the model."""


class PluginError(PiError):
    """A plugin registered or did something invalid.

    Args:
        plugin: Name of the plugin, as in ``pi plugins`` and ``--disable``.
        message: What happened, why, and what to do.
    """

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(message)
        self.plugin = plugin


class StaleObject(PiError):
    """A ``pi`` or ``ctx`` was used after a reload, or after its session had ended."""
