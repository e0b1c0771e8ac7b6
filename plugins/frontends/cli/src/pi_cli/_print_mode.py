"""The front end that prints: prompts in, answers out, one after another, and an exit code.

At a terminal the text of every turn is streamed. To a pipe only the last answer is written, so that the next program
gets nothing else; everything else goes to stderr.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Literal

from pi_cli._activity import call_line
from pi_cli._prompt_run import PromptRun, has_failed
from pi_cli._results import failure_rows
from pi_cli._screen import Screen
from pi_cli._words import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_cli._options import Options
    from pi_core.conversation import AgentSession
    from pi_hookspecs import AssistantMessage, CustomMessage

__all__ = ["PrintRun", "run_print"]

_EMPTY = "The model gave an empty answer. Try again, or choose another model with --model"


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


class PrintRun(PromptRun):
    """Streams text at a terminal, and writes only the last answer to a pipe."""

    def __init__(self, session: AgentSession, options: Options, screen: Screen) -> None:
        super().__init__(session, options, screen)
        self._calls: dict[str, Mapping[str, Any]] = {}

    def subscribe(self) -> None:
        """Subscribe to the events that are displayed."""
        self.session.subscribe(self._on_event, *self._events())

    def answered(self, answer: AssistantMessage | None) -> int | None:
        """End the run at an answer that failed."""
        if has_failed(answer):
            self.report_failure(answer)
            return self.session.exit_code
        return None

    def finished(self) -> int:
        """Write the last answer to the pipe."""
        last = self.session.last_answer()
        if last is not None and not self.screen.streams:
            self.screen.answer(last.text)
        if last is not None and not last.text.strip() and not last.tool_calls:
            self.warn(_EMPTY)
        return 0

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
        if event.type == "extension_error":
            self.on_extension_error(event)
        else:
            getattr(self, f"_on_{event.type}")(event)
        if self.screen.broken:
            self.session.request_abort("Nobody reads the answer any more")

    def _on_message_update(self, event: Any) -> None:
        grown = event.assistant_message_event
        self.screen.text("\n" if grown.type == "text_start" else grown.delta)

    def _on_message_end(self, event: Any) -> None:
        if event.message.role == "assistant":
            self.screen.end_text()
        elif event.message.role == "custom" and event.message.display:
            self._show(event.message)

    def _show(self, message: CustomMessage) -> None:
        """Show a plugin's message with its renderer, else its text."""
        from pi_hookspecs import text_of

        lines = self.session.render_custom(message, width=self.screen.width)
        text = text_of(message.content) if lines is None else "\n".join(lines)
        self.screen.line(text)

    def _on_tool_execution_start(self, event: Any) -> None:
        self._calls[event.tool_call_id] = event.args
        self.screen.line(self._call("call", event.tool_name, event.args), dim=True)

    def _on_tool_execution_end(self, event: Any) -> None:
        arguments = self._calls.pop(event.tool_call_id, {})
        if event.is_error:
            self._show_failure(event, arguments)

    def _call(self, kind: Literal["call", "done", "failed"], tool: str, arguments: Mapping[str, Any]) -> str:
        """Return a call as one line after its mark."""
        sign = self.screen.mark(kind)
        return f"{sign} {call_line(tool, arguments, self.screen.width - len(sign) - 1)}"

    def _show_failure(self, event: Any, arguments: Mapping[str, Any], duration_ms: int | None = None) -> None:
        from pi_hookspecs import text_of

        call = self._call("failed", event.tool_name, arguments)
        for _, row in failure_rows(call, text_of(event.result.content), duration_ms):
            self.screen.line(self.screen.folded(row), dim=True)

    def _on_auto_retry_start(self, event: Any) -> None:
        from pi_core import error_text

        seconds = f"{event.delay_ms / 1000:g} s"
        reason = one_line(error_text(event.error_message).words)
        self.screen.line(f"Trying again in {seconds} ({event.attempt} of {event.max_attempts}): {reason}", dim=True)

    def _on_compaction_start(self, event: Any) -> None:
        why = {"overflow": ": the window is full", "threshold": ": the window is nearly full"}.get(event.reason, "")
        self.screen.line(f"Compacting the conversation{why}", dim=True)

    def _on_compaction_end(self, event: Any) -> None:
        if event.error_message:
            from pi_core import error_text

            self.warn(error_text(event.error_message).words)
        elif event.result is None and not event.aborted:
            self.screen.line("There is nothing in it that could be summed up", dim=True)
