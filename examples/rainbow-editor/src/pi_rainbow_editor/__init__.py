"""Draws the editor's text with moving colours for the word `ultrathink`."""

import asyncio
import re

from pi_hookspecs import Line, PiContext, Run, ScreenHandle, hookimpl

WORD = re.compile("ultrathink", re.IGNORECASE)
ROLES = ("error", "warning", "success", "accent", "mdLink", "syntaxKeyword")
SECONDS = 0.1


class RainbowEditor:
    """The front end sets ``text`` and ``cursor``; keys that are not used here edit them as usual."""

    text, cursor = "", 0

    def __init__(self, screen: ScreenHandle) -> None:
        self.screen, self.shift = screen, 0
        self.timer: asyncio.TimerHandle | None = None

    def render(self, width: int) -> list[Line]:
        coloured = [False] * len(self.text)
        for found in WORD.finditer(self.text):
            coloured[found.start() : found.end()] = [True] * (found.end() - found.start())
        if any(coloured) and self.timer is None:
            self.timer = asyncio.get_running_loop().call_later(SECONDS, self.move)
        rows: list[list[Run]] = [[]]
        for index, character in enumerate(f"{self.text} "):
            role = ROLES[(index + self.shift) % len(ROLES)] if coloured[index : index + 1] == [True] else "text"
            text = " " if character == "\n" else character
            if len(rows[-1]) == width:
                rows.append([])
            rows[-1].append(Run(text, role, bold=role != "text", reverse=index == self.cursor))
            if character == "\n":
                rows.append([])
        return [Line(tuple(row)) for row in rows]

    def move(self) -> None:
        """Move the colours by one letter."""
        self.shift -= 1
        self.timer = None
        self.screen.refresh()

    def handle_key(self, key: str) -> bool:
        return False

    def dispose(self) -> None:
        if self.timer is not None:
            self.timer.cancel()


@hookimpl
def session_start(ctx: PiContext) -> None:
    ctx.ui.set_editor_component(RainbowEditor)
