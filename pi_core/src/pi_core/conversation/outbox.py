"""What reaches the agent from programs and plugins instead of the user's prompt: messages, queued or at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import pi_hookspecs  # as in compaction.py
from pi_hookspecs import (
    AgentBusy,
    MessageEndEvent,
    MessageStartEvent,
    PiError,
    TextContent,
    UserError,
    UserMessage,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence

    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import AgentMessage, AssistantMessage, CustomMessage, ImageContent
    from pi_hookspecs.messages import UserContent

__all__ = ["Sending", "user_message"]

Delivery = Literal["steer", "followUp", "nextTurn"]


class Sending:
    """Sends messages into a session.

    Args:
        session: Where to.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._next_turn: list[CustomMessage] = []
        self._told: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._saying: asyncio.Task[None] | None = None
        self._sending: set[_Sent] = set()

    def take_waiting(self) -> list[CustomMessage]:
        """Return the messages that wait for the user's next prompt; they go with it."""
        waiting, self._next_turn = self._next_turn, []
        return waiting

    async def user_message(
        self, content: str | Sequence[UserContent], deliver_as: Literal["steer", "followUp"] | None
    ) -> AssistantMessage | None:
        """Say something in the user's place; see ``AgentSession.send_user_message``."""
        message = UserMessage(content=content if isinstance(content, str) else tuple(content))
        return await self._session.prompt(message, streaming_behavior=deliver_as)

    async def custom_message(
        self, message: CustomMessage, *, trigger_turn: bool, deliver_as: Delivery | None
    ) -> AssistantMessage | None:
        """Add a plugin's message; see ``AgentSession.send_message``."""
        session = self._session
        if deliver_as == "nextTurn":
            self._next_turn.append(message)
            return None
        if session.is_streaming:
            self.queue([message], deliver_as or "steer")
            return None
        if trigger_turn:
            return await session.prompt(message)
        await session.listeners.emit(MessageStartEvent(message=message), None)
        session.agent.append_message(message)
        session.session_manager.append_message(message)
        await session.listeners.emit(MessageEndEvent(message=message), None)
        return None

    def user_message_of(
        self, plugin: str, content: str | Sequence[UserContent], deliver_as: Literal["steer", "followUp"] | None
    ) -> Awaitable[AssistantMessage | None]:
        """Say something for a plugin that may not wait; queued at once where a run is going on."""
        _check_thread("send_user_message")
        if self._session.is_streaming:
            if deliver_as is None:
                raise AgentBusy("An answer is being made; say how to queue: deliver_as='steer' or 'followUp'.")
            self.queue([UserMessage(content=content if isinstance(content, str) else tuple(content))], deliver_as)
            return _Sent(None)
        return self._send(plugin, self.user_message(content, deliver_as))

    def message_of(
        self, plugin: str, message: CustomMessage, *, trigger_turn: bool, deliver_as: Delivery | None
    ) -> Awaitable[AssistantMessage | None]:
        """Add a message for a plugin that may not wait; queued at once where it is to be queued."""
        _check_thread("send_message")
        if deliver_as == "nextTurn":
            self._next_turn.append(message)
            return _Sent(None)
        if self._session.is_streaming:
            self.queue([message], deliver_as or "steer")
            return _Sent(None)
        return self._send(plugin, self.custom_message(message, trigger_turn=trigger_turn, deliver_as=deliver_as))

    def _send(
        self, plugin: str, sending: Coroutine[Any, Any, AssistantMessage | None]
    ) -> Awaitable[AssistantMessage | None]:
        sent = _Sent(asyncio.get_running_loop().create_task(sending), self._session)
        self._sending.add(sent)

        def done(task: asyncio.Task[AssistantMessage | None]) -> None:
            self._sending.discard(sent)
            error = None if task.cancelled() else task.exception()
            if error is not None and not sent.awaited:
                self._session.complain(plugin, "send", f"Plugin {plugin!r} could not send: {error}")

        assert sent.task is not None  # noqa: S101 - given above
        sent.task.add_done_callback(done)
        return sent

    def say(
        self,
        text: str,
        images: Sequence[ImageContent],
        behavior: Literal["steer", "followUp"],
        expand: Callable[[str], Awaitable[str]],
    ) -> Awaitable[None]:
        """Queue a text of the user, see ``AgentSession.steer``; texts stay in the order in which they were said."""
        before = None if self._saying is None or self._saying.done() else self._saying
        if before is None and not text.startswith("/"):
            self.queue([user_message(text, images)], behavior)
            return _Queued(None)
        name = text[1:].partition(" ")[0]
        if text.startswith("/") and self._session.registered.find("register_commands", name) is not None:
            raise UserError(
                f'Extension command "/{name}" cannot be queued. Use prompt() or execute the command when not streaming.'
            )

        async def queue() -> None:
            if before is not None:
                await asyncio.wait([before])
            self.queue([user_message(await expand(text), images)], behavior)

        self._saying = asyncio.get_running_loop().create_task(queue())
        return _Queued(self._saying)

    def queue(self, messages: Sequence[AgentMessage], behavior: Literal["steer", "followUp"] | None) -> None:
        """Queue messages for the run that is going on.

        Raises:
            AgentBusy: ``behavior`` does not say how.
        """
        if behavior is None:
            raise AgentBusy(
                "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."
            )
        agent = self._session.agent
        for message in messages:
            (agent.steer if behavior == "steer" else agent.follow_up)(message)
        self.tell_queues()

    def texts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the text of what is queued: for steering, and as follow-ups."""
        steering, follow_up = self._session.agent.peek_queued_messages()
        return tuple(map(_text, steering)), tuple(map(_text, follow_up))

    def clear(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Drop what is queued and return its text."""
        queued = self.texts()
        self._session.agent.clear_all_queues()
        self.tell_queues()
        return queued

    def forget(self) -> None:
        """Drop everything that waits: the conversation that it was meant for ends."""
        self._next_turn.clear()
        self.clear()

    def tell_queues(self) -> None:
        """Tell the subscribers what is queued now, if that has changed."""
        queued = steering, follow_up = self.texts()
        if queued == self._told:
            return
        self._told = queued
        self._session.listeners.emit_nowait(pi_hookspecs.QueueUpdateEvent(steering=steering, follow_up=follow_up))


class _Sent:
    """Waits for the answer to a plugin's message; unlike a coroutine it is sent when nobody waits."""

    def __init__(self, task: asyncio.Task[AssistantMessage | None] | None, session: AgentSession | None = None) -> None:
        self.task = task
        self.awaited = False
        self._session = session

    def __await__(self) -> Generator[Any, None, AssistantMessage | None]:
        if self._session is not None and self._session.is_beginning and _in_a_hook():
            raise AgentBusy(
                "A handler of session_start cannot wait for the answer, which waits until all handlers are done."
                " Send it without await: it is answered then."
            )
        self.awaited = True
        if self.task is None:
            return None
        return (yield from asyncio.shield(self.task).__await__())


class _Queued:
    """Waits until a text is queued; unlike a coroutine it does its work when nobody waits."""

    def __init__(self, task: asyncio.Task[None] | None) -> None:
        self._task = task

    def __await__(self) -> Generator[None, None, None]:
        if self._task is not None:
            yield from asyncio.shield(self._task).__await__()


def _in_a_hook() -> bool:
    from pi_core.hooks.running_call import current_call

    call = current_call.get()
    return call is not None and not call.over and call.task is asyncio.current_task()


def _check_thread(method: str) -> None:
    """Raise where there is no event loop, in a thread of a plugin: nothing there could send."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise PiError(
            f"pi.{method} works in the thread of the event loop; from another one call"
            f" loop.call_soon_threadsafe(pi.{method}, ...), with the loop of asyncio.get_running_loop() in a handler."
        ) from None


def user_message(text: str, images: Sequence[ImageContent] = ()) -> UserMessage:
    """Return what the user said as a message."""
    return UserMessage(content=(TextContent(text), *images))


def _text(message: AgentMessage) -> str:
    return text_of(getattr(message, "content", ""))
