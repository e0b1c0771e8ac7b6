"""An extension for ``pi -e``: a model that follows commands in its prompt, and faults that a front end must handle.

``say TEXT`` answers it, ``fail TEXT`` breaks off with that error, ``wait`` answers nothing until it is aborted; ``call
TOOL`` calls one of the tools below and answers with what came back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import MessageBuilder, Model, ProviderInfo, ToolContext, hookimpl, text_of, tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from pi_hookspecs import (
        AssistantMessageEvent,
        Context,
        PiContext,
        Provider,
        SessionShutdownEvent,
        StreamOptions,
        Tool,
    )

__all__ = ["register_models", "register_providers", "register_tools", "session_shutdown", "turn_end"]

_MODEL = Model(id="model", name="Model", api="contract", provider="contract", context_window=100_000, max_tokens=1000)


class _Obedient:
    """Implements the API id ``contract``."""

    api = "contract"

    async def stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Execute the command in the last message."""
        builder, last = MessageBuilder(model), context.messages[-1]
        content = text_of(last.content)
        word, _, rest = ("say", "", content) if last.role == "toolResult" else content.strip().partition(" ")
        yield builder.start()
        if word == "call":
            start = builder.tool_call_start("call_1", rest)
            yield start
            yield builder.tool_call(start.content_index, "{}")
            yield builder.tool_call_end(start.content_index)
        else:
            for event in _text(builder, "waiting" if word == "wait" else rest):
                yield event
        if word == "fail":
            yield builder.fail(rest)
        elif word == "wait" and options.signal is not None:
            await options.signal.wait()
            yield builder.abort()
        else:
            yield builder.done()


def _text(builder: MessageBuilder, text: str) -> Iterator[AssistantMessageEvent]:
    start = builder.text_start()
    yield start
    yield builder.text(start.content_index, text)
    yield builder.text_end(start.content_index)


@tool
async def asks(ctx: ToolContext) -> str:
    """Ask the user."""
    return f"The user said {'yes' if await ctx.ui.confirm('Really?', 'The contract asks.') else 'no'}"


@tool
async def prints() -> str:
    """Print to stdout, which a tool should not do."""
    print("noise of a plugin")  # noqa: T201 - what a front end has to put up with
    return "printed"


@tool
async def sleeps(ctx: ToolContext) -> str:
    """Run a program that takes an hour."""
    (ctx.cwd / "sleeping").touch()
    await ctx.exec("sleep", [(ctx.cwd / "seconds").read_text()])
    return "slept"


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Answer for the API id ``contract``."""
    return [_Obedient()]


@hookimpl
def register_models() -> Sequence[ProviderInfo]:
    """Add ``contract/model``."""
    return [ProviderInfo(id="contract", name="Contract", api="contract", keyless=True, models=(_MODEL,))]


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add the tools."""
    return [asks, prints, sleeps]


@hookimpl
def turn_end(ctx: PiContext) -> None:
    """Fail, where a test wants a plugin that does."""
    if (ctx.cwd / "broken").exists():
        raise ValueError("the plugin's own mistake")


@hookimpl
def session_shutdown(event: SessionShutdownEvent, ctx: PiContext) -> None:
    """Leave a sign that the session was ended, and not merely its process."""
    with (ctx.cwd / "shutdown").open("a", encoding="utf-8") as file:
        file.write(f"{event.reason}\n")
