"""The front end ``print``: sends prompts one after another, prints the answers, and returns an exit code.

At a terminal the text of every turn is streamed. To a pipe only the last answer is written, so that the next program
gets nothing else; everything else goes to stderr.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from pi_cli.event_rows import EventRows
from pi_cli.prompt_run import PromptRun, has_failed
from pi_cli.screen import Screen

if TYPE_CHECKING:
    from pi_cli.options import Options
    from pi_core import AgentSession
    from pi_hookspecs import AssistantMessage, CustomMessage

__all__ = ["PrintRun", "run_print"]


async def run_print(session: AgentSession, options: Options) -> int:
    """Send the prompts, one after another, and return the exit code.

    Args:
        session: Not started yet; it is shut down when this returns.
        options: The prompts, and how verbose the output is.

    Raises:
        BrokenPipeError: The reader of stdout is gone.
        UserError: The model or its key is missing.
    """
    screen = Screen(sys.stdout, sys.stderr, color=options.color)
    run = PrintRun(session, options, screen)
    with redirect_stdout(sys.stderr):  # plugins and tools must not print to stdout
        code = await run.run()
    if screen.broken:
        raise BrokenPipeError
    return code


class PrintRun(PromptRun, EventRows):
    """Streams text at a terminal, and writes only the last answer to a pipe."""

    def subscribe(self) -> None:
        """Subscribe to the events that are displayed."""
        self.session.subscribe(self._on_event, *self._events())

    def answered(self, answer: AssistantMessage | None) -> int | None:
        """End the run at an answer that failed, and report one that was cut."""
        if has_failed(answer):
            self.report_failure(answer)
            return self.local.exit_code
        self.check_length(answer)
        return None

    def finished(self) -> int:
        """Write the last answer to the pipe."""
        last = self.local.last_answer()
        if last is not None and not self.screen.streams:
            self.screen.answer(last.text)
        self.warn_of_empty(last)
        return super().finished()

    # Events

    def _events(self) -> tuple[str, ...]:
        lines = (
            "tool_execution_start",
            "tool_execution_end",
            "extension_error",
            "auto_retry_start",
            "compaction_start",
            "compaction_end",
        )
        return (*lines, "text_start", "text_delta", "message_end") if self.screen.streams else lines

    def _on_event(self, event: Any) -> None:
        self.display(event)
        if self.screen.broken:
            self.session.request_abort("The reader of the answer is gone")

    def _on_message_end(self, event: Any) -> None:
        super()._on_message_end(event)
        if event.message.role == "custom" and event.message.display:
            self._show(event.message)

    def _show(self, message: CustomMessage) -> None:
        """Show a plugin's message with its renderer, else its text."""
        from pi_hookspecs import text_of

        lines = self.local.renderings.custom(message, width=self.screen.width)
        text = text_of(message.content) if lines is None else "\n".join(lines)
        self.screen.line(text)
