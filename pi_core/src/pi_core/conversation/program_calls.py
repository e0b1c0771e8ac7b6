"""Prompts of programs: ``ask`` for an answer as a value, ``stream`` for its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.answer import Answer
    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.streaming import PromptFeed, PromptStream
    from pi_core.conversation.turn import PromptTurns
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_hookspecs import ImageContent

__all__ = ["ProgramCalls"]


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
        from pi_core.conversation.ask import ask

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
        from pi_core.conversation.prompt_call import PromptCall
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
