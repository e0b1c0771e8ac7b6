"""The screen's implementation of ``ctx.ui``: dialogs, statuses, widgets, titles and notices of plugins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from pi_core import DialogUI
from pi_tui.dialogs.select import YES, Confirm, Select
from pi_tui.dialogs.text import TextDialog
from pi_tui.view.clean import clean_line
from pi_tui.view.local_events import (
    ActivityChanged,
    NoticeShown,
    StatusChanged,
    TitleChanged,
    WidgetChanged,
    WorkMessageChanged,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core import DialogRequest
    from pi_hookspecs import (
        AbortSignal,
        Activity,
        Approval,
        AutocompleteProvider,
        ComponentFactory,
        FormField,
        FullUserInterface,
        Line,
        NoticeLevel,
        Overlay,
        TerminalInputHandler,
        Theme,
        WidgetPlacement,
    )
    from pi_tui.dialogs.base import Dialog
    from pi_tui.dialogs.form import Form
    from pi_tui.screen.app import ScreenApp

__all__ = ["Interface"]

T = TypeVar("T")


class Interface(DialogUI):
    """Implements ``FullUserInterface``.

    Args:
        app: The application.

    Attributes:
        interactive: True, since there is a user.
    """

    interactive = True

    def __init__(self, app: ScreenApp) -> None:
        self._app = app

    def open_url(self, url: str) -> bool:
        """Open a page in the user's browser; return False if there is no browser."""
        from pi_terminal_kit.browser import has_browser, open_page

        return has_browser() and open_page(url)

    # Dialogs

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Open a dialog on the screen."""
        drawn: Dialog[Any]
        if dialog.kind == "select":
            if not dialog.options:
                return None
            drawn = Select(dialog.title, dialog.options)
        elif dialog.kind == "confirm":
            drawn = Confirm(dialog.title, dialog.text)
        elif dialog.kind == "input":
            drawn = TextDialog(dialog.title, placeholder=dialog.text)
        else:
            drawn = TextDialog(dialog.title, prefill=dialog.text, several=True)
        answer = await self._ask(drawn, dialog.signal, dialog.timeout)
        return answer == YES if dialog.kind == "confirm" else answer

    async def approve(
        self,
        approval: Approval,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Ask for an approval."""
        from pi_tui.dialogs.approve import Approve

        return await self._ask(Approve(approval), signal, timeout)

    async def ask_secret(self, question: str) -> str | None:
        """Ask for a text that is displayed as dots."""
        return await self._ask(TextDialog(question, secret=True), None, None)

    async def form(
        self,
        fields: Sequence[FormField],
        *,
        title: str = "",
        message: str = "",
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> dict[str, Any] | None:
        """Ask for the fields of a form in one dialog."""
        from pi_tui.dialogs.form import Form

        form = Form(fields, title, message)
        checking = asyncio.ensure_future(self._check(form, fields))
        try:
            asking = self._ask(form, signal, timeout)
            asked = asyncio.ensure_future(asking)
            await asyncio.wait([asked, checking], return_when=asyncio.FIRST_COMPLETED)
            if checking.done():
                checking.result()  # raise the error of a plugin's check
            return await asked
        finally:
            form.finish(None)
            checking.cancel()

    async def _check(self, form: Form, fields: Sequence[FormField]) -> None:
        """Finish a form with valid values, or display its problems."""
        from pi_core.plugin_api.forms import entered_values

        while not form.result.done():
            values, problems = entered_values(fields, await form.submitted.get())
            if problems:
                form.show_problems(problems)
                self._app.draw_dialog()
            else:
                form.finish(values)

    async def _ask(self, dialog: Dialog[T], signal: AbortSignal | None, seconds: float | None) -> T | None:
        if signal is not None and signal.aborted:
            return None
        forget = signal.on_abort(lambda: dialog.finish(None)) if signal is not None else None
        try:
            await self._app.keyboard.wait_for_pause(dialog.result)
            if not dialog.result.done():
                self._app.open_dialog(dialog)
            await asyncio.wait([dialog.result], timeout=seconds)
            return dialog.result.result() if dialog.result.done() else None
        finally:
            dialog.finish(None)
            self._app.close_dialog(dialog)
            if forget is not None:
                forget()

    # Around the conversation

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Display a notice in the transcript."""
        self._app.take_event(NoticeShown(text=message, level=level))

    def set_status(self, key: str, text: str | None = None) -> None:
        """Display a text in the last row of the footer."""
        self._app.take_event(StatusChanged(key=key, text=text))

    def set_widget(
        self,
        key: str,
        lines: Sequence[str | Line] | ComponentFactory | None = None,
        *,
        placement: WidgetPlacement | None = None,
    ) -> None:
        """Display lines or a component above or below the editor."""
        if callable(lines):
            self._app.board.set_widget(key, lines, placement or "aboveEditor")
            return
        self._app.board.set_widget(key, None, "aboveEditor")
        rows = None if lines is None else tuple(lines)
        self._app.take_event(WidgetChanged(key=key, lines=rows, placement=placement))

    def set_activity(self, key: str, activity: Activity | None = None) -> None:
        """Display what a plugin has running in the strip above the editor."""
        self._app.take_event(ActivityChanged(key=key, activity=activity))

    def set_header(self, factory: ComponentFactory | None = None) -> None:
        """Display a component in place of the header."""
        self._app.board.set_header(factory)

    def set_footer(self, factory: ComponentFactory | None = None) -> None:
        """Display a component in place of the footer."""
        self._app.board.set_footer(factory)

    async def custom(
        self,
        factory: ComponentFactory,
        *,
        overlay: Overlay | None = None,
        fallback: Callable[[FullUserInterface], Any] | None = None,
    ) -> Any:
        """Display a component that receives all keys until it is done."""
        del fallback  # components can be displayed here
        from pi_tui.plugins_ui.asked import ask_component

        return await ask_component(self._app, factory, overlay)

    def set_title(self, title: str) -> None:
        """Set the window's title."""
        self._app.take_event(TitleChanged(title=title))

    # While the session works

    def set_working_message(self, message: str | None = None) -> None:
        """Set the text in place of ``Working``."""
        self._app.take_event(WorkMessageChanged(text=message))

    def set_working_visible(self, visible: bool) -> None:  # noqa: FBT001 - the protocol's
        """Show or hide that the session is working."""
        self._app.spinner.visible = visible
        self._app.draw_editor()

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """Set the spinner that is displayed while the session works."""
        self._app.spinner.set_frames(frames, interval)
        self._app.draw_editor()

    def set_hidden_thinking_label(self, label: str | None = None) -> None:
        """Set the text in place of hidden reasoning."""
        self._app.thinking_label = None if label is None else clean_line(label)
        self._app.draw_all()

    def redraw(self) -> None:
        """Draw the conversation again, with what renderers return now."""
        self._app.redrawn += 1
        self._app.transcript.draw_again()

    # The editor

    def set_editor_text(self, text: str) -> None:
        """Replace the typed text."""
        self._app.set_text(text)

    def get_editor_text(self) -> str:
        """Return the typed text."""
        return self._app.get_text()

    def paste_to_editor(self, text: str) -> None:
        """Insert a text at the cursor."""
        self._app.paste(text)

    def set_editor_component(self, factory: ComponentFactory | None = None) -> None:
        """Display a component in place of the editor."""
        self._app.board.set_editor(factory)

    def get_editor_component(self) -> ComponentFactory | None:
        """Return the factory of the component that replaces the editor."""
        return self._app.board.editor_factory

    def on_terminal_input(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Call a handler with all terminal input before it is parsed."""
        return self._app.typed_filters.add(handler)

    def add_autocomplete_provider(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Add a provider of completions."""
        return self._app.add_words(provider)

    # The theme

    @property
    def theme(self) -> Theme | None:
        """The current theme; None without colours."""
        themes = self._app.themes
        return None if themes.depth == "none" else themes.current

    def get_all_themes(self) -> Sequence[Theme]:
        """Return the available themes."""
        return self._app.themes.all

    def get_theme(self, name: str) -> Theme | None:
        """Return a theme by its name."""
        return self._app.themes.get(name)

    def set_theme(self, theme: str | Theme) -> None:
        """Use a theme until the user chooses another one."""
        self._app.themes.set(theme)

    # Tools

    def get_tools_expanded(self) -> bool:
        """Whether results of tools are displayed in full."""
        return self._app.expanded

    def set_tools_expanded(self, expanded: bool) -> None:  # noqa: FBT001 - the protocol's
        """Display results of tools in full or shortened."""
        self._app.set_expanded(expanded=expanded)
