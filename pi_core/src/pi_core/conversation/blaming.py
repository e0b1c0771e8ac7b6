"""What a plugin's service raises is told as that plugin's failure, and becomes an error that front ends know."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pi_core.agent.safe_text import described
from pi_core.hooks.containment import Contained
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.conversation.session import AgentSession

__all__ = ["blaming"]


@contextmanager
def blaming(session: AgentSession, plugin: str, step: str, task: str) -> Iterator[None]:
    """Run a plugin's code.

    Args:
        session: Whose subscribers are told.
        plugin: Whose code it is.
        step: Where it stands, as ``Compactor.compact``.
        task: What it was to do, as in "failed to compact".

    Raises:
        PiError: What the code raised, as it is or with the plugin's name.
    """

    def blame(error: BaseException) -> None:
        line, stack = described(error)
        message = f"Plugin {plugin!r} failed to {task}: {line}"
        session.complain(plugin, step, message, stack)
        raise PiError(message) from error

    with Contained(blame, passing=PiError):
        yield
