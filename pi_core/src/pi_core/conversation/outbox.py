"""Sends messages of programs and plugins, which are answered immediately or queued."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from pi_core.conversation.message_queue import user_message
from pi_hookspecs import AgentBusy, PiError, UserError, UserMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence

    from pi_core.conversation.message_queue import MessageQueue
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.turn import PromptTurns
    from pi_hookspecs import AssistantMessage, CustomMessage, ImageContent
    from pi_hookspecs.messages import UserContent

__all__ = ["Outbox"]

Delivery = Literal["steer", "followUp", "nextTurn"]


class Outbox:
    """Sends messages into a conversation, or queues them for it.

    Args:
        runtime: The objects that all parts share.
        queue: The message queues.
        turns: Answers messages.
        is_starting: Whether ``session_start`` is being emitted, so that no prompt can be answered yet.
    """

    def __init__(
        self, runtime: Runtime, queue: MessageQueue, turns: PromptTurns, *, is_starting: Callable[[], bool]
    ) -> None:
        self._runtime = runtime
        self._queue = queue
        self._turns = turns
        self._is_starting = is_starting
        self._queueing: asyncio.Task[None] | None = None
        self._sending: set[_Sent] = set()

    async def send_user_message(
        self, content: str | Sequence[UserContent], *, deliver_as: Literal["steer", "followUp"] | None = None
    ) -> AssistantMessage | None:
        """Send a message on behalf of the user; see ``AgentSession.send_user_message``."""
        return await self._turns.prompt(_of_user(content), behavior=deliver_as)

    async def send_message(
        self, message: CustomMessage, *, trigger_turn: bool = False, deliver_as: Delivery | None = None
    ) -> AssistantMessage | None:
        """Store, queue or send a plugin's message; see ``AgentSession.send_custom_message``."""
        if self._is_queued(message, deliver_as):
            return None
        if trigger_turn:
            return await self._turns.prompt(message)
        await self._runtime.transcript.append(message)
        return None

    def send_user_message_of(
        self, plugin: str, content: str | Sequence[UserContent], deliver_as: Literal["steer", "followUp"] | None
    ) -> Awaitable[AssistantMessage | None]:
        """Send a user message for a plugin that may not await the result; during a run it is queued immediately."""
        _check_thread("send_user_message")
        if self._runtime.is_streaming:
            if deliver_as is None:
                raise AgentBusy(
                    "An answer is in progress; specify how to queue the message: deliver_as='steer' or 'followUp'."
                )
            self._queue.add([_of_user(content)], deliver_as)
            return _Sent(None)
        return self._send(plugin, self.send_user_message(content, deliver_as=deliver_as))

    def send_message_of(
        self, plugin: str, message: CustomMessage, *, trigger_turn: bool, deliver_as: Delivery | None
    ) -> Awaitable[AssistantMessage | None]:
        """Send a message for a plugin that may not await the result; a message to be queued is queued immediately."""
        _check_thread("send_message")
        message = evolve(message, plugin=plugin)
        if self._is_queued(message, deliver_as):
            return _Sent(None)
        return self._send(plugin, self.send_message(message, trigger_turn=trigger_turn, deliver_as=deliver_as))

    def steer(self, text: str, images: Sequence[ImageContent] = ()) -> Awaitable[None]:
        """Queue a text for the next request; see ``AgentSession.steer``."""
        return self._queue_text(text, images, "steer")

    def follow_up(self, text: str, images: Sequence[ImageContent] = ()) -> Awaitable[None]:
        """Queue a text to be delivered when the agent would otherwise stop; see ``AgentSession.follow_up``."""
        return self._queue_text(text, images, "followUp")

    def _queue_text(
        self, text: str, images: Sequence[ImageContent], behavior: Literal["steer", "followUp"]
    ) -> Awaitable[None]:
        """Queue a text of the user; texts keep the order of the calls."""
        before = None if self._queueing is None or self._queueing.done() else self._queueing
        if before is None and not text.startswith("/"):
            self._queue.add([user_message(text, images)], behavior)
            return _Queued(None)
        name = text[1:].partition(" ")[0]
        if text.startswith("/") and self._runtime.registrations.find("register_commands", name) is not None:
            raise UserError(
                f'Extension command "/{name}" cannot be queued. Use prompt() or execute the command when not streaming.'
            )

        async def queue() -> None:
            if before is not None:
                await asyncio.wait([before])
            self._queue.add([user_message(await self._turns.expand(text), images)], behavior)

        self._queueing = asyncio.get_running_loop().create_task(queue())
        return _Queued(self._queueing)

    def _is_queued(self, message: CustomMessage, deliver_as: Delivery | None) -> bool:
        """Queue a plugin's message if necessary; return whether it was queued."""
        if deliver_as == "nextTurn":
            self._queue.add_for_next_turn(message)
            return True
        if self._runtime.is_streaming:
            self._queue.add([message], deliver_as or "steer")
            return True
        return False

    def _send(
        self, plugin: str, sending: Coroutine[Any, Any, AssistantMessage | None]
    ) -> Awaitable[AssistantMessage | None]:
        sent = _Sent(asyncio.get_running_loop().create_task(sending), self._is_starting)
        self._sending.add(sent)

        def done(task: asyncio.Task[AssistantMessage | None]) -> None:
            self._sending.discard(sent)
            error = None if task.cancelled() else task.exception()
            if error is not None and not sent.awaited:
                self._runtime.report_plugin_error(plugin, "send", f"Plugin {plugin!r} could not send: {error}")

        assert sent.task is not None  # noqa: S101 - given above
        sent.task.add_done_callback(done)
        return sent


class _Sent:
    """Waits for the answer to a plugin's message; unlike with a coroutine, the message is sent even if not awaited."""

    def __init__(
        self, task: asyncio.Task[AssistantMessage | None] | None, is_starting: Callable[[], bool] = bool
    ) -> None:
        self.task = task
        self.awaited = False
        self._is_starting = is_starting

    def __await__(self) -> Generator[Any, None, AssistantMessage | None]:
        if self._is_starting() and _in_a_hook():
            raise AgentBusy(
                "A handler of session_start cannot wait for the answer, which begins only when all handlers are done."
                " Send the message without await; it is answered afterwards."
            )
        self.awaited = True
        if self.task is None:
            return None
        return (yield from asyncio.shield(self.task).__await__())


class _Queued:
    """Waits until a text is queued; unlike with a coroutine, the text is queued even if not awaited."""

    def __init__(self, task: asyncio.Task[None] | None) -> None:
        self._task = task

    def __await__(self) -> Generator[None, None, None]:
        if self._task is not None:
            yield from asyncio.shield(self._task).__await__()


def _in_a_hook() -> bool:
    from pi_core.hooks.running_call import current_call

    call = current_call.get()
    return call is not None and not call.ended and call.task is asyncio.current_task()


def _check_thread(method: str) -> None:
    """Raise if no event loop is running, for example in a plugin's thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise PiError(
            f"pi.{method} works only in the thread of the event loop; from another thread, call"
            f" loop.call_soon_threadsafe(pi.{method}, ...), with the loop of asyncio.get_running_loop() in a handler."
        ) from None


def _of_user(content: str | Sequence[UserContent]) -> UserMessage:
    return UserMessage(content=content if isinstance(content, str) else tuple(content))
