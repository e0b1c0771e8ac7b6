"""Displays a session's events in a conversation: thinking, results of tools, queued messages, outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cli.line.tail import echo
from pi_cli.print_mode import PrintRun
from pi_cli.prompt_run import has_failed
from pi_cli.results import all_rows, last_line, preview_rows
from pi_cli.words import one_line, plain_row, shorten
from pi_core import expand_home
from pi_terminal_kit.settings import HIDE_THINKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pi_cli.line.typed import Line
    from pi_cli.options import Options
    from pi_cli.screen import Screen, Style
    from pi_core import AgentSession
    from pi_hookspecs import AssistantMessage, ToolResult

__all__ = ["DisplayedRun"]

_COMPARED_BYTES = 200_000
"""Maximum size of a file that is read for a diff before ``write`` replaces it."""

_QUEUE_ROWS = 5

_PROGRESS_ROWS = 3


class DisplayedRun(PrintRun):
    """Displays a conversation as it progresses.

    Attributes:
        line: The input line.
        thinking_shown: Whether the model's thinking is displayed.
    """

    line: Line

    def __init__(self, session: AgentSession, options: Options, screen: Screen) -> None:
        super().__init__(session, options, screen)
        self.thinking_shown = not HIDE_THINKING.read(session.settings)
        self._echoed = 0
        self._before: dict[str, str] = {}
        self._progress: dict[str, str] = {}
        self._last_call: str | None = None
        self._last_result: tuple[str, Mapping[str, Any], ToolResult, str | None] | None = None
        self._reported: AssistantMessage | None = None
        self._stopped = False

    def write_line(self, line: str) -> None:
        """Write a line for the user."""
        self._last_call = None
        self.screen.line(line)

    @property
    def waiting(self) -> list[str]:
        """Messages that were sent and not yet started."""
        return []

    def refresh(self) -> None:
        """Redraw the rows around the input line."""
        raise NotImplementedError

    def _events(self) -> tuple[str, ...]:
        thinking = ("thinking_start", "thinking_delta", "thinking_end")
        more = ("message_start", "tool_execution_update", "queue_update", "agent_start", "agent_settled")
        return (*super()._events(), *thinking, *more)

    # Messages

    def echo_now(self, text: str) -> None:
        """Display the user's input before the session has it; its message is not displayed again."""
        self._echoed += 1
        echo(self.screen, text)

    def forget_echo(self) -> None:
        """Record that the displayed input did not become a message."""
        self._echoed = 0

    def _on_message_start(self, event: Any) -> None:
        if event.message.role != "user":
            return
        if self._echoed:
            self._echoed -= 1
        elif self.line.held:  # else the terminal shows it where it was typed
            echo(self.screen, event.message.text)

    def _on_message_update(self, event: Any) -> None:
        grown = event.assistant_message_event
        if not grown.type.startswith("thinking"):
            super()._on_message_update(event)
        elif grown.type == "thinking_end":
            self.screen.end_text()
        elif self.thinking_shown:
            self.screen.text("\n" if grown.type == "thinking_start" else grown.delta, "thinking")
        elif grown.type == "thinking_start":
            self.screen.line("Thinking...", dim=True)

    def toggle_thinking(self) -> None:
        """Toggle the display of the model's thinking from now on."""
        self.show_thinking(shown=not self.thinking_shown)

    def show_thinking(self, *, shown: bool) -> None:
        """Show or hide the model's thinking from now on."""
        self.thinking_shown = shown
        self.screen.line(f"Thinking is {'shown' if shown else 'hidden'}", dim=True)

    # Tools

    def _on_tool_execution_start(self, event: Any) -> None:
        super()._on_tool_execution_start(event)
        self._last_call = event.tool_call_id
        before = self._file_before(event) if event.tool_name == "write" else None
        if before is not None:
            self._before[event.tool_call_id] = before

    def _on_tool_execution_end(self, event: Any) -> None:
        arguments = self._calls.pop(event.tool_call_id, {})
        before = self._before.pop(event.tool_call_id, None)
        self._progress.pop(event.tool_call_id, None)
        self._last_result = event.tool_name, arguments, event.result, before
        if event.is_error:
            self._show_failure(event, arguments, event.duration_ms)
        else:
            if self._last_call != event.tool_call_id:  # another call, or text, came after its line
                self.screen.line(self._call("done", event.tool_name, arguments), dim=True)
            drawn = self._plugins_rows(event.tool_name, event.result)
            rows = preview_rows(
                event.tool_name,
                arguments,
                event.result,
                width=self.screen.width,
                before=before,
                duration_ms=event.duration_ms,
            )
            for style, row in rows if drawn is None else drawn:
                self.screen.styled(row, style)
        self._last_call = None

    def _plugins_rows(
        self, tool: str, result: ToolResult, *, expanded: bool = False
    ) -> Iterable[tuple[Style, str]] | None:
        """Return the result as a plugin renders it, indented unless that draws its own frame; None if none does."""
        indent = "  " if self.local.renderings.is_framed(tool) else ""
        width = self.screen.width - len(indent)
        rows = self.local.renderings.tool_result(tool, result, width=width, expanded=expanded)
        return [("", f"{indent}{plain_row(row)}") for row in rows] if rows is not None else None

    def _on_tool_execution_update(self, event: Any) -> None:
        from pi_hookspecs import text_of

        line = last_line(text_of(event.partial_result.content))
        if line and self.line.held:
            self._progress[event.tool_call_id] = line
            self.line.draw()

    def progress_rows(self, width: int) -> Iterator[tuple[Style, str]]:
        """Return the last output line of each running tool, of the latest few."""
        for line in [*self._progress.values()][-_PROGRESS_ROWS:]:
            yield "dim", shorten(f"  {line}", width)

    def _file_before(self, event: Any) -> str | None:
        """Return the content of the file that a call will replace; None for a new file or one too large to compare."""
        path = event.args.get("path")
        try:
            file = self.local.cwd / expand_home(str(path))
            return file.read_text(encoding="utf-8") if file.stat().st_size <= _COMPARED_BYTES else None
        except (OSError, ValueError, RuntimeError):
            return None

    def show_last_result(self) -> None:
        """Show the full last tool result."""
        if self._last_result is None:
            self.write_line("No tool has run yet.")
            return
        tool, arguments, result, before = self._last_result
        self.screen.line(self._call("done", tool, arguments), dim=True)
        rows = self._plugins_rows(tool, result, expanded=True)
        own = ((style, f"  {row}") for style, row in all_rows(tool, arguments, result, before))
        for style, row in own if rows is None else rows:
            self.screen.styled(row, style)

    # Queue

    def _on_queue_update(self, _event: Any) -> None:
        self.refresh()

    def queue_rows(self, width: int) -> Iterator[tuple[Style, str]]:
        """Return a row for each queued message, and a hint on how to take them back."""
        steering, follow_up = self.session.get_steering_messages(), self.session.get_follow_up_messages()
        named = (("Steering", steering), ("Follow-up", follow_up), ("Waiting", self.waiting))
        rows = [shorten(f"{name}: {one_line(text)}", width) for name, texts in named for text in texts]
        for row in rows[:_QUEUE_ROWS]:
            yield "dim", row
        if rows:
            more = f"{len(rows) - _QUEUE_ROWS} more; " if len(rows) > _QUEUE_ROWS else ""
            yield "dim", shorten(f"{more}Alt-Up brings them back for editing", width)

    # Outcome

    def _on_agent_start(self, _event: Any) -> None:
        self.refresh()

    def _on_message_end(self, event: Any) -> None:
        super()._on_message_end(event)
        if event.message.role == "assistant":
            self.refresh()

    def _on_compaction_end(self, event: Any) -> None:
        super()._on_compaction_end(event)
        self.refresh()

    def _on_agent_settled(self, event: Any) -> None:
        answer = self.local.last_answer()
        stopped, self._stopped = self._stopped, False
        if event.aborted and stopped:
            self.write_line("Stopped")
        elif answer is not None and answer is not self._reported:
            self._report_end(answer)
        self._reported = answer
        self.warn(*self.problems())
        self.refresh()

    def _report_end(self, answer: AssistantMessage) -> None:
        from pi_core import incomplete_answer

        if has_failed(answer):
            self.report_failure(answer)
        elif (why := incomplete_answer(answer)) is not None:
            self.write_line(why)
