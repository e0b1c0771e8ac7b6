"""``ctx.ui`` of the screen: dialogs of plugins in place of the editor, their statuses, lines, titles and notices."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from pi_tui.dialogs.confirm import YES, Confirm
from pi_tui.dialogs.select import Select
from pi_tui.dialogs.text import TextDialog
from pi_tui.view.local_events import NoticeShown, StatusChanged, TitleChanged, WidgetChanged, WorkMessageChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import AbortSignal, AutocompleteProvider, NoticeLevel, Theme, WidgetPlacement
    from pi_tui.dialogs.base import Dialog
    from pi_tui.screen.themes import Themes

__all__ = ["Interface", "Surface"]


class Surface(Protocol):
    """What the interface needs of the screen."""

    expanded: bool
    themes: Themes

    def take_event(self, event: Any) -> None:
        """Display an event."""
        ...

    def open_dialog(self, dialog: Dialog[Any]) -> None:
        """Display a dialog, once those before it are closed."""
        ...

    def close_dialog(self, dialog: Dialog[Any]) -> None:
        """Remove a dialog."""
        ...

    def get_text(self) -> str:
        """Return what is typed."""
        ...

    def set_text(self, text: str) -> None:
        """Replace what is typed."""
        ...

    def paste(self, text: str) -> None:
        """Insert a text where the user types."""
        ...

    def set_expanded(self, *, expanded: bool) -> None:
        """Display all of every block, or its beginning."""
        ...

    def add_words(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Ask a provider for completions, too."""
        ...


class Interface:
    """Implements ``UserInterface``, and what of ``FullUserInterface`` needs no component.

    Args:
        surface: The screen.

    Attributes:
        interactive: There is a user.
    """

    interactive = True

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def __getattr__(self, name: str) -> Any:
        """Return ``open_url`` where a browser can be opened, which is found out when it is needed."""
        from pi_terminal_kit.browser import has_browser, open_page

        if name == "open_url" and has_browser():
            return open_page
        raise AttributeError(name)

    # Dialogs

    async def select(
        self,
        title: str,
        options: Sequence[str],
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Let the user choose."""
        return await self._ask(Select(title, options), signal, timeout) if options else None

    async def confirm(
        self,
        title: str,
        message: str = "",
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> bool:
        """Ask yes or no."""
        return await self._ask(Confirm(title, message), signal, timeout) == YES

    async def input(
        self,
        title: str,
        placeholder: str | None = None,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Ask for a line of text."""
        return await self._ask(TextDialog(title, placeholder=placeholder or ""), signal, timeout)

    async def editor(self, title: str, prefill: str = "") -> str | None:
        """Let the user edit a longer text."""
        return await self._ask(TextDialog(title, prefill=prefill, several=True), None, None)

    async def ask_secret(self, question: str) -> str | None:
        """Ask for a text that is displayed as dots."""
        return await self._ask(TextDialog(question, secret=True), None, None)

    async def _ask(self, dialog: Dialog[str], signal: AbortSignal | None, seconds: float | None) -> str | None:
        if signal is not None and signal.aborted:
            return None
        forget = signal.on_abort(lambda: dialog.finish(None)) if signal is not None else None
        self._surface.open_dialog(dialog)
        try:
            await asyncio.wait([dialog.result], timeout=seconds)
            return dialog.result.result() if dialog.result.done() else None
        finally:
            dialog.finish(None)
            self._surface.close_dialog(dialog)
            if forget is not None:
                forget()

    # Around the conversation

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Display a notice in the transcript."""
        self._surface.take_event(NoticeShown(text=message, level=level))

    def set_status(self, key: str, text: str | None = None) -> None:
        """Display a text in the last row of the footer."""
        self._surface.take_event(StatusChanged(key=key, text=text))

    def set_widget(
        self, key: str, lines: Sequence[Any] | None = None, *, placement: WidgetPlacement | None = None
    ) -> None:
        """Display lines above or below the editor."""
        rows = None if lines is None else tuple(lines)
        self._surface.take_event(WidgetChanged(key=key, lines=rows, placement=placement))

    def set_title(self, title: str) -> None:
        """Set the window's title."""
        self._surface.take_event(TitleChanged(title=title))

    def set_working_message(self, message: str | None = None) -> None:
        """Set the text in place of ``Working``."""
        self._surface.take_event(WorkMessageChanged(text=message))

    # The editor

    def set_editor_text(self, text: str) -> None:
        """Replace what is typed."""
        self._surface.set_text(text)

    def get_editor_text(self) -> str:
        """Return what is typed."""
        return self._surface.get_text()

    def paste_to_editor(self, text: str) -> None:
        """Insert a text at the cursor."""
        self._surface.paste(text)

    def add_autocomplete_provider(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Ask a provider for completions, too."""
        return self._surface.add_words(provider)

    # The theme

    @property
    def theme(self) -> Theme | None:
        """The theme that is displayed; None without colours."""
        themes = self._surface.themes
        return None if themes.depth == "none" else themes.current

    def get_all_themes(self) -> Sequence[Theme]:
        """Return the themes that can be set."""
        return self._surface.themes.all

    def get_theme(self, name: str) -> Theme | None:
        """Return a theme by its name."""
        return self._surface.themes.get(name)

    def set_theme(self, theme: str | Theme) -> None:
        """Display a theme until the user chooses one."""
        self._surface.themes.set(theme)

    # Tools

    def get_tools_expanded(self) -> bool:
        """Whether results of tools are displayed in full."""
        return self._surface.expanded

    def set_tools_expanded(self, expanded: bool) -> None:  # noqa: FBT001 - the protocol's
        """Display results of tools in full, or shortened."""
        self._surface.set_expanded(expanded=expanded)
