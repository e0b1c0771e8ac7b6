"""Keeps the tools of a review inside of the repository: a change may contain instructions for the model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from pi_hookspecs import TextContent, ToolCallResult, ToolResultResult, hookimpl

if TYPE_CHECKING:
    from pi_hookspecs import PiContext, ToolCallEvent, ToolResultEvent

__all__ = ["Confined"]

OF_GIT = re.compile(r"(?:.*/)?\.git/")


class Confined:
    """A plugin that refuses paths outside of a folder, and in its `.git`, where CI keeps a token."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @hookimpl
    def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Refuse a call."""
        path = (self.folder / Path(event.input.get("path") or ".").expanduser()).resolve()
        if path.is_relative_to(self.folder) and ".git" not in path.relative_to(self.folder).parts:
            return None
        return ToolCallResult(block=True, reason=f"{str(path)!r} is not part of the repository.")

    @hookimpl
    def tool_result(self, event: ToolResultEvent, ctx: PiContext) -> ToolResultResult | None:
        """Remove the lines of `grep` and `find` that are from `.git`."""
        if event.tool_name not in ("grep", "find"):
            return None
        blocks = [each for each in event.content if isinstance(each, TextContent)]
        return ToolResultResult(content=tuple(evolve(each, text=_without_git(each.text)) for each in blocks))


def _without_git(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not OF_GIT.match(line))
