"""Events of a session in rows of a terminal: text, calls, failures, retries, compactions and warnings.

The events are those that subscribers get, whether of a session of this process or received from another one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from pi_cli.activity import call_line
from pi_cli.results import failure_rows
from pi_cli.words import one_line
from pi_terminal_kit.words import compacted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_cli.screen import Screen
    from pi_hookspecs import AssistantMessage

__all__ = ["EventRows", "Notices"]


class Notices:
    """Warnings and failures on stderr.

    Args:
        screen: stderr for warnings, and stdout.
        verbose: Whether the stack of a plugin's failure and the server's own message are displayed.
    """

    def __init__(self, screen: Screen, *, verbose: bool = False) -> None:
        self.screen = screen
        self._verbose = verbose
        self._warned: set[str] = set()

    def warn(self, *problems: str) -> None:
        """Print each problem once; problems that differ only in milliseconds are the same."""
        for problem in problems:
            key = re.sub(r"after \d+ ms", "", problem)
            if key not in self._warned:
                self._warned.add(key)
                self.screen.line(f"Warning: {one_line(problem)}")

    def on_extension_error(self, event: Any) -> None:
        """Warn about a plugin that failed."""
        whose = f"Plugin {event.extension_path!r}"
        complete = whose in event.error or event.extension_path.startswith("(")  # no plugin caused it
        self.warn(event.error if complete else f"{whose} ({event.event}): {event.error}")
        if self._verbose and event.stack:
            self.screen.line(event.stack.rstrip("\n"), dim=True)

    def report_failure(self, answer: AssistantMessage) -> None:
        """Write to stderr why an answer failed and what to do; if verbose, with the server's own message."""
        from pi_core import error_text

        text = error_text(answer.error_message or f"the request was {answer.stop_reason}")
        self.screen.line(f"Error: {one_line(text.sentences)}")
        if self._verbose and text.is_shortened:
            self.screen.line(one_line(text.raw), dim=True)

    def report_incomplete(self, answer: AssistantMessage) -> None:
        """Write to stderr why an answer is not a whole one and what to do."""
        from pi_core import incomplete_answer

        self.screen.end_text()
        self.screen.line(f"Error: {incomplete_answer(answer)}")


class EventRows(Notices):
    """Displays events; ``_on_TYPE`` displays events of that type. Takes the arguments of ``Notices``."""

    def __init__(self, screen: Screen, *, verbose: bool = False) -> None:
        super().__init__(screen, verbose=verbose)
        self._calls: dict[str, Mapping[str, Any]] = {}

    def display(self, event: Any) -> None:
        """Display an event; ignore events of other types."""
        if event.type == "extension_error":
            self.on_extension_error(event)
        elif (show := getattr(self, f"_on_{event.type}", None)) is not None:
            show(event)

    def _on_message_update(self, event: Any) -> None:
        grown = event.assistant_message_event
        if grown.type in ("text_start", "text_delta") and self.screen.streams:
            self.screen.text("\n" if grown.type == "text_start" else grown.delta)

    def _on_message_end(self, event: Any) -> None:
        if event.message.role == "assistant":
            self.screen.end_text()

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
        self.screen.line(f"Retrying in {seconds} ({event.attempt} of {event.max_attempts}): {reason}", dim=True)

    def _on_compaction_start(self, event: Any) -> None:
        why = {"overflow": ": the context window is full", "threshold": ": the context window is nearly full"}.get(
            event.reason, ""
        )
        self.screen.line(f"Compacting the conversation{why}", dim=True)

    def _on_compaction_end(self, event: Any) -> None:
        if event.error_message:
            from pi_core import error_text

            self.warn(error_text(event.error_message).words)
        elif event.result is not None:
            self.screen.line(compacted(event.result.tokens_before, event.result.estimated_tokens_after), dim=True)
        elif not event.aborted:
            self.screen.line("There is nothing to summarize", dim=True)
