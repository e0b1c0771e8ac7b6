"""The front end that prints: prompts in, answers out, one after another, and an exit code.

At a terminal the text of every turn appears as it comes. Into a pipe goes the last answer alone, so that
what follows in the pipe gets text and nothing else; all the rest is on stderr (pi.md 12.3).
"""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from pi_cli._activity import call_line, failure_line
from pi_cli._report import trace_line
from pi_cli._screen import Screen
from pi_cli._signals import OrderlyEnd
from pi_cli._words import one_line
from pi_core.agent_session.context import NoUserInterface
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_cli._options import Options
    from pi_core.agent_session import AgentSession
    from pi_hookspecs import AssistantMessage, NoticeLevel

__all__ = ["run_print"]

_EMPTY = "The model gave an empty answer. Try again, or choose another model with --model"
_CANCELLED = "The run was cancelled from inside: a plugin cancelled the task in which pi called it. See pi plugins"


async def run_print(session: AgentSession, options: Options) -> int:
    """Say the prompts, one after another, and return the exit code.

    Args:
        session: Not started yet; it is shut down when this returns.
        options: What to say and how much to tell.

    Raises:
        BrokenPipeError: Whoever read the answer has gone.
        UserError: The model or its key is missing.
    """
    screen = Screen(sys.stdout, sys.stderr, color=options.color)
    run = _PrintRun(session, options, screen)
    with redirect_stdout(sys.stderr):  # what plugins and tools print is no answer
        code = await run.to_the_end()
    if screen.broken:
        raise BrokenPipeError
    return code


class _PrintRun:
    """One process's worth of prompts."""

    def __init__(self, session: AgentSession, options: Options, screen: Screen) -> None:
        self._session = session
        self._options = options
        self._screen = screen
        self._calls: dict[str, Mapping[str, Any]] = {}
        self._told: set[str] = set()

    async def to_the_end(self) -> int:
        """Start the session, say everything, shut the session down."""
        session, screen = self._session, self._screen
        session.ui = NoUserInterface(self._notify)
        if session.hooks.trace is not None:
            session.hooks.trace = lambda call: screen.line(trace_line(call))
        session.subscribe(self._on_event, *self._events())
        with OrderlyEnd(self._abort) as end:
            code = 1
            try:
                await session.start()
                self._warn(*self._problems())
                if self._options.verbose:
                    self._tell_what_is_used()
                code = await self._say_all(end)
            except asyncio.CancelledError:
                if end.exit_code is None:
                    raise PiError(_CANCELLED) from None
            finally:
                end.cleaning_up()
                screen.end_text()
                await session.dispose()
            if end.exit_code is not None:
                screen.line("Aborted")
                return end.exit_code
            return code

    async def _say_all(self, end: OrderlyEnd) -> int:
        session = self._session
        for prompt in self._options.prompts:
            answer = await session.prompt(prompt.text, images=prompt.images)
            self._warn(*self._problems())
            if end.exit_code is not None or self._screen.broken:
                return 1
            if answer is not None and answer.stop_reason in ("error", "aborted"):
                return self._failed(answer)
            if session.shutdown_requested.is_set():
                break
        last = session.last_answer()
        if last is not None and not self._screen.streams:
            self._screen.answer(last.text)
        if last is not None and not last.text.strip() and not last.tool_calls:
            self._warn(_EMPTY)
        return 0

    def _failed(self, answer: AssistantMessage) -> int:
        self._screen.line(f"Error: {one_line(answer.error_message or f'the request was {answer.stop_reason}')}")
        return 1

    def _abort(self) -> bool:
        if not self._session.is_streaming:
            return False
        self._session.request_abort("Interrupted by the user")
        return True

    # What happens meanwhile

    def _events(self) -> tuple[str, ...]:
        lines = ("tool_execution_start", "tool_execution_end", "extension_error")
        return (*lines, "text_start", "text_delta", "message_end") if self._screen.streams else lines

    def _on_event(self, event: Any) -> None:
        getattr(self, f"_on_{event.type}")(event)
        if self._screen.broken:
            self._session.request_abort("Nobody reads the answer any more")

    def _on_message_update(self, event: Any) -> None:
        grown = event.assistant_message_event
        self._screen.text("\n" if grown.type == "text_start" else grown.delta)

    def _on_message_end(self, event: Any) -> None:
        if event.message.role == "assistant":
            self._screen.end_text()

    def _on_tool_execution_start(self, event: Any) -> None:
        self._calls[event.tool_call_id] = event.args
        sign = self._screen.mark("call")
        width = self._screen.width - len(sign) - 1
        self._screen.line(f"{sign} {call_line(event.tool_name, event.args, width)}", dim=True)

    def _on_tool_execution_end(self, event: Any) -> None:
        arguments = self._calls.pop(event.tool_call_id, {})
        if event.is_error:
            from pi_hookspecs import text_of

            sign = self._screen.mark("failed")
            width = self._screen.width - len(sign) - 1
            line = failure_line(event.tool_name, arguments, text_of(event.result.content), width)
            self._screen.line(f"{sign} {line}", dim=True)

    def _on_extension_error(self, event: Any) -> None:
        whose = f"Plugin {event.extension_path!r}"
        told = whose in event.error or event.extension_path == "(unknown)"  # code that no hook is to blame for
        self._warn(event.error if told else f"{whose} ({event.event}): {event.error}")
        if self._options.verbose and event.stack:
            self._screen.line(event.stack.rstrip("\n"), dim=True)

    # Telling

    def _notify(self, message: str, level: NoticeLevel = "info") -> None:
        prefix = {"warning": "Warning: ", "error": "Error: "}.get(level, "")
        self._screen.line("\n".join(f"{prefix}{one_line(line)}" for line in message.splitlines() if line.strip()))

    def _problems(self) -> Iterable[str]:
        session = self._session
        yield from session.settings.problems
        yield from map(str, session.host.problems)
        yield from session.models.warnings
        yield from session.toolbox.warnings
        yield from session.session_manager.notices

    def _warn(self, *problems: str) -> None:
        """Tell each problem once, also one that comes again after another number of milliseconds."""
        for problem in problems:
            key = re.sub(r"after \d+ ms", "", problem)
            if key not in self._told:
                self._told.add(key)
                self._screen.line(f"Warning: {one_line(problem)}")

    def _tell_what_is_used(self) -> None:
        session = self._session
        model = session.model.reference if session.model is not None else "none"
        tools = " ".join(tool.name for tool in session.agent.state.tools) or "none"
        plugins = " ".join(f"{each.name} {each.version}" for each in session.host.records.values() if each.loads)
        for name, value in (
            ("model", f"{model}, thinking {session.thinking_level}"),
            ("tools", tools),
            ("plugins", plugins),
            ("settings", f"{session.settings.agent_dir}"),
        ):
            self._screen.line(f"{name:<9} {one_line(value)}", dim=True)
