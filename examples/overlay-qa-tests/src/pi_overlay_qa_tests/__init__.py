"""Displays overlays: at each anchor, stacked, and hidden on narrow screens."""

import asyncio
from typing import get_args

from pi_hookspecs import Line, Overlay, OverlayAnchor, PiAPI, PiContext, Run, ScreenHandle, hookimpl

ANCHORS = get_args(OverlayAnchor)
WIDE = 70
"""Cells of a screen that has room for the panel of `/overlay-sizes`."""


class Panel:
    """A box with a title and lines of text; Enter is done with it, other keys are kept."""

    focused = False

    def __init__(self, screen: ScreenHandle, title: str, *lines: str) -> None:
        self.screen, self.title, self.lines = screen, title, lines

    def render(self, width: int) -> list[Line]:
        role = "accent" if self.focused else "muted"
        inner = max(width - 4, 1)
        head = f"╭─ {self.title} "[: width - 1]
        rows = [Line.of(Run(f"{head}{'─' * (width - 1 - len(head))}╮", role))]
        texts = (*self.lines, f"{width} cells wide · enter")
        rows += [Line.of(Run("│ ", role), text[:inner].ljust(inner), Run(" │", role)) for text in texts]
        return [*rows, Line.of(Run(f"╰{'─' * (width - 2)}╯", role))]

    def handle_key(self, key: str) -> bool:
        if key == "enter":
            self.screen.done(self.title)
        return key == "enter"


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("overlay-anchors", description="Display an overlay at each anchor")
    async def anchors(args: str, ctx: PiContext) -> None:
        for anchor in ANCHORS:
            overlay = Overlay(anchor=anchor, width=30, margin=1)
            if await ctx.ui.custom(lambda screen, name=anchor: Panel(screen, name), overlay=overlay) is None:
                return  # Escape

    @pi.register_command("overlay-stack", description="Display overlays above each other")
    async def stack(args: str, ctx: PiContext) -> None:
        async def panel(number: int) -> None:
            overlay = Overlay(anchor="top-left", width=36, offset=(4 * number, 2 * number))
            await ctx.ui.custom(lambda screen: Opens(screen, number, panel), overlay=overlay)

        await panel(1)

    @pi.register_command("overlay-sizes", description="Display an overlay that is hidden on a narrow screen")
    async def sizes(args: str, ctx: PiContext) -> None:
        overlay = Overlay(anchor="right", width="40%", min_width=24, visible=lambda size: size.width >= WIDE)
        await ctx.ui.custom(lambda screen: Panel(screen, "wide screens only", "40 % wide"), overlay=overlay)


class Opens(Panel):
    """A panel that opens the next one with `n`."""

    def __init__(self, screen: ScreenHandle, number: int, open_next) -> None:
        super().__init__(screen, f"panel {number}", "n opens another one")
        self.number, self.open_next = number, open_next

    def handle_key(self, key: str) -> bool:
        if key == "n":
            self.task = asyncio.ensure_future(self.open_next(self.number + 1))
            return True
        return super().handle_key(key)
