"""``Children``: the sessions that plugins create for a conversation, and how their usage is accounted for.

The usage of a child session is spent, however the session ends. The result of the tool call for which it works may
contain its usage; otherwise the conversation gets a ``usage`` entry.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, evolve

import pi_hookspecs  # rare classes are loaded when a child is created
from pi_core.session import SessionManager
from pi_core.session.lookup import new_header
from pi_hookspecs import ChildSession, PiError, ToolResultMessage, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import AbortSignal, MessageEndEvent, Model

__all__ = ["Children", "create_child_session"]

MAX_DEPTH = 4
"""Maximum nesting of child sessions; without it, one that creates others through its tools would recurse endlessly."""


def create_child_session(parent: Runtime, options: Mapping[str, Any], signal: AbortSignal | None) -> Any:
    """Return a session in memory with its parent's plugins, models, settings, folder and model.

    Args:
        parent: The conversation whose plugin creates the session.
        options: Options of ``create_agent_session``. They take precedence over the parent's values, but tools that are
            excluded in the parent are also excluded in the child session.
        signal: An abort signal that also aborts the child session.

    Raises:
        PiError: The session would be nested too deeply, or ``signal`` is aborted.
    """
    front_end, state = parent.front_end, parent.agent.state
    if front_end.depth >= MAX_DEPTH:
        raise PiError(
            f"Child sessions can be nested {MAX_DEPTH} deep, and this one would be deeper. "
            "Give its parent no tools that create child sessions."
        )
    if signal is not None and signal.aborted:
        raise PiError(signal.reason or "Operation aborted")
    cwd = options.get("cwd", parent.cwd)
    inherited: dict[str, Any] = {
        "cwd": cwd,
        "host": parent.host,
        "settings": parent.settings,
        "model_registry": parent.models,
        "model": state.model,
        "thinking_level": state.thinking_level,
        "ui": front_end.ui if front_end.has_ui else None,
        "mode": front_end.mode,
        "flags": front_end.flags,
        "deps": front_end.deps,
    }
    if "session_manager" not in options:
        inherited["session_manager"] = SessionManager.in_memory(cwd)
    excluded = (*parent.toolbox.excluded, *options.get("exclude_tools", ()))  # what the user excluded stays excluded
    child: Any = parent.create_session(**{**inherited, **options, "exclude_tools": excluded})
    child.runtime.front_end.depth = front_end.depth + 1
    if signal is not None:
        signal.on_abort(lambda: child.parts.lifecycle.request_abort(signal.reason or "Operation aborted"))
    return child


@define(eq=False)
class _Child:
    """A child session.

    Attributes:
        session: Its ``AgentSession``; None after it has ended, so that its conversation can be freed.
        info: The description that plugins see.
        model: The model that it used last.
        has_started: Whether ``child_session_start`` was emitted.
        is_call_over: Whether no result of its call can contain its usage any more.
        is_accounted: Whether an entry of the parent contains its usage.
    """

    session: Any
    info: ChildSession
    model: Model | None = None
    has_started: bool = False
    is_call_over: bool = False
    is_accounted: bool = False

    @property
    def has_ended(self) -> bool:
        return self.info.status != "running"

    def refresh(self, status: Literal["running", "done", "failed"] = "running") -> None:
        """Update usage and status."""
        self.info = evolve(self.info, usage=self.session.parts.usage.spent(), status=status)

    def is_called_by(self, call_id: str) -> bool:
        """Whether it works for a tool call, or for a nested call inside that call."""
        call = self.info.parent_call
        return call is not None and (call == call_id or call.startswith(f"{call_id}/"))


class Children:
    """Creates the child sessions of a conversation.

    Args:
        runtime: The runtime of the conversation.
        lifecycle: Calls it when the conversation ends.
    """

    def __init__(self, runtime: Runtime, lifecycle: Lifecycle) -> None:
        self._runtime = runtime
        self._children: list[_Child] = []
        lifecycle.call_at_end(self._on_end)
        runtime.events.add(self._on_message_end, frozenset({"message_end"}))

    @property
    def infos(self) -> tuple[ChildSession, ...]:
        """All child sessions, oldest first."""
        for each in self._children:
            if not each.has_ended:
                each.refresh()
        return tuple(each.info for each in self._children)

    def unaccounted(self) -> Usage:
        """Return the usage of child sessions that no entry of the conversation contains yet."""
        infos = zip(self._children, self.infos, strict=True)
        return sum((info.usage for each, info in infos if not each.is_accounted), Usage())

    def create(self, options: Mapping[str, Any], signal: AbortSignal | None) -> Any:
        """Return a child session; see ``PiContext.create_session``."""
        given = dict(options)
        persist, call, label = given.pop("persist", False), given.pop("parent_call", None), given.pop("label", None)
        for name, value in (("parent_call", call), ("label", label)):
            if not isinstance(value, str | None):
                raise TypeError(f"create_session: {name} must be a string, not {value!r:.60}")
        if persist:
            if "session_manager" in given:
                raise PiError("create_session takes persist=True or a session_manager, not both")
            given["session_manager"] = self._stored(given.get("cwd", self._runtime.cwd), call)
        session: Any = create_child_session(self._runtime, given, signal)
        manager = session.session_manager
        if label:
            manager.append_session_info(label)
        file = str(manager.file) if manager.file is not None else None
        child = _Child(session, ChildSession(id=manager.id, file=file, label=label, parent_call=call))
        child.is_call_over = call is None
        session.subscribe(partial(self._on_child_event, child), "session_start", "message_end")
        session.parts.lifecycle.call_at_end(partial(self._on_child_end, child))
        self._children.append(child)
        return session

    def _stored(self, cwd: str | Path, call: str | None) -> SessionManager:
        """Return a new session next to the conversation's, or in memory if the conversation is in memory."""
        manager = self._runtime.manager
        if not manager.is_persisted:
            return SessionManager.in_memory(cwd)
        chosen = manager.shared_store()
        header = new_header(cwd, None, manager.reference)
        if call is not None:
            header = evolve(header, extra={"parentCall": call})
        return SessionManager(chosen, chosen.store.create(header))

    # Events of child sessions

    async def _on_child_event(self, child: _Child, event: Any) -> None:
        if event.type == "session_start":
            if not child.has_started:
                child.has_started = True
                await self._announce("Start", child)
        elif event.message.role == "assistant":
            child.refresh()
            await self._announce("Update", child)

    async def _on_child_end(self, child: _Child) -> None:
        answer = child.session.last_answer()
        failed = answer is None or answer.stop_reason in ("error", "aborted")
        child.refresh("failed" if failed else "done")
        child.model, child.session = child.session.model, None
        self._account(child)
        if child.has_started:
            await self._announce("End", child)

    def _on_message_end(self, event: MessageEndEvent) -> None:
        """Check whether a tool call's result contains the usage of the child sessions that worked for the call."""
        message = event.message
        if not isinstance(message, ToolResultMessage):
            return
        for child in self._children:
            if not child.is_call_over and child.is_called_by(message.tool_call_id):
                child.is_call_over = True
                child.is_accounted = message.usage is not None
                self._account(child)

    def _account(self, child: _Child) -> None:
        """Append the usage of an ended child session as an entry, if no result of a call will contain it."""
        if child.is_accounted or not (child.has_ended and child.is_call_over):
            return
        child.is_accounted = True
        info, model = child.info, child.model
        if not (info.usage.total_tokens or info.usage.cost.total):
            return
        purpose = f"agent:{info.label}" if info.label else "agent"
        self._runtime.manager.append_entry(
            pi_hookspecs.UsageEntry(
                id="",
                parent_id=None,
                timestamp="",
                kind=purpose,
                provider=model.provider if model is not None else "",
                model=model.id if model is not None else "",
                usage=info.usage,
                extra={"purpose": purpose, "childSession": info.id},  # the name that hooks and budgets use
            )
        )

    async def _on_end(self) -> None:
        """Stop the child sessions that are still running, because no caller waits for them any more."""
        for child in self._children:
            child.is_call_over = True
            if not child.has_ended:
                await child.session.dispose()
            self._account(child)

    async def _announce(self, what: str, child: _Child) -> None:
        make = partial(getattr(pi_hookspecs, f"ChildSession{what}Event"), child=child.info)
        await self._runtime.announce(f"child_session_{what.lower()}", make)
