"""The completion list under the editor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.editor.complete.commands import CommandSource, by_use
from pi_tui.editor.complete.files import FileSource, PathSource
from pi_tui.editor.complete.offers import Menu
from pi_tui.editor.complete.stack import Stack
from pi_tui.editor.text import Text
from pi_tui.lines.line import cells, cut
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_tui.commands.table import Command
    from pi_tui.editor.complete.offers import Offer, Source
    from pi_tui.editor.state import Editor
    from pi_tui.screen.talk import Talk

__all__ = ["Completions", "menu_lines"]

_NAMES = 32
"""Greatest width of the column of names, in cells."""


def menu_lines(menu: Menu, most: int, width: int) -> list[Line]:
    """Return the rows of the list: at most ``most`` items, and the position if there are more."""
    first, items = menu.window(most)
    names = [clean_line(each.label if each.label is not None else each.value) for each in items]
    column = min(max((cells(name) for name in names), default=0), _NAMES) + 2
    rows = []
    for number, (name, item) in enumerate(zip(names, items, strict=True), first):
        chosen = number == menu.selected
        gap = " " * max(column - cells(name), 1)
        about = clean_line(item.description)
        role = "accent" if chosen else "text"
        runs = [
            Run("→ " if chosen else "  ", "accent"),
            Run(f"{name}{gap if about else ''}", role),
            Run(about, "muted"),
        ]
        rows.append(cut(Line(tuple(runs)), width))
    if len(menu.offer.items) > len(items):
        rows.append(Line.of(Run(f"  ({menu.selected + 1}/{len(menu.offer.items)})", "muted")))
    return rows


class Completions:
    """Completions of the text at the cursor, updated after each change.

    Args:
        talk: The conversation, which provides commands and files.
        changed: Called when the list appears, changes or is closed.
        take: Called when an explicit request finds only one item.
        sent: Returns the texts that the user has sent, by which commands are ordered.

    Attributes:
        menu: The list; None if there are no completions.
    """

    def __init__(
        self,
        talk: Talk,
        changed: Callable[[], object],
        take: Callable[[], object],
        sent: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        from pi_tui.commands.table import complete_argument
        from pi_tui.session.facts import files_below
        from pi_tui.session.plugins import mention_completions

        session = talk.session
        sources: list[Source] = [
            CommandSource(
                lambda: by_use(talk.known_commands(), sent()), lambda name, typed: complete_argument(talk, name, typed)
            ),
            FileSource(
                lambda: talk.cwd, partial(files_below, session), lambda typed: mention_completions(session, typed)
            ),
            PathSource(lambda: talk.cwd),
        ]
        self.menu: Menu | None = None
        self.stack = Stack(sources, lambda _source, error: talk.notice(f"Completion failed: {error}", "error"))
        self._of_plugins: list[Source] = []
        self._text = Text()
        self._own: dict[str, Command] = talk.own
        self._changed = changed
        self._take = take

    def ask(self, editor: Editor, *, asked: bool = False) -> None:
        """Look for completions of the typed text; ``asked`` if the user requested them."""
        text = editor.text
        line = text.text[: text.cursor].rpartition("\n")[2]
        worth = asked or self._of_plugins or text.text.lstrip(" \t").startswith("/") or "@" in line
        if not worth or (text.text.startswith("!") and not asked):
            self.close()
            return
        self.stack.ask(text.text, text.cursor, partial(self._found, text, asked), asked=asked)

    def add(self, source: Source) -> Callable[[], None]:
        """Add a plugin's source, which is asked first and for every word; return a function that removes it."""
        remove_source = self.stack.add(source)
        self._of_plugins.append(source)

        def remove() -> None:
            remove_source()
            if source in self._of_plugins:
                self._of_plugins.remove(source)

        return remove

    def _found(self, text: Text, asked: bool, offer: Offer | None) -> None:  # noqa: FBT001 - bound by partial
        self.menu, self._text = None if offer is None else Menu(offer), text
        if asked and offer is not None and len(offer.items) == 1:
            self._take()
        else:
            self._changed()

    def close(self) -> None:
        """Stop looking for completions, and close the list."""
        self.stack.cancel()
        if self.menu is not None:
            self.menu = None
            self._changed()

    def move(self, by: int) -> None:
        """Select another item."""
        if self.menu is not None:
            self.menu = self.menu.moved(by)
            self._changed()

    def taken(self, editor: Editor) -> Editor:
        """Return the editor after insertion of the selected item.

        If more was typed since the list was created, the first item that begins with the typed text is inserted; if
        there is none, the editor is returned unchanged.
        """
        menu, text = self.menu, editor.text
        if menu is not None and text != self._text:
            offer = menu.offer.typed_on(self._text, text)
            menu = Menu(offer) if offer is not None else None
        return editor if menu is None else editor.replaced(*menu.taken)
