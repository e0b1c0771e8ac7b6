"""The conversation on a line: sends input, aborts work, and ends pi.

Ctrl-C and Escape abort all work and put queued messages back on the line. Two Ctrl-C on an empty line end pi when it
is idle, and so do Ctrl-D and ``/quit``.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Literal

from pi_cli.line.commands import OWN
from pi_cli.line.dialogs import LineUI
from pi_cli.line.showing import DisplayedRun
from pi_cli.line.tail import echo, show_tail
from pi_cli.line.typed import Interrupted, Typed
from pi_cli.line.view import ConversationView
from pi_cli.results import plain_output
from pi_cli.words import one_line
from pi_hookspecs import AgentBusy, PiError
from pi_terminal_kit.jobs import Jobs
from pi_terminal_kit.settings import QUIET_STARTUP

if TYPE_CHECKING:
    from pi_cli.options import Options
    from pi_cli.screen import Screen
    from pi_core import AgentSession, OrderlyEnd
    from pi_hookspecs import CommandInfo, UserInterface
    from pi_terminal_kit.jobs import Job

__all__ = ["Conversation"]

_AGAIN_SECONDS = 2.0
"""How soon a second Ctrl-C on an empty line must come to end pi."""

_BLOCKED_SECONDS = 2.0
"""How long a Ctrl-C may wait for the event loop before another one ends pi: something blocks it."""


class Conversation(DisplayedRun):
    """One conversation; implements ``Actions``."""

    def __init__(self, session: AgentSession, options: Options, screen: Screen) -> None:
        super().__init__(session, options, screen)
        self.jobs: Jobs[Typed] = Jobs(self._do, self.refresh)
        self.ui: LineUI | None = None
        self.view = ConversationView(self)
        self._commands: dict[str, CommandInfo] = {}
        self._cycling: asyncio.Future[None] | None = None
        self._talking = False
        self._leaves = False
        self._refused = ""
        self._interrupted_at = -_AGAIN_SECONDS
        self._signal_pending_since: float | None = None

    def user_interface(self) -> tuple[UserInterface, bool]:
        """Ask on lines."""
        self.ui = LineUI(self.line, browser=True)
        return self.ui, True

    # State

    @property
    def busy(self) -> bool:
        """Whether an answer, a command or a compaction is in progress."""
        session = self.session
        return bool(self.jobs) or session.is_streaming or session.is_bash_running or session.is_compacting

    @property
    def waiting(self) -> list[str]:
        """Messages that were sent and have not started."""
        return self.jobs.waiting

    def cycle_thinking_level(self) -> None:
        """Select the next thinking level."""
        self._cycling = asyncio.ensure_future(self._cycle_thinking_level())

    async def _cycle_thinking_level(self) -> None:
        try:
            level = await self.session.cycle_thinking_level()
        except PiError as error:
            self.write_line(f"Error: {one_line(str(error))}")
            return
        self.write_line(f"thinking {level}" if level is not None else "This model has one thinking level.")
        self.refresh()

    def refresh(self) -> None:
        """Redraw the line's surroundings; end pi if that was requested and all work is done."""
        busy = self.busy
        if self._leaves and not busy:
            self.session.shutdown_requested.set()
        self.view.update(busy=busy)
        self.line.refresh(busy=busy)

    # Ctrl-C, Escape, Ctrl-D

    def interrupted(self) -> bool:
        """Handle Ctrl-C as a signal, unless an earlier one has waited for the event loop for seconds."""
        if not self._talking:
            return False
        now = time.monotonic()
        if self._signal_pending_since is None:
            self._signal_pending_since = now
        elif now - self._signal_pending_since > _BLOCKED_SECONDS:
            return False
        self._loop.call_soon_threadsafe(self._on_signal)  # a signal alone does not wake a waiting event loop
        return True

    def _on_signal(self) -> None:
        self._signal_pending_since = None
        self.interrupt()

    def interrupt(self) -> None:
        """Handle Ctrl-C: dismiss a dialog, abort work, clear the line; twice on an empty one, end pi."""
        if self.line.lent or self.line.dismiss():
            return
        before, self._interrupted_at = self._interrupted_at, -_AGAIN_SECONDS
        if self.busy:
            self.stop()
        elif self.line.text:
            self.line.clear()
        elif time.monotonic() - before < _AGAIN_SECONDS:
            self.session.shutdown_requested.set()
        else:
            self._interrupted_at = time.monotonic()
            self.write_line("Ctrl-C again, Ctrl-D or /quit exits pi.")

    def stop(self) -> None:
        """Abort work, and put queued messages back on the line."""
        self._stopped = self.session.is_streaming
        self.take_back()
        if not self._stop_session():
            self.jobs.cancel()

    def abort(self) -> bool:
        """Abort work for a signal that ends pi; the conversation ends, too."""
        self._stop_session()
        return False

    def _stop_session(self) -> bool:
        """Stop an answer, a command of the user, a compaction; False when there is none."""
        session = self.session
        stopped = session.is_bash_running or session.is_compacting
        session.abort_bash()
        session.abort_compaction()
        return super().abort() or stopped

    def leave(self) -> None:
        """End pi once all work is done."""
        self._leaves = True
        if self.busy:
            self.write_line("pi exits when this is done; Ctrl-C stops it.")
        self.refresh()

    def take_back(self) -> None:
        """Put queued messages, and those not sent to the session yet, back on the line, before its text."""
        texts = [*self.session.take_user_texts(), *self.jobs.take_back()]
        if not texts:
            return
        self.line.put("\n\n".join(filter(None, [*texts, self.line.text])))
        self.refresh()

    # The run

    async def run_prompts(self, end: OrderlyEnd) -> int:
        """Send the prompts of the command line, and what the user types."""
        self._loop = asyncio.get_running_loop()
        self._greet()
        async with self.line:
            self._talking = True
            self.refresh()
            beginning = asyncio.ensure_future(self._begin())
            try:
                if not self.line.held:
                    await beginning
                await self._talk(end)
            finally:
                self._talking = False
                beginning.cancel()
                self._stopped = self._stop_session()
                await self.jobs.end()
        return 0

    async def _begin(self) -> None:
        """Send the prompts of the command line, one after another."""
        await self.look_up_commands()
        for prompt in self.options.prompts:
            self.jobs.add(Typed(prompt.text, images=prompt.images))
            await self._idle()
            if self.session.shutdown_requested.is_set():
                return

    def _greet(self) -> None:
        session = self.local
        messages = len(session.messages)
        if QUIET_STARTUP.read(session.settings) is not True:
            model = session.model.reference if session.model is not None else "no model"
            so_far = f", {messages} messages so far" if messages else ""
            self.write_line(f"pi, {model}{so_far}. /help lists the commands, Ctrl-D exits.")
        show_tail(self.screen, session.messages)

    async def _talk(self, end: OrderlyEnd) -> None:
        while not self._is_over(end):
            try:
                if not self.line.held:
                    await self._idle()
                if self._is_over(end):
                    return
                typed = await self._next()
            except EOFError:
                return
            except Interrupted as interrupted:
                if interrupted.text:
                    self._interrupted_at = -_AGAIN_SECONDS
                else:
                    self.interrupt()
                continue
            self._interrupted_at = -_AGAIN_SECONDS
            self.jobs.add(typed)

    def _is_over(self, end: OrderlyEnd) -> bool:
        return end.exit_code is not None or self.session.shutdown_requested.is_set() or self.screen.broken

    async def _next(self) -> Typed:
        """Return the user's next input; raise EOFError also when a plugin ends the session."""
        typing = asyncio.ensure_future(self.line.next())
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

    async def _idle(self) -> None:
        """Return when no prompt of the user or a plugin is in progress."""
        while self.jobs or self.session.is_streaming:
            await self.jobs.settled()
            await self.local.wait_for_idle()
        self.screen.end_text()

    # A line

    async def _do(self, job: Job[Typed]) -> None:
        """Run a line; errors are reported, and the conversation continues."""
        text = job.typed.text.strip()
        try:
            if text.startswith("!"):
                await self._bash(job, text[1:])
            elif text.startswith("/"):
                await self._slash(job, text)
            elif text or job.typed.images:
                await self._prompt(job, job.typed.text.lstrip("\n").rstrip())  # indented as it was pasted
        except asyncio.CancelledError:
            if not job.taken_back:
                self.write_line("Stopped" if job.stopped else f"Error: {self.local.hooks.explain_cancellation()}")
        except PiError as error:
            self.write_line(f"Error: {one_line(str(error))}")
        except Exception as error:  # noqa: BLE001 - a bug of pi must not end the conversation
            self.write_line(f"Error: unexpected {type(error).__name__}: {one_line(str(error)) or '(no message)'}")
        if not self.session.is_streaming:
            self.screen.end_text()
        self.warn(*self.problems())

    async def _prompt(self, job: Job[Typed], text: str) -> None:
        """Send a text to the model; during an answer it is queued."""
        if self.line.held and not self.session.is_streaming:
            self.echo_now(text)
        try:
            await self._pass_on(job, text)
        except AgentBusy:  # a plugin has started an answer meanwhile
            queue = self.session.follow_up if job.typed.follow_up else self.session.steer
            await queue(text, job.typed.images)
        finally:
            self.forget_echo()

    async def _pass_on(self, job: Job[Typed], text: str) -> None:
        session = self.session
        how: Literal["steer", "followUp"] = "followUp" if job.typed.follow_up else "steer"
        await session.prompt(
            text,
            images=job.typed.images,
            streaming_behavior=how if session.is_streaming else None,
            on_accepted=lambda _how: job.accepted.set(),
        )

    async def _bash(self, job: Job[Typed], command: str) -> None:
        hidden = command.startswith("!")
        command = command.removeprefix("!").strip()
        job.is_prompt = False
        job.accepted.set()
        if not command:
            return
        self._echo_command(job)
        result = await self.local.execute_bash(
            command, lambda text: self.screen.text(plain_output(text), "output"), exclude_from_context=hidden
        )
        self.screen.end_text()
        if result.cancelled:
            self.write_line("Command cancelled")
        elif result.exit_code:
            self.write_line(f"Exit code {result.exit_code}")

    async def _slash(self, job: Job[Typed], text: str) -> None:
        name, _, argument = text[1:].partition(" ")
        if name not in OWN and name not in self._commands:
            await self.look_up_commands()
        command = self._commands.get(name)
        if name not in OWN and ((command is not None and command.source != "extension") or text == self._refused):
            await self._prompt(job, text)  # a skill, a template, or a path that is not a command
            return
        job.is_prompt = False
        self._echo_command(job)
        if name in OWN:
            await OWN[name].run(self, argument.strip())
        elif command is not None:
            await self._pass_on(job, text)
        else:
            self._refuse(name, text)

    def _refuse(self, name: str, text: str) -> None:
        again = ""
        if self.line.held and not self.line.text:
            self._refused = text
            self.line.put(text)
            again = " Enter sends it to the model as it is."
        why = self.local.host.why_no_command(name)
        self.write_line(f"{why or f'Unknown command: /{one_line(name)}. /help lists the commands.'}{again}")

    def _echo_command(self, job: Job[Typed]) -> None:
        if self.line.held:
            echo(self.screen, job.typed.text)

    async def look_up_commands(self) -> None:
        """Ask the plugins which commands there are now."""
        self._commands = {each.name: each for each in await self.session.get_commands()}

    def known_commands(self) -> list[tuple[str, str]]:
        """Return names and descriptions of the commands, pi's own first."""
        own = [(name, command.description) for name, command in OWN.items()]
        others = [(each.name, each.description or "") for each in self._commands.values() if each.name not in OWN]
        return own + others
