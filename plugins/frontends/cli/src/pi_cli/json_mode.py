"""The front end ``json``: prints the session's header, then every event, one JSON line each.

Nothing else is written to stdout. All prompts are sent; the exit code is 1 when the last answer failed or was
aborted, an answer was cut at the model's output limit, or a command failed.
"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from pi_cli.prompt_run import PromptRun, has_failed
from pi_cli.screen import Screen
from pi_core import CleanLines, clean_text, dumps, is_on_wire, to_wire

if TYPE_CHECKING:
    from pi_cli.options import Options
    from pi_core import AgentSession
    from pi_hookspecs import AssistantMessage

__all__ = ["run_json"]


async def run_json(session: AgentSession, options: Options) -> int:
    """Send the prompts and write the events; return the exit code.

    Raises:
        BrokenPipeError: The reader of stdout is gone.
        UserError: The model or its key is missing.
    """
    screen = Screen(sys.stdout, sys.stderr, color=options.color)
    descriptor = sys.stdout.fileno()
    with redirect_stdout(sys.stderr):  # plugins and tools must not print to stdout
        run = _JsonRun(session, options, screen, descriptor)
        run.write(dumps(session.session_manager.header))
        code = await run.run()
    if screen.broken:
        raise BrokenPipeError
    return code


class _JsonRun(PromptRun):
    def __init__(self, session: AgentSession, options: Options, screen: Screen, descriptor: int) -> None:
        super().__init__(session, options, screen)
        self._descriptor = descriptor
        self._clean = CleanLines.asked_for(session)

    def subscribe(self) -> None:
        """Subscribe to all events."""
        self.session.subscribe(self._on_event)

    def answered(self, answer: AssistantMessage | None) -> int | None:
        """Continue with the next prompt: the events report how an answer ended."""
        self.check_length(answer)
        return None

    def finished(self) -> int:
        """Return the session's exit code, and report on stderr why the last answer failed."""
        last = self.local.last_answer()
        if not has_failed(last):
            self.warn_of_empty(last)
            return super().finished()
        self.report_failure(last)
        return self.local.exit_code

    def write(self, line: bytes) -> None:
        """Write a whole line, even to a slow reader; for a terminal it is cleaned."""
        if self.screen.streams:
            line = clean_text(line.decode()).encode()
        rest = memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except BrokenPipeError:
            self.screen.broken = True
            self.session.request_abort("The reader of the events is gone")

    def _on_event(self, event: Any) -> None:
        if event.type == "extension_error":
            self.on_extension_error(event)
        if is_on_wire(event) and not self.screen.broken:
            line = dumps(_whole(event)) if self.options.json_full else dumps(event)
            for each in (line,) if self._clean is None else self._clean.of(line):
                self.write(each)


def _whole(event: Any) -> Any:
    """Return an event with the whole message so far, where the wire format has only the new part."""
    if event.type != "message_update":
        return event
    message = to_wire(event.message)
    grown = {**to_wire(event.assistant_message_event), "partial": message}
    return {"type": event.type, "message": message, "assistantMessageEvent": grown}
