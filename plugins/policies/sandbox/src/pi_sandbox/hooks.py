"""The sandbox's handlers in a session: they refuse if it cannot work, ask the user, undo changes, and explain."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import (
        AgentEndEvent,
        BeforeModelRequestEvent,
        BeforeModelRequestResult,
        PiAPI,
        PiContext,
        SessionShutdownEvent,
        SystemPromptEvent,
        SystemPromptResult,
        ToolCallEvent,
        ToolCallResult,
        ToolResultEvent,
        ToolResultResult,
    )
    from pi_sandbox.baseline import Undone
    from pi_sandbox.policy import Policy
    from pi_sandbox.state import Sandbox

__all__ = ["Hooks"]

_LOOKING = ("find", "grep", "ls", "read")
"""Tools that read or list in pi's own process, or start a program that does."""
_FETCHING = "fetch"
"""The tool that reaches the network in pi's own process; it follows no redirect to another host."""
_DRAWING = "generate_image"
"""The tool that reads images in pi's own process, and sends them to a model."""
_REFUSED = re.compile(
    r"Permission denied|Read-only file system|Operation not permitted|Network is unreachable|not resolve host"
    r"|Temporary failure in name resolution|Device or resource busy"
)

_STORED_LINES = 20
"""Maximum number of a command's output lines that look like refusals; a build may print one for each file."""

_HANDLERS = ("agent_end", "before_model_request", "session_shutdown", "system_prompt", "tool_call", "tool_result")
_LATE = "a process that was left running, or a server, made it"
_UNCERTAIN = "this call made it, or what ran at the same time"


class Hooks:
    """One session's handlers.

    Args:
        pi: Where the handlers are added if the sandbox is on.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._off: list[Callable[[], None]] = []
        self._pending: list[str] = []

    def start(self, ctx: PiContext) -> None:
        """Add the handlers, and report what cannot work."""
        while self._off:
            self._off.pop()()
        for name in _HANDLERS:
            self._off.append(self._pi.on(name, getattr(self, name)))
        try:
            sandbox = _sandbox(ctx)
        except PiError as error:
            if ctx.has_ui:  # elsewhere the first request, which is refused, ends pi with the message
                ctx.ui.notify(str(error), "error")
            return
        if sandbox is None:
            given = ctx.settings.get("sandbox")
            if isinstance(given, dict) and given and "mode" not in given and ctx.get_flag("sandbox") is None:
                names = ", ".join(f"sandbox.{each}" for each in sorted(given))
                ctx.ui.notify(f"{names} has no effect: sandbox.mode is not set.", "warning")
            return
        sandbox.report = partial(self._report, ctx)

    async def session_shutdown(self, event: SessionShutdownEvent, ctx: PiContext) -> None:
        """End what the session has left running, undo what it changed, and remove the session's temporary files."""
        from pi_sandbox.state import close_sandbox, open_sandbox, other_folders

        sandbox = open_sandbox(ctx.session.id)
        if sandbox is not None and event.reason == "reload":
            self._report(ctx, await sandbox.check())
            return
        if sandbox is not None:
            self._report(ctx, await sandbox.finish(other_folders(ctx.session.id)))
        close_sandbox(ctx.session.id)

    async def agent_end(self, _event: AgentEndEvent, ctx: PiContext) -> None:
        """Undo changes to protected files that no call has been found to make."""
        from pi_sandbox.state import open_sandbox

        sandbox = open_sandbox(ctx.session.id)
        if sandbox is not None:
            self._report(ctx, await sandbox.settled())

    def _report(self, ctx: PiContext, undone: Sequence[Undone]) -> None:
        """Report changes that were found while no call ended; the model reads it with its next result."""
        notes = [_sentence(each, _LATE) for each in undone]
        if not notes:
            return
        self._pending += notes
        self._pi.append_entry("sandbox", {"toolCallId": None, "tool": None, "refused": notes})
        ctx.ui.notify("\n".join(notes), "warning")

    async def before_model_request(
        self, _event: BeforeModelRequestEvent, ctx: PiContext
    ) -> BeforeModelRequestResult | None:
        """Refuse every request if the sandbox cannot work: no tool could run, and the answer would still cost money."""
        from pi_hookspecs import BeforeModelRequestResult

        try:
            sandbox = _sandbox(ctx)
        except PiError as error:
            return BeforeModelRequestResult(block=True, reason=str(error), exit_code=1)
        if sandbox is not None:
            self._report(ctx, await sandbox.check())
        return None

    def system_prompt(self, _event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
        """Tell the model its limits, so that it need not discover them."""
        from pi_hookspecs import PromptSection, SystemPromptResult

        try:
            sandbox = _sandbox(ctx)
        except PiError:
            return None  # the request is refused with the reason
        if sandbox is None:
            return None
        return SystemPromptResult(
            sections=[PromptSection(name="sandbox", text=_limits(sandbox.policy), source="sandbox")]
        )

    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Refuse hidden or protected paths, and hosts that are not listed; ask the user about folders outside."""
        sandbox = _sandbox(ctx)
        if sandbox is None:
            return None
        name, policy, reason = event.tool_name, sandbox.policy, None
        path = event.input.get("path", ".")
        if name == _FETCHING:
            reason = policy.refused_url(str(event.input.get("url")))
        elif name == _DRAWING:
            refusals = (policy.refused_read(_real(each, ctx)) for each in _texts(event.input.get("images")))
            reason = next((each for each in refusals if each is not None), None)
        elif isinstance(path, str) and name in ("write", "edit"):
            reason = policy.refused_write(real := _real(path, ctx))
            if reason is not None and await _granted(real, sandbox, ctx):
                return None
        elif isinstance(path, str) and name in _LOOKING:
            reason = policy.refused_read(_real(path, ctx))
        return None if reason is None else self._blocked(event, f"Not allowed: {reason}.")

    def _blocked(self, event: ToolCallEvent, reason: str) -> ToolCallResult:
        from pi_hookspecs import ToolCallResult

        self._store(event, [reason])
        return ToolCallResult(block=True, reason=reason)

    def _store(self, event: ToolCallEvent | ToolResultEvent, notes: list[str]) -> None:
        """Record in the session, next to the call, what the sandbox refused or undid."""
        self._pi.append_entry("sandbox", {"toolCallId": event.tool_call_id, "tool": event.tool_name, "refused": notes})

    async def tool_result(self, event: ToolResultEvent, ctx: PiContext) -> ToolResultResult | None:
        """Undo changes to protected files, and report what the sandbox refused."""
        from pi_hookspecs import TextContent, ToolResultResult

        sandbox = _sandbox(ctx)
        if sandbox is None:
            return None
        changes = await sandbox.ended(event.tool_call_id)
        notes = [_sentence(each, None if changes.certain else _UNCERTAIN) for each in changes.undone]
        failed = bool(notes) and changes.certain
        notes += self._pending
        self._pending = []
        if hosts := sandbox.refused_hosts():
            notes.append(f"The sandbox refused connections to {', '.join(hosts)}; sandbox.allow lists the hosts.")
        refused = [*notes]
        if event.tool_name == "bash":
            signs = [line for line in _text(event).splitlines() if _REFUSED.search(line)]
            refused += signs[:_STORED_LINES]
            notes += [f"Note of the sandbox: {_limits(sandbox.policy)}"] if signs else []
        if not notes:
            return None
        self._store(event, refused)
        content = (*event.content, TextContent("\n".join(notes)))
        return ToolResultResult(content=content, is_error=True if failed else None)


def _sentence(change: Undone, origin: str | None) -> str:
    made = f" ({origin})" if origin is not None else ""
    if not change.restored:
        return f"{change.path}, which the sandbox protects, was changed{made}, and could not be restored."
    evidence = f"; the changed version is in {change.evidence}" if change.evidence else ""
    return f"The sandbox undid a change of {change.path}, which is protected{made}{evidence}."


def _sandbox(ctx: PiContext) -> Sandbox | None:
    from pi_sandbox.state import sandbox_of

    return sandbox_of(ctx)


def _real(path: str, ctx: PiContext) -> str:
    return os.path.realpath(os.path.join(ctx.cwd, os.path.expanduser(path.removeprefix("@"))))


def _texts(given: object) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list | tuple) else []


def _text(event: ToolResultEvent) -> str:
    return "\n".join(getattr(block, "text", "") for block in event.content)


def _limits(policy: Policy) -> str:
    """Return the limits in words, for the model."""
    write = ", ".join(policy.write)
    network = {
        "off": "There is no network.",
        "allow": f"The network reaches {', '.join(policy.allow)} only, through the proxy of HTTPS_PROXY.",
        "open": "The network is open.",
    }[policy.network]
    return (
        f"Commands run in a sandbox. Files can be changed below {write} only, but not .git/hooks, .git/config, .pi and"
        f" other files that are run or read elsewhere; keys and logins cannot be read. {network} Temporary files "
        f"belong in $TMPDIR. Do not try to get around this; say what you need instead."
    )


async def _granted(path: str, sandbox: Sandbox, ctx: PiContext) -> bool:
    """Ask the user to allow changes in a path's folder; return False if there is no user to ask."""
    folder = os.path.dirname(path)
    if not ctx.has_ui or sandbox.policy.protecting(path) is not None:
        return False
    from pi_hookspecs import Approval, PermissionPlace, approval_choices
    from pi_sandbox.permissions import add_folder

    below = f"changes below {folder}"
    approval = Approval(
        f"Allow {below}?",
        what=path,
        why="The sandbox does not allow changes to this file.",
        choices=approval_choices(once=None, session=below, always=f"{below}, as sandbox.write in your settings"),
    )
    answer = await ctx.ui.approve(approval)
    if answer == "always":
        await add_folder(folder, PermissionPlace(cwd=ctx.cwd, settings=ctx.settings))
    elif answer == "session":
        sandbox.grant(folder)
    return answer is not None
