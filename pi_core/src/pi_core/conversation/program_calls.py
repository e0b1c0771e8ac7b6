"""The methods of a session that programs use: ``ask`` for an answer as a value, ``stream`` for its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.answer import Answer
    from pi_core.conversation.prompt_steps import PromptSteps
    from pi_core.conversation.session import AgentSession
    from pi_core.conversation.streaming import PromptFeed, PromptStream
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_core.session import SessionManager
    from pi_hookspecs import ImageContent

__all__ = ["ProgramCalls"]

T = TypeVar("T")


class ProgramCalls:
    """Methods of ``AgentSession``."""

    session_manager: SessionManager
    _steps: PromptSteps
    _feed: PromptFeed | None = None

    @overload
    async def ask(
        self,
        prompt: str,
        *,
        output_type: None = None,
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[str]: ...
    @overload
    async def ask(
        self,
        prompt: str,
        *,
        output_type: type[T],
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[T]: ...
    @overload
    async def ask(
        self,
        prompt: str,
        *,
        output_type: Any,
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[Any]: ...
    async def ask(
        self,
        prompt: str,
        *,
        output_type: Any = None,
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[Any]:
        """Answer a prompt and return the answer as a value; unlike ``prompt`` it raises where there is none.

        Args:
            prompt: The text; commands, skills and templates as in ``prompt``.
            output_type: The data that the answer is to be: a JSON schema as a dict, an attrs class, a dataclass, a
                ``TypedDict``, a pydantic model, a primitive, a list, or a union of these. The model is held to it where
                its API can do that, and asked for it in the system prompt. An answer that does not fit is sent back
                once.
            images: Images that belong to the text.
            limits: What the prompt may use, a correction of its output included.

        Returns:
            The answer; ``output`` is the data, or the text where no ``output_type`` is given.

        Raises:
            RequestFailed: The request to the model failed, after the retries that the installed policy makes.
            Aborted: The prompt was aborted.
            InvalidOutput: The answer does not fit ``output_type``, not even after it was sent back.
            UsageLimitExceeded: A limit was reached; the conversation can go on.
            AgentBusy: Another prompt is being answered.
            PiError: A command or a plugin dealt with the prompt, so that there is no data. Without ``output_type`` the
                answer is the empty text then.
        """
        from pi_core.conversation.asking import ask

        steps = self._steps
        await self.left_stream_settled()  # what it still says belongs to no answer
        return await ask(
            lambda call: steps.prompt(prompt, images=images, call=call),
            lambda message, call: steps.prompt(message, call=call),
            self.session_manager,
            output_type,
            limits,
        )

    def stream(
        self, prompt: str, *, images: Sequence[ImageContent] = (), limits: UsageLimits | None = None
    ) -> PromptStream:
        """Answer a prompt and yield the session's events, ``agent_settled`` last; ``stream(...).text()`` only its text.

        For ``async for event in session.stream("..."):``. The prompt begins with the first step of the iteration.
        Leaving the loop early, by ``break``, an exception or a cancelled task, aborts the prompt, and the session can
        be used again at once. A stream that is kept in a variable is left by ``await stream.aclose()``, or by
        ``async with contextlib.aclosing(...)``.

        A consumer that is slow slows the run down: it waits as soon as a thousand events have not been taken. So a loop
        must not wait for its own run to end (``wait_for_idle``); ``abort`` may be awaited in it.

        Args:
            prompt: As in ``prompt``.
            images: Images that belong to the text.
            limits: What the prompt may use.

        Raises:
            AgentBusy: Another prompt is being answered; raised by the first step.
            UsageLimitExceeded: A limit was reached; raised after the last event.
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
        """
        from pi_core.conversation.prompt_call import PromptCall
        from pi_core.conversation.streaming import PromptFeed, PromptStream

        steps = self._steps

        async def begin(on_accepted: Callable[[str], None]) -> None:
            await self.left_stream_settled()
            if self._feed is None or not self._feed.is_answered:  # else the prompt is refused, and that one goes on
                self._feed = feed
            await steps.prompt(prompt, images=images, call=PromptCall(limits), on_accepted=on_accepted)

        feed = PromptFeed(cast("AgentSession", self), begin)
        return PromptStream(feed)

    async def left_stream_settled(self) -> None:
        """Return when a stream that its consumer has left is no longer being answered."""
        feed = self._feed
        if feed is not None and feed.is_left and feed.is_answered and not self.is_inside_prompt():
            feed.leave()
            await feed.ended()

    # What is the session's own

    def is_inside_prompt(self) -> bool:
        """Whether it is the prompt's own task that asks."""
        raise NotImplementedError
