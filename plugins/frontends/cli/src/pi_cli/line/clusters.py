"""Keys that delete and move by whole clusters: a flag, a letter with its accents, a family of joined emoji.

Without them, Backspace takes one code point, which turns a flag into a letter and a family into a smaller one.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from prompt_toolkit.filters import has_selection

if TYPE_CHECKING:
    from prompt_toolkit.filters import Filter
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

__all__ = ["add_cluster_keys", "length_after", "length_before"]

_LONGEST = 256
"""Characters of a long cluster: for each key, only the surroundings of the cursor are split into clusters."""


def add_cluster_keys(bindings: KeyBindings, when: Filter) -> None:
    """Bind Backspace, Delete, and the keys that move by one character, while nothing is selected."""
    when &= ~has_selection

    @bindings.add("backspace", filter=when)
    def _backspace(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.delete_before_cursor(length_before(buffer.document.text_before_cursor, event.arg)):
            event.app.output.bell()

    @bindings.add("delete", filter=when)
    def _delete(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.delete(length_after(buffer.document.text_after_cursor, event.arg)):
            event.app.output.bell()

    @bindings.add("left", filter=when)
    @bindings.add("c-b", filter=when)
    def _left(event: KeyPressEvent) -> None:
        before = event.current_buffer.document.current_line_before_cursor
        event.current_buffer.cursor_left(length_before(before, event.arg))

    @bindings.add("right", filter=when)
    @bindings.add("c-f", filter=when)
    def _right(event: KeyPressEvent) -> None:
        after = event.current_buffer.document.current_line_after_cursor
        event.current_buffer.cursor_right(length_after(after, event.arg))


def length_before(text: str, clusters: int) -> int:
    """Return how many characters the last clusters of a text have."""
    from wcwidth import iter_graphemes

    if clusters <= 0:
        return 0
    return sum(map(len, [*iter_graphemes(text[-_LONGEST * clusters :])][-clusters:]))


def length_after(text: str, clusters: int) -> int:
    """Return how many characters the first clusters of a text have."""
    from wcwidth import iter_graphemes

    return sum(map(len, islice(iter_graphemes(text), max(clusters, 0))))
