"""The images of a message on their way into a session: each is fitted, or left out with a line that says why."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.content import ImageContent, TextContent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.base.images.fitting import FittedImage
    from pi_core.base.images.limits import ImageLimits

__all__ = ["fit_blocks"]


async def fit_blocks(
    content: Sequence[Any], limits: ImageLimits, *, resize: bool, notes_in_text: bool
) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return content with its images within limits, and the reasons of those that were left out.

    Args:
        content: The blocks of a message. Blocks that need no change are returned as they are.
        limits: What the model takes.
        resize: The setting ``images.autoResize``.
        notes_in_text: Append notes about images to the first text, as for a user's message; otherwise each note is a
            text of its own after its image. Then a broken image of a usual size stays as the tool or plugin made it,
            and only requests leave it out.
    """
    blocks: list[Any] = []
    notes: list[str] = []
    omitted: list[str] = []
    for block in content:
        if not isinstance(block, ImageContent):
            blocks.append(block)
            continue
        fitted = await _fit(block, limits, resize=resize)
        if fitted.omitted and not notes_in_text and len(block.data) <= limits.size:
            blocks.append(block)
            continue
        if fitted.omitted:
            omitted.extend(fitted.notes)
        elif (fitted.data, fitted.mime_type) == (block.data, block.mime_type):
            blocks.append(block)
        else:
            blocks.append(evolve(block, data=fitted.data, mime_type=fitted.mime_type))
        if notes_in_text:
            notes.extend(fitted.notes)
        elif fitted.notes:
            blocks.append(TextContent("\n".join(fitted.notes)))
    return tuple(_with_notes(blocks, notes)), tuple(omitted)


async def _fit(block: ImageContent, limits: ImageLimits, *, resize: bool) -> FittedImage:
    def fit() -> FittedImage:
        from pi_core.base.images.fitting import fit_image  # Pillow comes with the first image, in this thread

        return fit_image(block.data, limits, resize=resize)

    return await asyncio.to_thread(fit)


def _with_notes(blocks: list[Any], notes: list[str]) -> list[Any]:
    if not notes:
        return blocks
    text = "\n".join(notes)
    for index, block in enumerate(blocks):
        if isinstance(block, TextContent):
            joined = f"{block.text}\n\n{text}" if block.text else text
            return [*blocks[:index], evolve(block, text=joined), *blocks[index + 1 :]]
    return [TextContent(text), *blocks]
