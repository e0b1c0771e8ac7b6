"""The text of a block without layout, for search, copying and the transcript that is printed on exit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_tui.view.blocks import Block

__all__ = ["text_of_block"]


def text_of_block(block: Block) -> str:
    """Return all text of a block, even if only a part is displayed; program output keeps its colours (SGR)."""
    if block.kind == "bash":
        return f"$ {block.command}\n{block.output}".rstrip("\n")
    if block.kind == "tool":
        return block.output
    return str(block.text)
