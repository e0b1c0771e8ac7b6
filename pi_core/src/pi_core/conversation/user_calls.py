"""What front ends call of a plugin: a command, its arguments' completion, a key, a renderer; failures are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import shown
from pi_core.hooks.containment import reported

if TYPE_CHECKING:
    from pi_core.conversation.session import AgentSession

__all__ = ["complete_command", "press_key", "render_custom", "run_command"]


async def run_command(session: AgentSession, text: str) -> bool:
    """Run the slash command that a text is; False when it is none."""
    name, _, arguments = text.removeprefix("/").partition(" ")
    found = session.registered.find("register_commands", name) if text.startswith("/") else None
    if found is not None:
        await _call(session, found.plugin, ("command", f"/{name}"), found.thing.handler, arguments.strip(), session.ctx)
    return found is not None


async def press_key(session: Any, key: str) -> bool:
    """Do what a key does; False when no plugin has it."""
    found = session.registered.find("register_shortcuts", key)
    if found is not None:
        await _call(session, found.plugin, ("shortcut", key), found.thing.handler, session.ctx)
    return found is not None


def complete_command(session: Any, name: str, text: str) -> tuple[str, ...]:
    """Return what the arguments of a command, as far as they are typed, could become."""
    found = session.registered.find("register_commands", name)
    if found is None or found.thing.complete is None:
        return ()
    answer, failed = None, f"to complete the arguments of /{name}"
    with reported(session.complain, found.plugin, "command", failed, found.thing.complete):
        answer = found.thing.complete(text)
    if answer is None:
        return ()
    if not isinstance(answer, list | tuple) or not all(isinstance(each, str) for each in answer):
        getattr(answer, "close", bool)()  # it may be a coroutine
        message = f"Plugin {found.plugin!r} failed {failed}: it answered {shown(answer)}, which is no list of texts"
        session.complain(found.plugin, "command", message)
        return ()
    return tuple(answer)


def render_custom(session: Any, value: Any, *, width: int, expanded: bool) -> tuple[str, ...] | None:
    """Return the lines in which a plugin shows a custom message or entry; None where none can."""
    found = session.registered.find("register_renderers", value.custom_type)
    if found is None:
        return None
    render = found.thing.render
    with reported(session.complain, found.plugin, "renderer", f"to show a {value.custom_type!r}", render):
        return tuple(map(str, render(value, width=width, expanded=expanded)))
    return None


async def _call(session: AgentSession, plugin: str, what: tuple[str, str], handler: Any, *arguments: Any) -> None:
    step, name = what
    with reported(session.complain, plugin, step, f"in {step} {name}", handler):
        waiting: Any = handler(*arguments)
        if hasattr(waiting, "__await__"):  # what a plain function returns is not used
            await waiting
