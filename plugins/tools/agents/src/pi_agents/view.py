"""What an agent does, on the screen: its conversation as lines, which grow while it works."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from pi_agents.member import summary_of
from pi_hookspecs import AssistantMessage, Line, Run, ToolResultMessage, UserError, text_of
from pi_terminal_kit.words import fitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_agents.crew import Crew
    from pi_hookspecs import FullUserInterface, PiContext, ScreenHandle

__all__ = ["AgentView", "open_view"]

_FALLBACK = 20
"""Lines that front ends without components display."""
_RESULT = 6
"""Lines of a tool's result that are displayed."""
_AROUND = 8
"""Rows of the screen that the view leaves to the front end."""


class AgentView:
    """Draws an agent's conversation.

    Args:
        screen: Where it is drawn.
        title: Returns its first line.
        messages: Returns the conversation.
        stop: Returns what stops the agent; None for one that has ended.
    """

    def __init__(
        self,
        screen: ScreenHandle,
        title: Callable[[], str],
        messages: Callable[[], Sequence[Any]],
        stop: Callable[[], Callable[[], object] | None],
    ) -> None:
        self._screen = screen
        self._title = title
        self._messages = messages
        self._stop = stop
        self._above = 0
        """Lines between the last one that is displayed and the end; 0 follows what the agent does."""
        self._laid_out: dict[int, tuple[Any, int, list[Line]]] = {}
        """For the id of a message: the message, the width and its lines. A long conversation is laid out once."""

    def render(self, width: int) -> list[Line]:
        """Return title, conversation and keys."""
        room = max(3, self._screen.size.height - _AROUND)
        self._laid_out = {id(message): self._laid(message, width) for message in self._messages()}
        lines = [line for _, _, found in self._laid_out.values() for line in found]
        self._above = min(self._above, max(0, len(lines) - room))
        end = len(lines) - self._above
        keys = f"↑↓ scroll{' · s stop' if self._stop() else ''} · escape close"
        return [
            Line.of(Run(self._title()[:width], role="accent", bold=True)),
            *lines[max(0, end - room) : end],
            *_wrapped(keys, width, "muted"),
        ]

    def _laid(self, message: Any, width: int) -> tuple[Any, int, list[Line]]:
        found = self._laid_out.get(id(message))
        if found is not None and found[:2] == (message, width):
            return found
        return message, width, [*_lines(message, width)]

    def handle_key(self, key: str) -> bool:
        """Scroll, stop the agent, or close the view."""
        page = max(1, self._screen.size.height - _AROUND - 1)
        moves = {"up": 1, "down": -1, "pageup": page, "pagedown": -page}
        if key in ("escape", "q", "enter"):
            self._screen.done()
        elif key == "s" and (stop := self._stop()) is not None:
            stop()
        elif key in moves:
            self._above = max(0, self._above + moves[key])
        else:
            return False
        self._screen.refresh()
        return True


async def open_view(crew: Crew, member_id: str, ctx: PiContext) -> None:
    """Display an agent until the user closes it.

    Raises:
        UserError: There is no such agent, or its session cannot be read.
    """
    record = next((each for each in crew.records(ctx) if each["id"] == member_id), None)
    if record is None:
        crew.get(member_id)
        raise UserError(f"There is no agent {member_id!r}")
    member = crew.members.get(member_id)
    session = member.session if member is not None else None
    stored: Sequence[Any] = ()
    if session is None and record["session"]:
        view = await ctx.sessions.open(record["session"])
        stored = [message for entry in view.branch() if (message := getattr(entry, "message", None)) is not None]

    def title() -> str:
        return member.summary() if member is not None else summary_of(record)

    updates: list[Any] = []  # the last event of an answer that is being received

    def messages() -> Sequence[Any]:
        return [*session.messages, *(each.message for each in updates)] if session is not None else stored

    async def fallback(ui: FullUserInterface) -> None:
        lines = [str(line) for message in messages() for line in _lines(message, 80)]
        ui.notify("\n".join([title(), *lines[-_FALLBACK:]]))

    def stopping() -> Callable[[], object] | None:
        running = member if member is not None and member.is_active else None
        return None if running is None else lambda: running.stop("The user stopped it")

    forget: list[Callable[[], object]] = []

    def make(screen: ScreenHandle) -> AgentView:
        if session is not None:
            forget.append(_follow(session, screen, updates))
        return AgentView(screen, title, messages, stopping)

    try:
        await ctx.ui.custom(make, fallback=fallback)
    finally:
        for each in forget:
            each()


def _follow(session: Any, screen: ScreenHandle, updates: list[Any]) -> Callable[[], object]:
    """Draw the view when the session's conversation grows, and keep the event of an incomplete answer."""

    def changed(event: Any) -> None:
        updates[:] = [event] if event.type == "message_update" else []
        screen.refresh()

    forget: Callable[[], object] = session.subscribe(changed, "message_update", "message_end", "tool_execution_end")
    return forget


def _lines(message: Any, width: int) -> Iterator[Line]:
    """Yield a message as lines."""
    if isinstance(message, AssistantMessage):
        yield from _wrapped(message.text, width, "text")
        for call in message.tool_calls:
            arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
            yield Line.of(Run(f"→ {call.name} {arguments}".replace("\n", " ")[:width], role="accent"))
    elif isinstance(message, ToolResultMessage):
        rows = list(_wrapped(text_of(message.content), width - 2, "error" if message.is_error else "muted"))
        yield from (Line.of(Run("  "), *row.runs) for row in rows[:_RESULT])
        if len(rows) > _RESULT:
            yield Line.of(Run(f"  ({len(rows) - _RESULT} more lines)", role="muted"))
    elif getattr(message, "role", "") == "user":
        yield from _wrapped(f"> {message.text}", width, "accent")


def _wrapped(text: str, width: int, role: str) -> Iterator[Line]:
    for line in text.strip().splitlines():
        for row in _rows(line, max(1, width)):
            yield Line.of(Run(row, role=role))


def _rows(line: str, width: int) -> Iterator[str]:
    """Yield the rows of a line, broken between words if possible."""
    if line.isascii():
        yield from textwrap.wrap(line, width, drop_whitespace=False, replace_whitespace=False) or [""]
        return
    while (end := max(fitting(line, width), 1)) < len(line):
        end = line.rfind(" ", 0, end) + 1 or end
        yield line[:end]
        line = line[end:]
    yield line
