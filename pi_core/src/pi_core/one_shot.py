"""``arun`` and ``run``: answer one prompt in a new session and return the answer as a value."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pi_core.create import create_agent_session
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.conversation.answer import Answer
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_hookspecs import ImageContent

__all__ = ["arun", "run"]

T = TypeVar("T")


@overload
async def arun(
    prompt: str,
    *,
    output_type: None = None,
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[str]: ...
@overload
async def arun(
    prompt: str,
    *,
    output_type: type[T],
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[T]: ...
@overload
async def arun(
    prompt: str,
    *,
    output_type: Any,
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[Any]: ...
async def arun(
    prompt: str,
    *,
    output_type: Any = None,
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[Any]:
    """Answer one prompt in a new session and return the answer.

    Args:
        prompt: The text of the prompt.
        output_type: The type of the answer's ``output``; see ``AgentSession.ask``.
        images: Images to send with the text.
        limits: Usage limits of the prompt.
        options: Options of ``create_agent_session``. Pass a shared ``host`` if you call this function often.

    Raises:
        PiError: For the same reasons as ``create_agent_session`` and ``AgentSession.ask``.
    """
    async with create_agent_session(**options) as session:
        answer: Answer[Any] = await session.ask(prompt, output_type=output_type, images=images, limits=limits)
        return answer


@overload
def run(
    prompt: str,
    *,
    output_type: None = None,
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[str]: ...
@overload
def run(
    prompt: str,
    *,
    output_type: type[T],
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[T]: ...
@overload
def run(
    prompt: str,
    *,
    output_type: Any,
    images: Sequence[ImageContent] = (),
    limits: UsageLimits | None = None,
    **options: Any,
) -> Answer[Any]: ...
def run(prompt: str, **options: Any) -> Answer[Any]:
    """Answer one prompt and return the answer: the blocking form of ``arun``, with the same arguments.

    Raises:
        PiError: For the same reasons as ``arun``, or because an event loop is running, as in a notebook.
    """
    if _runs_a_loop():
        raise PiError(
            "pi_core.run() cannot wait inside a running event loop, such as that of a notebook or a web server."
            " Use `await pi_core.arun(...)` there, with the same arguments."
        )
    answer: Answer[Any] = asyncio.run(arun(prompt, **options))
    return answer


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
