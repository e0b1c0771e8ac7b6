"""The method of a session that programs use: ``ask`` for an answer as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.agent_session.prompt_steps import PromptSteps
    from pi_core.agent_session.usage_limits import UsageLimits
    from pi_core.answer import Answer
    from pi_core.session import SessionManager
    from pi_hookspecs import ImageContent

__all__ = ["ProgramCalls"]

T = TypeVar("T")


class ProgramCalls:
    """Methods of ``AgentSession``."""

    session_manager: SessionManager
    _steps: PromptSteps

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
        from pi_core.agent_session.asking import ask

        steps = self._steps
        return await ask(
            lambda call: steps.prompt(prompt, images=images, call=call),
            lambda message, call: steps.prompt(message, call=call),
            self.session_manager,
            output_type,
            limits,
        )
