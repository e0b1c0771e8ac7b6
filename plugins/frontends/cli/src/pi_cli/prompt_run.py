"""A run of prompts from the command line: started, sent one after another, and shut down cleanly on signals.

Each front end handles events and answers itself; warnings go to stderr, each once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeGuard

from pi_cli.event_rows import Notices
from pi_cli.report import trace_line
from pi_cli.words import one_line
from pi_core import OrderlyEnd
from pi_core.plugin_api.context import NoUserInterface
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_cli.options import Options
    from pi_cli.screen import Screen
    from pi_core import AgentSession, Session
    from pi_hookspecs import AssistantMessage, NoticeLevel, UserInterface

__all__ = ["PromptRun", "has_failed"]


def has_failed(answer: AssistantMessage | None) -> TypeGuard[AssistantMessage]:
    """Whether an answer ended with an error, or was aborted."""
    return answer is not None and answer.stop_reason in ("error", "aborted")


class PromptRun(Notices):
    """The prompts of one process. A front end overrides ``subscribe`` and ``answered``.

    Args:
        session: Not started yet; it is shut down at the end.
        options: The prompts, and how verbose the output is.
        screen: stderr for warnings, and stdout.

    Attributes:
        session: The session, as every front end knows one.
        local: The same session, for its start and end, and for what only its process can do.
    """

    def __init__(self, session: AgentSession, options: Options, screen: Screen) -> None:
        super().__init__(screen, verbose=options.verbose)
        self.local = session
        self.session: Session = session
        self.options = options
        self.command_failed = False
        self.was_cut = False

    # For the front end

    def subscribe(self) -> None:
        """Subscribe to the session's events."""
        raise NotImplementedError

    def answered(self, answer: AssistantMessage | None) -> int | None:
        """Handle a prompt's last answer; return an exit code to end the run."""
        raise NotImplementedError

    def finished(self) -> int:
        """Handle the end of the last prompt; return the exit code."""
        return int(self.command_failed or self.was_cut)

    def check_length(self, answer: AssistantMessage | None) -> None:
        """Report an answer that was cut at the model's output limit, which makes the exit code 1."""
        if answer is not None and answer.stop_reason == "length":
            self.was_cut = True
            self.report_incomplete(answer)

    def warn_of_empty(self, answer: AssistantMessage | None) -> None:
        """Warn about an answer without text and tool calls."""
        from pi_core import incomplete_answer

        if answer is not None and answer.stop_reason != "length" and (why := incomplete_answer(answer)):
            self.warn(why)

    def user_interface(self) -> tuple[UserInterface, bool]:
        """Return the user interface for plugins, and whether there is a user."""
        return NoUserInterface(self.notify), False

    def interrupted(self) -> bool:
        """Handle a Ctrl-C; return True if it must not end the run. Called in the signal's handler."""
        return False

    # The run

    async def run(self) -> int:
        """Start the session, send all prompts, shut the session down."""
        session, screen = self.local, self.screen
        session.ui, session.has_ui = self.user_interface()
        if session.hooks.trace is not None:
            session.hooks.trace = lambda call: screen.line(trace_line(call))
        self.subscribe()
        with OrderlyEnd(self.abort, self.interrupted) as end:
            code = 1
            end.skip = session.hooks.skip_waiting
            try:
                await session.start()
                self.warn(*self.problems())
                if self.options.verbose:
                    self._show_what_is_used()
                code = await self.run_prompts(end)
            except asyncio.CancelledError:
                if end.exit_code is None:
                    raise PiError(session.hooks.explain_cancellation()) from None
            finally:
                end.cleaning_up()
                screen.end_text()
                await session.dispose()
            if end.exit_code is not None:
                screen.line("Aborted")
                return end.exit_code
            return code

    async def run_prompts(self, end: OrderlyEnd) -> int:
        """Send the prompts of the command line, one after another; return the exit code."""
        session = self.local
        for prompt in self.options.prompts:
            session.limit_commands(() if prompt.piped else None)
            answer = await session.prompt(prompt.text, images=prompt.images)
            self.warn(*self.problems())
            if end.exit_code is not None or self.screen.broken:
                return 1
            code = self.answered(answer)
            if code is not None:
                return code
            if session.shutdown_requested.is_set():
                break
        return self.finished()

    def abort(self) -> bool:
        """Abort the run in progress; return False when there is none."""
        if not self.session.is_streaming:
            return False
        self.session.request_abort("Interrupted by the user")
        return True

    # Notices

    def on_extension_error(self, event: Any) -> None:
        """Warn about a plugin that failed; a command that failed makes the exit code 1."""
        self.command_failed = self.command_failed or event.event == "command"
        super().on_extension_error(event)

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Write a notice to stderr."""
        prefix = {"warning": "Warning: ", "error": "Error: "}.get(level, "")
        self.screen.line("\n".join(f"{prefix}{one_line(line)}" for line in message.splitlines() if line.strip()))

    def problems(self) -> Iterable[str]:
        """All problems to report; ``warn`` writes each once."""
        yield from self.session.problems()

    def _show_what_is_used(self) -> None:
        session = self.local
        model = session.model.reference if session.model is not None else "none"
        tools = " ".join(tool.name for tool in session.agent.state.tools) or "none"
        plugins = " ".join(f"{each.name} {each.version}" for each in session.host.records.values() if each.loads)
        for name, value in (
            ("model", f"{model}, thinking {session.thinking_level}"),
            ("tools", tools),
            ("plugins", plugins),
            ("settings", f"{session.settings.agent_dir}"),
        ):
            self.screen.line(f"{name:<9} {one_line(value)}", dim=True)
