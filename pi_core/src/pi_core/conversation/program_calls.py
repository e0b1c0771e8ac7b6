"""Prompts of programs: ``ask`` for an answer as a value, ``stream`` for its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.conversation.answer import Answer
from pi_core.conversation.prompt_call import PromptCall
from pi_core.session.context import entry_message
from pi_hookspecs import Aborted, InvalidOutput, PiError, RequestFailed, UserMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.streaming import PromptFeed, PromptStream
    from pi_core.conversation.structured_output import OutputFormat
    from pi_core.conversation.turn import PromptTurns
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_core.session import SessionManager
    from pi_hookspecs import AgentMessage, AssistantMessage, ImageContent

__all__ = ["ProgramCalls", "ask"]


async def ask(
    prompt: Callable[[PromptCall], Awaitable[AssistantMessage | None]],
    follow_up: Callable[[UserMessage, PromptCall], Awaitable[AssistantMessage | None]],
    manager: SessionManager,
    output_type: Any,
    limits: UsageLimits | None,
) -> Answer[Any]:
    """Return the answer to a prompt; see ``AgentSession.ask``.

    Args:
        prompt: Sends the prompt, as part of a call.
        follow_up: Sends another message in the same call.
        manager: The conversation.
        output_type: The type of the answer's data; None or ``str`` for its text.
        limits: Limits for all requests of the call.
    """
    output = _format_of(output_type)
    call, begin = PromptCall(limits, output), manager.get_leaf_id()
    answer = await prompt(call)
    if answer is None and output is not None:
        raise PiError("A command or a plugin handled the prompt, so there is no answer to convert to output_type")
    text = "" if answer is None else _text_of(answer)
    value: Any = text
    if output is not None:
        try:
            value = output.value_of(text)
        except InvalidOutput as error:
            answer = await follow_up(UserMessage(content=output.correction(error)), call)
            text = "" if answer is None else _text_of(answer)
            value = _corrected_value(output, text)
    return Answer(text, output=value, usage=call.meter.usage, messages=_messages_since(begin, manager))


def _format_of(output_type: Any) -> OutputFormat | None:
    if output_type is None or output_type is str:
        return None
    from pi_core.conversation.structured_output import OutputFormat

    return OutputFormat(output_type)


def _text_of(answer: AssistantMessage) -> str:
    if answer.stop_reason == "aborted":
        raise Aborted(answer.error_message or "The prompt was aborted")
    if answer.stop_reason == "error":
        raise RequestFailed(answer.error_message or "The request to the model failed")
    return answer.text


def _corrected_value(output: OutputFormat, text: str) -> Any:
    try:
        return output.value_of(text)
    except InvalidOutput as error:
        problem = f"The answer does not match output_type, even after it was requested a second time:\n{error}"
        raise InvalidOutput(f"{problem}\nThe answer: {text!r:.500}", text=text) from None


def _messages_since(begin: str | None, manager: SessionManager) -> list[AgentMessage]:
    """Return the messages that were appended to the branch after an entry."""
    messages = []
    for entry in reversed(manager.get_branch()):
        if entry.id == begin:
            break
        message = entry_message(entry) if entry.type in ("message", "custom_message") else None
        if message is not None:
            messages.append(message)
    return messages[::-1]


class ProgramCalls:
    """Answers the prompts of programs.

    Args:
        runtime: The objects that all parts share.
        turns: Answers prompts.
        lifecycle: Aborts the prompt if the consumer of a stream leaves it.
    """

    def __init__(self, runtime: Runtime, turns: PromptTurns, lifecycle: Lifecycle) -> None:
        self._runtime = runtime
        self._turns = turns
        self._lifecycle = lifecycle
        self._feed: PromptFeed | None = None

    async def ask(
        self, prompt: str, output_type: Any, images: Sequence[ImageContent], limits: UsageLimits | None
    ) -> Answer[Any]:
        """Answer a prompt and return the answer as a value; see ``AgentSession.ask``."""
        turns = self._turns
        await self.wait_for_abandoned_stream()  # its remaining events belong to no answer
        return await ask(
            lambda call: turns.prompt(prompt, images=images, call=call),
            lambda message, call: turns.prompt(message, call=call),
            self._runtime.manager,
            output_type,
            limits,
        )

    def stream(self, prompt: str, images: Sequence[ImageContent], limits: UsageLimits | None) -> PromptStream:
        """Return the events of a prompt; see ``AgentSession.stream``."""
        from pi_core.conversation.streaming import PromptFeed, PromptStream

        turns = self._turns

        async def begin(on_accepted: Callable[[str], None]) -> None:
            await self.wait_for_abandoned_stream()
            if self._feed is None or not self._feed.is_answered:  # otherwise the new prompt is refused
                self._feed = feed
            await turns.prompt(prompt, images=images, call=PromptCall(limits), on_accepted=on_accepted)

        feed = PromptFeed(self._runtime.events.add, self._lifecycle.request_abort, begin)
        return PromptStream(feed)

    async def wait_for_abandoned_stream(self) -> None:
        """Wait until the prompt of a stream that its consumer has closed has settled."""
        feed = self._feed
        if feed is not None and feed.is_left and feed.is_answered and not self._runtime.gate.is_inside_prompt():
            feed.leave()
            await feed.ended()
