"""Rows of the model's text and reasoning in Markdown, both while they are received and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.line import BLANK, indent
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.stable import StreamingMarkdown
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Answer, Thinking
    from pi_tui.view.growing import Growing

__all__ = ["MarkdownRows"]

_THINKING = Run("", "thinkingText", italic=True)

_MOST_PADDED = 500
"""Most rows that are kept with their padding, a few screens of them."""


class MarkdownRows:
    """The rows of a growing block: ``update`` lays out only the new text. The first row is blank.

    Args:
        block: The block to follow; create new rows if its text is replaced.
        look: The layout options.
    """

    def __init__(self, block: Answer | Thinking, look: Look) -> None:
        self._block = block
        self._look = look
        self._text: Growing | None = None
        self._consumed = 0
        self._ended = False
        self._padded: dict[int, tuple[Line, Line]] = {}
        self._hidden = block.kind == "thinking" and (look.hide_thinking or block.redacted)
        self._padding = look.padding if look.width > 2 * look.padding else 0
        self.update()

    @property
    def parsed(self) -> int:
        """Number of characters parsed so far, for measurements."""
        return self._markdown.parsed

    def update(self) -> None:
        """Lay out what the block has received since the last update."""
        text = self._block.text
        if text is not self._text or self._ended:
            self._begin(text)
        if self._hidden:
            return
        self._markdown.feed(text.since(self._consumed))
        self._consumed = text.length
        if self._block.done:
            self._transform(str(text))
            self._markdown.end()
            self._ended = True

    def _transform(self, text: str) -> None:
        """Let plugins change the complete text."""
        if self._look.drawings is None:
            return
        changed = clean(self._look.drawings.markdown(text))
        if changed != text:
            self._begin(self._block.text)
            self._markdown.feed(changed)
            self._consumed = self._block.text.length

    def _begin(self, text: Growing) -> None:
        style = _THINKING if self._block.kind == "thinking" else Run("")
        self._text, self._consumed, self._ended = text, 0, False
        self._markdown = StreamingMarkdown(
            self._look.width - 2 * self._padding, Ink(style, self._look.cwd, diagrams=self._look.diagrams)
        )

    def __len__(self) -> int:
        if self._hidden:
            return 2
        count = len(self._markdown)
        return count + 1 if count else 0

    def window(self, start: int, stop: int) -> list[Line]:
        """Return the rows from ``start`` to ``stop``."""
        if self._hidden:
            label = self._look.thinking_label or "Thinking..."
            text = "Thinking (not readable)" if getattr(self._block, "redacted", False) else label
            line = Line.of(_THINKING._replace(text=text[: self._look.width - self._padding]))
            return [BLANK, *indent([line], self._padding, self._look.width)][start:stop]
        rows = self._markdown.window(max(start - 1, 0), max(stop - 1, 0))
        first = [BLANK] if start == 0 < stop and len(self) else []
        return first + [self._indented(row) for row in rows]

    def _indented(self, row: Line) -> Line:
        """Return a row with its padding: the same line again for the same row, so that it is drawn once."""
        found = self._padded.get(id(row))
        if found is None:
            if len(self._padded) > _MOST_PADDED:
                self._padded.clear()
            (padded,) = indent([row], self._padding, self._look.width)
            found = self._padded[id(row)] = row, padded  # the row stays, and with it its identity
        return found[1]
