"""A checklist: `/item` adds an item, `/checklist` ticks items off, `@item:` mentions one; the model can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_checklist._screen import Checklist, result_rows
from pi_hookspecs import (
    CompleteMentionResult,
    Completion,
    FormField,
    InputResult,
    Overlay,
    ToolAnnotations,
    ToolContext,
    ToolRenderer,
    ToolResult,
    UserError,
    hookimpl,
)

if TYPE_CHECKING:
    from pi_hookspecs import CompleteMentionEvent, InputEvent, PiAPI, PiContext

__all__ = ["activate"]

FIELDS = [
    FormField("text", title="What is to be done", required=True, maximum=60),
    FormField("owner", "choice", title="Who does it", options=["me", "the model"], default="me"),
]
READS = ToolAnnotations(read_only=True)
DRAWN = ToolRenderer("checklist", render_result=result_rows)


@hookimpl
def activate(pi: PiAPI) -> None:
    """Register everything for one session; the list is a local variable."""
    items: dict[str, bool] = {}

    def show(ctx: PiContext) -> None:
        ctx.ui.set_widget("checklist", lambda screen: Checklist(screen, items))

    @pi.register_tool(annotations=READS, renderer=DRAWN)
    async def checklist(ctx: ToolContext) -> ToolResult:
        """Read the checklist of this session."""
        text = "\n".join(f"[{'x' if done else ' '}] {item}" for item, done in items.items())
        return ToolResult.text(text or "It is empty.", details={"items": dict(items)})

    @pi.register_command("item", description="Add an item to the checklist")
    async def add(args: str, ctx: PiContext) -> None:
        answer = await ctx.ui.form(FIELDS, title="New item")
        if answer is not None:
            owner = "" if answer["owner"] == "me" else " (the model)"
            items[answer["text"] + owner] = False
            show(ctx)

    @pi.register_command("checklist", description="Tick items off")
    async def tick(args: str, ctx: PiContext) -> None:
        if not items:
            raise UserError("The checklist is empty: add to it with /item")
        item = await ctx.ui.custom(
            lambda screen: Checklist(screen, items),
            overlay=Overlay(anchor="top-right", width="40%"),
            fallback=lambda ui: ui.select("Which one is done?", list(items)),
        )
        if item is not None:
            items[item] = not items[item]
            show(ctx)

    @pi.on("complete_mention")
    def offer(event: CompleteMentionEvent) -> CompleteMentionResult:
        offers = [Completion(f"item:{number}", description=item) for number, item in enumerate(items, 1)]
        return CompleteMentionResult(completions=tuple(each for each in offers if each.value.startswith(event.text)))

    @pi.on("input")
    def expand(event: InputEvent) -> InputResult:
        text = event.text
        for number, item in reversed([*enumerate(items, 1)]):  # @item:12 before @item:1
            text = text.replace(f"@item:{number}", repr(item))
        return InputResult(text=text)
