"""``RemoteSession``: a session in another process, possibly on another computer, as a ``pi_core.Session``.

A verb is one line: the class of its RPC command, and how the command's result becomes that of ``AgentSession``. What
the protocol has no command for is refused, with an error that says where it is possible.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar, cast

from attrs import evolve, frozen

from pi_client import PiClientError, commands
from pi_client.methods import sends
from pi_core import (
    ForkOutcome,
    ModelCycle,
    ModelMatch,
    event_from_wire,
    from_wire,
    model_from_wire,
    not_over_connection,
)
from pi_hookspecs import BashExecutionMessage, CommandInfo, Compaction, PiError, UserError
from pi_hookspecs.events.session import SessionStartEvent
from pi_hookspecs.values import ReprMixin
from pi_rpc_kit.remote_view import RemoteView

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
    from contextvars import Context

    from pi_client import Event, PiClient, values
    from pi_client.commands import Request
    from pi_client.values import QueueMode
    from pi_core import Listener
    from pi_hookspecs import AssistantMessage, ImageContent, Model, SettingsView, UserInterface
    from pi_rpc_kit.remote_ui import Asker

__all__ = ["AnswerReceived", "RemoteSession", "ViewRead"]

R = TypeVar("R")

_READ_AGAIN = frozenset({"agent_settled", "compaction_end", "session_info_changed"})
"""Events after which the figures of the session may have changed."""

_CHANGING: tuple[type[Request[Any]], ...] = (commands.SetModel, commands.CycleModel, commands.Bash)
_CHANGING += (commands.SetThinkingLevel, commands.CycleThinkingLevel)
"""Commands that change figures or add entries without an event that tells so."""

_REPLACING = (commands.NewSession, commands.SwitchSession, commands.Fork, commands.Clone)


@frozen(kw_only=True, eq=False, repr=False)
class AnswerReceived(ReprMixin):
    """An answer that began before the front end was connected; ``message`` is the part received so far."""

    type: ClassVar[str] = "remote_answer_received"
    message: Any


@frozen(kw_only=True, eq=False, repr=False)
class ViewRead(ReprMixin):
    """The figures of the session were read again: name, model, tokens, cost."""

    type: ClassVar[str] = "remote_view_read"


def _refuses(what: str) -> Callable[..., Coroutine[Any, Any, NoReturn]]:
    async def refuse(_self: RemoteSession, *_args: object, **_fields: object) -> NoReturn:
        raise not_over_connection(what)

    return refuse


def _compaction(answer: values.Compaction) -> Compaction:
    return from_wire(answer.to_wire(), Compaction)


def _commands(answer: values.CommandList) -> tuple[CommandInfo, ...]:
    return tuple(
        CommandInfo(
            name=each.name,
            description=each.description,
            source=each.source,
            location=cast("Literal['user', 'project', 'path'] | None", each.location),
            path=each.path,
            argument_hint=each.argument_hint,
        )
        for each in answer.commands
    )


class RemoteSession(RemoteView):
    """Implements ``pi_core.Session``.

    Args:
        client: The connection; the caller closes it.
        settings: The local user's settings, which determine how a front end looks.
        asker: Passes requests from the client to the user.

    Attributes:
        local: None: only the other process can do what is not in the protocol.
        shutdown_requested: Set when the user leaves, or the other process has ended.
        ended: Whether the other process has ended by itself.
    """

    local = None

    def __init__(self, client: PiClient, settings: SettingsView, asker: Asker) -> None:
        super().__init__()
        self._client = client
        self._events = client.events()  # at once: work in progress is announced only at the beginning
        self._asker = asker
        self._listeners: list[Callable[[Any], object]] = []
        self._work: set[asyncio.Future[Any]] = set()
        self._bash_ids: dict[Any, str] = {}
        self._running_bash: list[str] = []
        self._held: list[Event] = []
        self._context: Context | None = None
        self.settings = settings
        self.has_ui = True
        self.ended = False
        self.shutdown_requested = asyncio.Event()

    @property
    def ui(self) -> UserInterface:
        """Answers dialogs."""
        ui: UserInterface = self._asker.ui
        return ui

    @ui.setter
    def ui(self, value: UserInterface) -> None:
        self._asker.ui = value

    @property
    def is_bash_running(self) -> bool:
        """Whether a command that was sent from here is running."""
        return bool(self._running_bash)

    def problems(self) -> Iterable[str]:
        """Return nothing: the other process reports its problems itself."""
        return ()

    # The connection

    async def begin(self) -> None:
        """Read the current state, and hold back further events until ``follow``.

        Raises:
            PiError: The other process has ended, or does not answer as pi does.
        """
        self._start(self._listen(self._events))
        await self._raising(self.read(self._client))
        if not self.receives_entries:
            self._held.clear()  # the state that was read includes these events
        self.is_streaming |= any(each.type == "agent_start" for each in self._held)

    def follow(self) -> None:
        """Pass on the events since ``begin`` and all further ones, in the caller's context.

        Listeners can create timers only in the application's context.
        """
        held, self._held, self._context = self._held, [], copy_context()
        for event in held:
            self._take(event)
        self._asker.begin()

    async def call(self, request: Request[R]) -> R:
        """Send a command and return its result; read again what it changes.

        Raises:
            PiError: The command failed, or the other process has ended.
        """
        answer = await self._raising(self._client.call(request))
        if isinstance(request, _CHANGING):
            await self._raising(self._read_again())
        elif isinstance(request, _REPLACING) and not getattr(answer, "cancelled", False):
            await self._replaced()
        return answer

    @staticmethod
    async def _raising(work: Awaitable[R]) -> R:
        try:
            return await work
        except PiClientError as error:
            raise PiError(str(error)) from error

    def _start(self, work: Awaitable[Any]) -> None:
        """Start some work without waiting for it; ignore its failure, since the other process may have ended."""

        async def do() -> None:
            with suppress(PiError):
                await self._raising(work)

        task = asyncio.ensure_future(do())
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    # Events

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event, or with events of the given types."""

        def call(event: Any) -> None:
            if not types or event.type in types:
                listener(event)

        self._listeners.append(call)

        def stop() -> None:
            if call in self._listeners:
                self._listeners.remove(call)

        return stop

    async def _listen(self, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                if self._context is not None:
                    self._context.run(self._take, event)
                elif event.type == "entries" and not self.receives_entries:
                    self.take_entries(event.data)
                else:
                    self._held.append(event)
            self.ended = not self.shutdown_requested.is_set()
        finally:
            self.shutdown_requested.set()

    def _take(self, received: Event) -> None:
        if received.type == "entries":
            if self.take_entries(received.data):  # another client of the session did this
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
        self.take(event)
        self._pass_on(event)
        if event.type in _READ_AGAIN:
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
        await self.read_figures(self._client)
        if not self.receives_entries:
            await self.read_new_entries(self._client)
        self._pass_on(ViewRead())

    async def _replaced(self) -> None:
        """Read the new conversation if the server does not send its entries."""
        if self.receives_entries:
            await self._raising(self._read_again())
            return
        await self._raising(self.read(self._client))
        self._pass_on(SessionStartEvent(reason="resume"))

    # Verbs

    steer = sends(commands.Steer, lambda _queued: None)
    follow_up = sends(commands.FollowUp, lambda _queued: None)
    abort = sends(commands.Abort)
    set_thinking_level = sends(commands.SetThinkingLevel)
    cycle_thinking_level = sends(commands.CycleThinkingLevel, lambda answer: None if answer is None else answer.level)
    set_session_name = sends(commands.SetSessionName)
    compact = sends(commands.Compact, _compaction)
    get_commands = sends(commands.GetCommands, _commands)
    new_session = sends(commands.NewSession, lambda answer: not answer.cancelled)
    switch_session = sends(commands.SwitchSession, lambda answer: not answer.cancelled)
    fork = sends(commands.Fork, lambda answer: ForkOutcome(selected_text=answer.text, cancelled=answer.cancelled))
    clone = sends(commands.Clone, lambda answer: not answer.cancelled)
    navigate_tree = _refuses("Moving in the tree")
    import_from_jsonl = _refuses("Importing a session")
    reload = _refuses("Reloading extensions")

    async def prompt(
        self,
        prompt: str,
        *,
        images: Sequence[ImageContent] = (),
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        source: str = "",
        on_accepted: Callable[[Literal["started", "queued", "handled"]], object] = bool,
    ) -> AssistantMessage | None:
        """Send a prompt and return once the run has settled, or the prompt is queued or handled."""
        del source  # the other process calls it "rpc"
        settled = self.next_settled()
        request = commands.Prompt(prompt, images, streaming_behavior=streaming_behavior)
        disposition = (await self.call(request)).disposition
        on_accepted(disposition)
        if disposition != "started":
            return None
        over = asyncio.ensure_future(self.shutdown_requested.wait())
        waited: list[asyncio.Future[Any]] = [settled, over]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
        return self._answer

    def take_user_texts(self) -> list[str]:
        """Remove the queued messages and return their texts."""
        steering, follow_up = self.clear_queue()
        return [*steering, *follow_up]

    def clear_queue(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove the queued messages and return the texts that are known of them."""
        queued = self.forget_queued()
        if any(queued):
            self._start(self._client.clear_queue())
        return queued

    def set_steering_mode(self, mode: QueueMode) -> None:
        """Set how many steering messages are delivered at a time."""
        self.steering_mode = mode
        self._start(self._client.set_steering_mode(mode))

    def set_follow_up_mode(self, mode: QueueMode) -> None:
        """Set how many follow-ups are delivered at a time."""
        self.follow_up_mode = mode
        self._start(self._client.set_follow_up_mode(mode))

    def set_auto_compaction_enabled(self, enabled: bool, /) -> None:  # noqa: FBT001 - as in ``Session``
        """Allow or forbid compactions other than manual ones."""
        self.auto_compaction_enabled = enabled
        self._start(self._client.set_auto_compaction(enabled))

    def set_auto_retry_enabled(self, enabled: bool, /) -> None:  # noqa: FBT001 - as in ``Session``
        """Allow or forbid retries."""
        self._start(self._client.set_auto_retry(enabled))

    def request_abort(self, reason: str = "") -> None:
        """Stop the current answer; the protocol has no field for the reason."""
        del reason
        self._start(self._client.abort())

    def abort_bash(self) -> None:
        """Stop the commands that were sent from here."""
        if self._running_bash:
            self._start(self._client.abort_bash())

    def abort_retry(self) -> None:
        """Cancel the pending retry."""
        self._start(self._client.abort_retry())

    def abort_compaction(self) -> None:
        """Stop a compaction by stopping its run, which is all that the protocol supports."""
        if self.is_compacting:
            self._start(self._client.abort())

    async def execute_bash(
        self,
        command: str,
        *,
        exclude_from_context: bool = False,
        id: str | None = None,  # noqa: A002 - its name in ``Session``
    ) -> BashExecutionMessage:
        """Run a command of the user."""
        given = id or ""
        self._running_bash.append(given)
        try:
            done = await self.call(commands.Bash(command, exclude_from_context=exclude_from_context))
        finally:
            self._running_bash.remove(given)
        return BashExecutionMessage(
            command=command,
            output=done.output,
            exit_code=done.exit_code,
            cancelled=done.cancelled,
            truncated=done.truncated,
            full_output_path=done.full_output_path,
            exclude_from_context=exclude_from_context or None,
        )

    async def resolve_model(self, reference: str) -> ModelMatch:
        """Return the available model with a name, or with a part of a name that no other one has.

        Raises:
            UserError: No model is meant, or several are.
        """
        return ModelMatch(_named(reference, self.get_available_models()))

    async def set_model(self, model: Model) -> None:
        """Use one of the available models."""
        await self.call(commands.SetModel(model.provider, model.id))

    async def cycle_model(self, direction: Literal["forward", "backward"] = "forward") -> ModelCycle | None:
        """Use the next model; the protocol cannot go back to the previous one."""
        if direction == "backward":
            raise UserError("Over a connection, models can only be cycled forward.")
        answer = await self.call(commands.CycleModel())
        if answer is None:
            return None
        model = model_from_wire(answer.model)
        return ModelCycle(model=model, thinking_level=answer.thinking_level, is_scoped=answer.is_scoped)

    async def export(self, path: str | None = None) -> Path:
        """Write the session as an HTML page where it runs, and return the page's path there."""
        if path is not None and not path.endswith((".html", ".htm")):
            raise not_over_connection("Exporting to a format other than HTML")
        return Path((await self.call(commands.ExportHtml(path))).path)


def _named(name: str, models: Sequence[Model]) -> Model:
    """Return the model with a name, or with a part of a name that no other one has.

    Raises:
        UserError: No model is meant, or several are.
    """
    wanted = name.lower()
    exact = [each for each in models if wanted in (each.reference.lower(), each.id.lower())]
    found = exact or [each for each in models if wanted in each.reference.lower()]
    if len(found) != 1:
        several = f"{len(found)} models have {name!r} in their names" if found else f"No model is named {name!r}"
        raise UserError(f"{several}. /model lists them.")
    return found[0]
