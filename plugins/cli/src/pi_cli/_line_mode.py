"""The plain interactive front end: a line to type on, answers as they come, on any terminal.

It stands in until a richer one is installed. Ctrl-C stops the answer that is being made; a second one soon after ends
pi, and so do two on an empty line, Ctrl-D and ``/quit``.
"""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from pi_cli._line_commands import COMMANDS, run_command
from pi_cli._line_prompt import LinePrompt, LineUI
from pi_cli._print_mode import PrintRun
from pi_cli._screen import Screen
from pi_cli._words import one_line
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_cli._options import Options
    from pi_core.agent_session import AgentSession
    from pi_core.process_signals import OrderlyEnd
    from pi_hookspecs import AssistantMessage, UserInterface

__all__ = ["LineRun", "run_line"]

_AGAIN_SECONDS = 2.0
"""How soon a second Ctrl-C must come to end pi."""


async def run_line(session: AgentSession, options: Options) -> int:
    """Talk until the user ends it; returns the exit code.

    Args:
        session: Not started yet; it is shut down when this returns.
        options: What to say first.
    """
    screen = Screen(sys.stdout, sys.stderr, color=options.color)
    run = LineRun(session, options, screen)
    with redirect_stdout(sys.stderr):
        return await run.to_the_end()


class LineRun(PrintRun):
    """One conversation at a terminal.

    Attributes:
        draft: What stands on the next line already, for editing.
    """

    def __init__(self, session: AgentSession, options: Options, screen: Screen) -> None:
        super().__init__(session, options, screen)
        self._known: list[tuple[str, str]] = []
        self._interrupted_at = 0.0
        self.draft = ""
        self._prompt = LinePrompt(session.settings.agent_dir / "prompt-history.jsonl", self._names, self.warn)

    # What the run asks of a front end

    def user_interface(self) -> tuple[UserInterface, bool]:
        """Ask on lines."""
        return LineUI(), True

    def interrupted(self) -> bool:
        """Let the first Ctrl-C stop the answer; the second, soon after, ends pi."""
        return not self.interrupted_again() and self.abort()

    def abort(self) -> bool:
        """Stop what is going on: an answer, a command of the user, a compaction."""
        session = self.session
        busy = session.is_bash_running or session.is_compacting
        session.abort_bash()
        session.abort_compaction()
        return super().abort() or busy

    def answered(self, answer: AssistantMessage | None) -> int | None:
        """Tell why an answer failed, and go on."""
        super().answered(answer)
        return None

    def say(self, line: str) -> None:
        """Write a line for the user."""
        self.screen.line(line)

    # The conversation

    async def say_all(self, end: OrderlyEnd) -> int:
        """Say what the command line says, then what the user types."""
        model = self.session.model.reference if self.session.model is not None else "no model"
        self.say(f"pi, {model}. /help lists the commands, Ctrl-D ends.")
        for prompt in self.options.prompts:
            self.answered(await self.session.prompt(prompt.text, images=prompt.images))
        while end.exit_code is None and not self.session.shutdown_requested.is_set() and not self.screen.broken:
            await self._look_up_names()
            try:
                draft, self.draft = self.draft, ""
                line = await self._prompt.ask(draft)
            except EOFError:
                break
            except KeyboardInterrupt:
                if self.interrupted_again():
                    break
                self.say("Ctrl-C again, Ctrl-D or /quit ends pi.")
                continue
            await self._deal_with(line.strip())
        return 0

    def interrupted_again(self) -> bool:
        """Whether this Ctrl-C follows another one soon."""
        soon = time.monotonic() - self._interrupted_at < _AGAIN_SECONDS
        self._interrupted_at = time.monotonic()
        return soon

    async def _deal_with(self, line: str) -> None:
        """Do what a line says; what cannot be done is told, and the conversation goes on."""
        try:
            if line.startswith("!"):
                await self._bash(line[1:])
            elif line.startswith("/"):
                await self._slash(line)
            elif line:
                self.answered(await self.session.prompt(line))
        except PiError as error:
            self.say(f"Error: {one_line(str(error))}")
        self.screen.end_text()
        self.warn(*self.problems())

    async def _bash(self, command: str) -> None:
        hidden = command.startswith("!")
        command = command.removeprefix("!").strip()
        if command:
            result = await self.session.execute_bash(command, self.screen.text, exclude_from_context=hidden)
            self.screen.end_text()
            if result.cancelled:
                self.say("Command cancelled")
            elif result.exit_code:
                self.say(f"Exit code {result.exit_code}")

    async def _slash(self, line: str) -> None:
        name, _, argument = line[1:].partition(" ")
        if await run_command(self, name, argument.strip()):
            return
        if name not in {known for known, _ in self._known}:
            self.say(f"Unknown command: /{one_line(name)}. /help lists the commands.")
            return
        self.answered(await self.session.prompt(line))

    async def _look_up_names(self) -> None:
        commands = await self.session.get_commands()
        own = [(name, description) for name, (description, _) in COMMANDS.items()]
        self._known = [*own, *((each.name, each.description or "") for each in commands)]

    def _names(self) -> Iterable[tuple[str, str]]:
        return self._known
