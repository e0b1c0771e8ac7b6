"""The plain interactive front end: a line to type on, answers as they come, on any terminal.

It stands in until a richer one is installed. Ctrl-C stops the answer that is being made; a second one soon after ends
pi, and so do two on an empty line, Ctrl-D and ``/quit``.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, Literal, cast

from pi_cli._line_commands import COMMANDS, run_command
from pi_cli._line_keys import PluginKeys
from pi_cli._line_prompt import LinePrompt, LineUI
from pi_cli._print_mode import PrintRun
from pi_cli._screen import Screen
from pi_cli._typing_line import Above, Interrupted, TypingLine
from pi_cli._words import one_line
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Sequence
    from typing import TextIO

    from pi_cli._options import Options
    from pi_core.agent_session import AgentSession
    from pi_core.process.signals import OrderlyEnd
    from pi_hookspecs import AssistantMessage, ImageContent, UserInterface

__all__ = ["LineRun", "run_line"]

_AGAIN_SECONDS = 2.0
"""How soon a second Ctrl-C must come to end pi."""


async def run_line(session: AgentSession, options: Options) -> int:
    """Talk until the user ends it; returns the exit code.

    Args:
        session: Not started yet; it is shut down when this returns.
        options: What to say first.
    """
    from prompt_toolkit.application import get_app_session

    out, err = Above(sys.stdout), Above(sys.stderr)
    screen = Screen(cast("TextIO", out), cast("TextIO", err), color=options.color, wraps=True)
    _ = get_app_session().output  # made once, of stdout, which is the terminal; stderr may be a file
    with redirect_stdout(err), redirect_stderr(err):
        return await LineRun(session, options, screen, TypingLine(out, err)).to_the_end()


class LineRun(PrintRun):
    """One conversation at a terminal.

    Attributes:
        draft: What stands on the next line already, for editing.
    """

    def __init__(self, session: AgentSession, options: Options, screen: Screen, line: TypingLine) -> None:
        super().__init__(session, options, screen)
        self._known: list[tuple[str, str]] = []
        self._interrupted_at = -_AGAIN_SECONDS
        self._doing: asyncio.Task[None] | None = None
        self._stopped = False
        self.draft = ""
        self._line = line
        history = session.settings.agent_dir / "prompt-history.jsonl"
        self._prompt = LinePrompt(line, history, self._names, session.complete_command, self.warn)
        self._keys = PluginKeys(session.press_key, self.warn)

    # What the run asks of a front end

    def user_interface(self) -> tuple[UserInterface, bool]:
        """Ask on lines."""
        return LineUI(self._line), True

    def interrupted(self) -> bool:
        """Let the first Ctrl-C stop the answer, or whatever else a line began; the second, soon after, ends pi."""
        if self.interrupted_again() or self._doing is None:
            return False
        self._doing.get_loop().call_soon_threadsafe(self._stop)  # a signal alone wakes no event loop that waits
        return True

    def _stop(self) -> None:
        self._stopped = True
        if not self.abort() and self._doing is not None:
            self._doing.cancel()

    def abort(self) -> bool:
        """Stop what is going on: an answer, a command of the user, a compaction."""
        session = self.session
        busy = session.is_bash_running or session.is_compacting
        session.abort_bash()
        session.abort_compaction()
        return super().abort() or busy

    def answered(self, answer: AssistantMessage | None) -> int | None:
        """Tell why an answer failed, and go on; that the user stopped it is no error."""
        if self._stopped and answer is not None and answer.stop_reason == "aborted":
            self.say("Stopped")
        else:
            super().answered(answer)
        return None

    def say(self, line: str) -> None:
        """Write a line for the user."""
        self.screen.line(line)

    # The conversation

    async def say_all(self, end: OrderlyEnd) -> int:
        """Say what the command line says, then what the user types."""
        model = self.session.model.reference if self.session.model is not None else "no model"
        said = len(self.session.messages)
        so_far = f", {said} messages so far" if said else ""
        self.say(f"pi, {model}{so_far}. /help lists the commands, Ctrl-D ends.")
        for prompt in self.options.prompts:
            await self._deal_with(self._say(prompt.text, prompt.images))
            if self._is_over(end):
                return 0
        while not self._is_over(end):
            await self._look_up_names()
            try:
                line = await self._typed()
            except EOFError:
                break
            except Interrupted:
                again = self.interrupted_again()
                if self.abort():  # what a plugin began while nobody said anything
                    continue
                if again:
                    break
                self.say("Ctrl-C again, Ctrl-D or /quit ends pi.")
                continue
            await self._deal_with(self._do(line.strip()))
        return 0

    def _is_over(self, end: OrderlyEnd) -> bool:
        return end.exit_code is not None or self.session.shutdown_requested.is_set() or self.screen.broken

    async def _typed(self) -> str:
        """Return what the user types next; EOFError also when a plugin wants the session to end before that."""
        draft, self.draft = self.draft, ""
        typing = asyncio.ensure_future(self._prompt.ask(draft, self._keys.bindings(self.session.get_shortcuts())))
        ending = asyncio.ensure_future(self.session.shutdown_requested.wait())
        try:
            await asyncio.wait([typing, ending], return_when=asyncio.FIRST_COMPLETED)
            if not typing.done():
                raise EOFError
            return typing.result()
        finally:
            typing.cancel()
            ending.cancel()
            await asyncio.wait([typing, ending])

    def interrupted_again(self) -> bool:
        """Whether this Ctrl-C follows another one soon."""
        soon = time.monotonic() - self._interrupted_at < _AGAIN_SECONDS
        self._interrupted_at = time.monotonic()
        return soon

    async def _deal_with(self, doing: Coroutine[Any, Any, None]) -> None:
        """Do what a line says; what cannot be done is told, and the conversation goes on."""
        self._interrupted_at = -_AGAIN_SECONDS  # what stopped the last line does not count for this one
        self._stopped = False
        self._doing = asyncio.ensure_future(doing)
        try:
            await self._doing
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self.say("Stopped")
        except PiError as error:
            self.say(f"Error: {one_line(str(error))}")
        except Exception as error:  # noqa: BLE001 - a mistake of ours does not cost the user the conversation
            self.say(f"Error: unexpected {type(error).__name__}: {one_line(str(error)) or '(no message)'}")
        finally:
            self._doing = None
        self.screen.end_text()
        self.warn(*self.problems())

    async def _do(self, line: str) -> None:
        if line.startswith("!"):
            await self._bash(line[1:])
        elif line.startswith("/"):
            await self._slash(line)
        elif line:
            await self._say(line)

    async def _say(self, text: str, images: Sequence[ImageContent] = ()) -> None:
        """Say something; an answer that a plugin has asked for meanwhile takes it in."""
        behavior: Literal["steer"] | None = "steer" if self.session.is_streaming else None
        self.answered(await self.session.prompt(text, images=images, streaming_behavior=behavior))

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
        await self._say(line)

    async def _look_up_names(self) -> None:
        commands = await self.session.get_commands()
        own = [(name, description) for name, (description, _) in COMMANDS.items()]
        self._known = [*own, *((each.name, each.description or "") for each in commands)]

    def _names(self) -> Iterable[tuple[str, str]]:
        return self._known
