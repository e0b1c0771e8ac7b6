"""``arun`` and ``run``: answer one prompt in a new session and return the answer as a value."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pi_core.create import create_agent_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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

    Where an event loop is running, as in a notebook, the session runs in another thread. The loop is blocked during
    that time: a web server should use ``await arun(...)``. A KeyboardInterrupt aborts the prompt.

    Raises:
        PiError: For the same reasons as ``arun``.
    """
    answer: Answer[Any] = _run_in_thread(prompt, options) if _runs_a_loop() else asyncio.run(arun(prompt, **options))
    return answer


def _run_in_thread(prompt: str, options: dict[str, Any]) -> Answer[Any]:
    """Answer the prompt in an event loop of another thread, and wait for it until it has settled."""
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import suppress
    from contextvars import copy_context

    cancels: list[Callable[[], object]] = []
    interrupted = False

    async def answer() -> Answer[Any]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - it runs in a loop
        cancels.append(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        if interrupted:
            raise asyncio.CancelledError
        value: Answer[Any] = await arun(prompt, **options)
        return value

    with ThreadPoolExecutor(1, "pi") as threads:
        # The interrupt can arrive at any point, also while the work is handed to the thread.
        try:
            answered: Answer[Any] = threads.submit(copy_context().run, lambda: asyncio.run(answer())).result()
        except KeyboardInterrupt:
            interrupted = True
            for cancel in cancels:
                with suppress(RuntimeError):  # its loop has ended
                    cancel()
            raise
    return answered


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
