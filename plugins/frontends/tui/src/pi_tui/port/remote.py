"""A session in another process, possibly on another computer, accessed through the client of pi's RPC protocol.

The front end makes most queries synchronously, so this module keeps the answers: it reads them at the beginning,
after each run, and when the conversation is replaced. Requests that the protocol does not support raise an error.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from pi_client import PiClientError
from pi_client.values import Image
from pi_hookspecs import PiError, UserError
from pi_hookspecs.events.session import SessionStartEvent
from pi_tui.port.protocol import Known
from pi_tui.port.remote_limits import Limits
from pi_tui.port.remote_lists import RemoteAbout, RemoteLists
from pi_tui.port.remote_mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
    from contextvars import Context

    from pi_client import Event, PiClient
    from pi_hookspecs import ImageContent, SettingsView
    from pi_tui.lines.foreign import Drawings
    from pi_tui.port.remote_ui import Asker

__all__ = ["RemotePort"]

R = TypeVar("R")


class RemotePort(Limits):
    """Implements ``Port``.

    Args:
        client: The connection; the caller closes it.
        settings: The local user's settings, which determine how the screen looks.
        asker: Passes requests from the client to the user.
        place: Location of the session for the footer, since the protocol does not provide its folder.
        again: The command that attaches to the session again; None if a new process continues it.
        served_again: What to do about it instead once the other process has ended.
    """

    def __init__(
        self,
        client: PiClient,
        settings: SettingsView,
        asker: Asker,
        *,
        place: str = "",
        again: str | None = None,
        served_again: str | None = None,
    ) -> None:
        self._client = client
        self._events = client.events()  # at once: work in progress is announced only at the beginning
        self._asker = asker
        self._place = place
        self._again = again
        self._served_again = served_again
        self._listeners: list[Callable[[Any], object]] = []
        self._work: set[asyncio.Future[Any]] = set()
        self._bash_ids: dict[Any, str] = {}
        self._running_bash: list[str] = []
        self._over = asyncio.Event()
        self._held: list[Event] = []
        self._context: Context | None = None
        self.mirror = Mirror()
        self.settings = settings
        self.drawings: Drawings | None = None
        self.lists = RemoteLists(self)
        self.about = RemoteAbout(self)
        self.cwd = ""

    async def begin(self) -> None:
        """Read the current state, and hold back further events until ``follow``."""
        self._start(self._listen(self._events))
        await self.call(self.mirror.read(self._client))
        if not self.mirror.receives_entries:
            self._held.clear()  # the state that was read includes these events
        self.mirror.is_streaming |= any(each.type == "agent_start" for each in self._held)

    def follow(self) -> None:
        """Pass on the events since ``begin`` and all further ones, in the caller's context.

        Listeners can create timers only in the application's context.
        """
        held, self._held, self._context = self._held, [], copy_context()
        for event in held:
            self._take(event)
        self._asker.begin()

    async def call(self, work: Awaitable[R]) -> R:
        """Return the result of a client's command.

        Raises:
            PiError: The command failed, or the other process has ended.
        """
        try:
            return await work
        except PiClientError as error:
            raise PiError(str(error)) from error

    @property
    def client(self) -> PiClient:
        """The connection."""
        return self._client

    def _start(self, work: Awaitable[Any]) -> None:
        """Start some work without waiting for it; ignore its failure, since the other process may have ended."""

        async def do() -> None:
            with suppress(PiError):
                await self.call(work)

        task = asyncio.ensure_future(do())
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    # State

    def subscribe(self, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Call a listener with every event."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    async def _listen(self, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                if self._context is not None:
                    self._context.run(self._take, event)
                elif event.type == "entries" and not self.mirror.receives_entries:
                    self.mirror.take_entries(event.data)
                else:
                    self._held.append(event)
            if not self._over.is_set():  # the other process has ended, not the user
                self._again = self._served_again or self._again
        finally:
            self._over.set()

    def _take(self, received: Event) -> None:
        from pi_core.wire.events import event_from_wire
        from pi_tui.view.local_events import AnswerReceived

        if received.type == "entries":
            if self.mirror.take_entries(received.data):  # another client of the session did this
                self._pass_on(SessionStartEvent(reason="resume"))
                self._start(self._read_again())
            return
        try:
            event = event_from_wire(received.data)
        except PiError:
            return  # an event of a newer version with other fields
        if event is None:
            return
        if event.type == "bash_execution_update":
            event = evolve(event, id=self._bash_id(event.id))
        if event.type == "message_start" and received.data.get("partial"):
            event = AnswerReceived(message=event.message)
        self.mirror.take(event)
        self._pass_on(event)
        if event.type in ("agent_settled", "compaction_end", "session_info_changed"):
            self._start(self._read_again())

    def _bash_id(self, given: Any) -> Any:
        """Return the front end's id of a command, since the protocol uses its own ids."""
        if given not in self._bash_ids and self._running_bash:
            self._bash_ids[given] = self._running_bash[-1]
        return self._bash_ids.get(given, given)

    def _pass_on(self, event: Any) -> None:
        for listener in [*self._listeners]:
            listener(event)

    async def _read_again(self) -> None:
        from pi_tui.view.local_events import FactsChanged

        await self.mirror.read_figures(self._client)
        self._pass_on(FactsChanged(facts={**self.facts(), **self.usage()}))

    async def _replaced(self) -> None:
        """Read the new conversation if the server does not send its entries."""
        if self.mirror.receives_entries:
            await self.call(self._read_again())
            return
        await self.call(self.mirror.read(self._client))
        self._pass_on(SessionStartEvent(reason="resume"))

    def text_of(self, _path: str) -> str | None:
        """Return None: the files are those of the other process, often on another computer."""
        return None

    def entries(self) -> Iterable[Any]:
        """Return the last known entries of the current branch."""
        return self.mirror.branch

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event contains."""
        return {"cwd": self._place, **self.mirror.facts()}

    def usage(self) -> dict[str, Any]:
        """Return the footer's totals."""
        return self.mirror.usage()

    # Prompts

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered."""
        return self.mirror.is_streaming

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the user is running."""
        return bool(self._running_bash)

    @property
    def is_retrying(self) -> bool:
        """Whether the session waits before a retry."""
        return self.mirror.is_retrying

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is running."""
        return self.mirror.is_compacting

    async def prompt(
        self,
        text: str,
        images: Sequence[ImageContent] = (),
        *,
        follow_up: bool = False,
        accepted: Callable[[], object] = bool,
    ) -> None:
        """Send a prompt, or queue it."""
        sent = tuple(Image(data=each.data, mime_type=each.mime_type) for each in images)
        settled = self.mirror.next_settled()
        how = "followUp" if follow_up else "steer"
        streaming = how if self.is_streaming else None
        disposition = await self.call(self._client.prompt(text, sent, streaming_behavior=streaming))  # type: ignore[arg-type]
        accepted()
        if disposition == "started":
            await self._until(settled)

    async def _until(self, settled: asyncio.Future[None]) -> None:
        over = asyncio.ensure_future(self._over.wait())
        waited: list[asyncio.Future[Any]] = [settled, over]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()

    def take_queued(self) -> list[str]:
        """Remove and return the queued messages."""
        taken = self.mirror.take_queued()
        if taken:
            self._start(self._client.clear_queue())
        return taken

    def abort(self) -> None:
        """Stop the current answer."""
        self._start(self._client.abort())

    def skip_waiting(self) -> bool:
        """Return False: only an abort reaches the hooks of the other process."""
        return False

    def abort_bash(self) -> None:
        """Stop running commands of the user."""
        if self._running_bash:
            self._start(self._client.abort_bash())

    def abort_retry(self) -> None:
        """Cancel the repetition of a failed request."""
        self._start(self._client.abort_retry())

    def abort_compaction(self) -> None:
        """Stop a compaction by stopping its run, which is all that the protocol supports."""
        if self.is_compacting:
            self._start(self._client.abort())

    async def bash(self, command: str, command_id: str, *, excluded: bool) -> Any:
        """Run a command of the user."""
        self._running_bash.append(command_id)
        try:
            return await self.call(self._client.bash(command, exclude_from_context=excluded))
        finally:
            self._running_bash.remove(command_id)

    # Commands and completion

    async def commands(self) -> list[Known]:
        """Return the commands of plugins, templates and skills."""
        found = await self.call(self._client.get_commands())
        return [Known(each.name, each.description or "", each.source != "extension") for each in found]

    # Changes

    def models(self) -> list[str]:
        """Return the available models."""
        return [f"{each['provider']}/{each['id']}" for each in self.mirror.models]

    async def set_model(self, name: str) -> str:
        """Use a model, given by its name or a unique part of it."""
        wanted = name.lower()
        exact = [each for each in self.models() if wanted in (each.lower(), each.lower().partition("/")[2])]
        found = exact or [each for each in self.models() if wanted in each.lower()]
        if len(found) != 1:
            several = f"{len(found)} models have {name!r} in their names" if found else f"No model is named {name!r}"
            raise UserError(f"{several}. /model lists them.")
        provider, _, model_id = found[0].partition("/")
        await self.call(self._client.set_model(provider, model_id))
        await self.call(self._read_again())
        return found[0]

    async def cycle_model(self, *, forward: bool) -> str | None:
        """Use the next model and return its name; the protocol cannot go back to the previous one."""
        if not forward:
            raise UserError("Over a connection, models can only be cycled forward.")
        changed = await self.call(self._client.cycle_model())
        await self.call(self._read_again())
        return None if changed is None else str(changed.model["id"])

    def thinking_levels(self) -> list[str]:
        """Return the thinking levels of the model."""
        return [*self.mirror.levels]

    async def set_thinking_level(self, level: str) -> None:
        """Set the thinking level."""
        await self.call(self._client.set_thinking_level(level))  # type: ignore[arg-type] # one of the offered levels

    async def cycle_thinking_level(self) -> str | None:
        """Use the next thinking level."""
        return await self.call(self._client.cycle_thinking_level())

    async def set_name(self, name: str) -> None:
        """Name the session."""
        await self.call(self._client.set_session_name(name))

    async def compact(self, instructions: str | None) -> None:
        """Replace the older part of the conversation with a summary."""
        await self.call(self._client.compact(instructions))

    def last_answer(self) -> str | None:
        """Return the text of the last answer."""
        return self.mirror.last_answer

    def session_info(self) -> list[str]:
        """Return lines about the session's file, size and cost."""
        return self.mirror.session_info()

    # Other conversations

    async def new_session(self) -> bool:
        """Start a new session."""
        return await self._changed(self._client.new_session())

    async def switch_session(self, path: str) -> bool:
        """Continue a stored session."""
        return await self._changed(self._client.switch_session(path))

    async def _changed(self, work: Awaitable[bool]) -> bool:
        done = await self.call(work)
        if done:
            await self._replaced()
        return done

    def user_messages(self) -> list[tuple[str, str]]:
        """Return the id and the text of each message of the user."""
        return self.mirror.user_messages

    async def fork(self, entry_id: str) -> str | None:
        """Continue in a new session that ends before a message of the user."""
        forked = await self.call(self._client.fork(entry_id))
        if forked.cancelled:
            return None
        await self._replaced()
        return forked.text

    async def clone(self) -> bool:
        """Continue in a copy of the session."""
        return await self._changed(self._client.clone())

    # The end

    def shut_down(self) -> None:
        """Leave the session; closing its input ends the other process."""
        self._over.set()

    async def until_shut_down(self) -> None:
        """Wait until the user leaves or the other process has ended."""
        await self._over.wait()

    def set_user_interface(self, ui: Any) -> None:
        """Set the user interface that answers dialogs of plugins."""
        self._asker.ui = ui

    def resume_hint(self) -> str | None:
        """Return the command that continues the session at its location."""
        if self._again is not None:
            return self._again
        return None if self.mirror.session_id is None else f"pi --session {self.mirror.session_id}"
