"""Asks plugins that redirect tools (``ToolOperations``) how one call accesses files or runs commands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pi_hookspecs
from pi_core.agent.safe_text import safe_repr, summary_and_traceback
from pi_core.hooks.containment import Contained
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import PiContext

__all__ = ["find_operations"]

_PROTOCOLS = {"files": "FileOperations", "commands": "CommandOperations"}
_OF_TOOLS = {
    "read": "ReadOperations",
    "write": "WriteOperations",
    "edit": "EditOperations",
    "grep": "GrepOperations",
    "find": "FindOperations",
    "ls": "LsOperations",
}
"""The protocol that the answer for each of these tools must implement at least."""


def find_operations(runtime: Runtime, ctx: PiContext, method: Literal["files", "commands"]) -> Any:
    """Return the first answer that is not None, asking plugins in reverse load order; None if no plugin answers.

    Raises:
        PiError: A plugin cannot be loaded, raised, or returned an object that lacks methods.
    """
    for provider in reversed(runtime.host.services("ToolOperations")):
        with Contained(partial(_fail, runtime, provider.plugin, method), passing=PiError):
            found = getattr(provider.thing, method)(ctx)
        if found is not None:
            _check(provider.plugin, method, found, getattr(ctx, "tool_name", None))
            return found
    return None


def _fail(runtime: Runtime, plugin: str, method: str, error: BaseException) -> NoReturn:
    line, stack = summary_and_traceback(error)
    message = f"Plugin {plugin!r} failed to choose where the {method} of this call are: {line}. Nothing was done."
    runtime.report_plugin_error(plugin, f"ToolOperations.{method}", message, stack)
    raise PiError(message) from error


def _check(plugin: str, method: str, found: object, tool: str | None) -> None:
    name = _OF_TOOLS.get(tool or "") if method == "files" else None
    protocol = getattr(pi_hookspecs, name or _PROTOCOLS[method])
    if isinstance(found, protocol):
        return
    names = {name for base in protocol.__mro__ for name in vars(base) if not name.startswith("_")}
    missing = ", ".join(sorted(name for name in names if not callable(getattr(found, name, None))))
    message = (
        f"Plugin {plugin!r} returned {safe_repr(found)} from ToolOperations.{method}, which lacks {missing}."
        f" Nothing was done. It must have all methods of {protocol.__name__}; Return None to keep the tool on this "
        f"machine."
    )
    raise PiError(message)
