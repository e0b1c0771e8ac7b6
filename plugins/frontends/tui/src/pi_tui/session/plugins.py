"""What plugins do for the screen. They run in the session's process: over a connection there is nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import Session
    from pi_hookspecs import Completion, Shortcut
    from pi_tui.lines.foreign import Drawings

__all__ = [
    "argument_completions",
    "drawings",
    "mention_completions",
    "press_key",
    "report_drawing",
    "shortcuts",
    "skip_waiting",
]


def drawings(session: Session) -> Drawings | None:
    """Return the methods that let plugins draw parts of the conversation."""
    return None if session.local is None else session.local.renderings


def report_drawing(session: Session, plugin: str | None, message: str, stack: str) -> None:
    """Report that drawing code of a plugin has failed."""
    if session.local is not None:
        session.local.report_plugin_error(plugin or "(program)", "drawing", message, stack)


def shortcuts(session: Session) -> Sequence[Shortcut]:
    """Return the shortcuts of plugins."""
    return () if session.local is None else session.local.commands.shortcuts()


async def press_key(session: Session, key: str) -> bool:
    """Call the plugin that registered this key; return False if there is none."""
    return session.local is not None and await session.local.commands.press_key(key)


async def argument_completions(session: Session, name: str, typed: str) -> Sequence[Completion]:
    """Return completions for the arguments of a command."""
    return () if session.local is None else await session.local.completions.arguments(name, typed)


async def mention_completions(session: Session, typed: str) -> Sequence[Completion]:
    """Return the mentions that plugins offer after an ``@``."""
    return () if session.local is None else await session.local.completions.mentions(typed)


def skip_waiting(session: Session) -> bool:
    """Skip the hooks that have been waited for; return whether there were any."""
    return session.local is not None and session.local.hooks.skip_waiting()
