"""User interface for plugins: the part that needs a screen.

``ctx.ui`` always has all of it, so that plugins need not ask which front end runs. If a front end lacks a member, the
call does nothing or displays the nearest equivalent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from pi_hookspecs.ui import UserInterface

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.activities import Activity
    from pi_hookspecs.approvals import Approval
    from pi_hookspecs.completions import Completion
    from pi_hookspecs.forms import FormField
    from pi_hookspecs.interface_registrations import Theme
    from pi_hookspecs.lines import Line
    from pi_hookspecs.screen import ComponentFactory, Overlay
    from pi_hookspecs.ui import WidgetPlacement

__all__ = ["AutocompleteProvider", "FullUserInterface", "TerminalInputHandler"]

TerminalInputHandler: TypeAlias = "Callable[[str], bool | str | Awaitable[bool | str | None] | None]"
"""Gets terminal input before the front end does; returns True to discard it, or the input to use instead.

Since 1.1 it may be ``async``; if it takes more than a second, the input is used unchanged.
"""

AutocompleteProvider: TypeAlias = (
    "Callable[[str, int], Sequence[str] | Sequence[Completion] | Awaitable[Sequence[str] | Sequence[Completion]]]"
)
"""Gets the editor's text and the position of the cursor in it; returns what the word before the cursor could become, or
what ``Completion.replaces`` names.

Plain, within 100 ms, or ``async``, within 2 seconds.
"""


@runtime_checkable
class FullUserInterface(UserInterface, Protocol):
    """Everything that a plugin can do with a user interface. A front end that draws components has all of it.

    Without a screen, ``custom`` calls its fallback; widgets, header and footer that are components are
    displayed as lines of 80 cells if the front end displays lines; everything else does nothing.

    ``notify`` and the methods that begin with ``set_`` may be called from any thread, such as that of a tool without
    ``async``; dialogs only in the event loop.

    Dialogs are awaited: ``if await ctx.ui.confirm("Run it?")``. Without ``await`` the condition raises. ``timeout`` is
    seconds; a dialog that times out or is aborted returns as if dismissed.
    """

    def set_widget(
        self,
        key: str,
        lines: Sequence[str | Line] | ComponentFactory | None = None,
        *,
        placement: WidgetPlacement | None = None,
    ) -> None:
        """Display lines, or a component, under a key near the editor, above it by default; None removes them."""
        ...

    def set_activity(self, key: str, activity: Activity | None = None) -> None:
        """Display under a key what the plugin has running or pending, in the strip above the editor; None removes it.

        Front ends without a strip display a status, or a widget if the activity is ``listed``.
        """
        ...

    def set_header(self, factory: ComponentFactory | None = None) -> None:
        """Display a component in place of the header; None displays the front end's own again."""
        ...

    def set_footer(self, factory: ComponentFactory | None = None) -> None:
        """Display a component in place of the footer; None displays the front end's own again."""
        ...

    async def custom(
        self,
        factory: ComponentFactory,
        *,
        overlay: Overlay | None = None,
        fallback: Callable[[FullUserInterface], Any] | None = None,
    ) -> Any:
        """Display a component that has the focus until it calls ``screen.done(result)``; return the result.

        Args:
            factory: Makes the component.
            overlay: Where it is displayed; in place of the editor when None.
            fallback: Called with ``ctx.ui`` and awaited where components cannot be displayed: dialogs with the same
                result. Without it the result is None, as of a dismissed dialog.
        """
        ...

    async def form(
        self,
        fields: Sequence[FormField],
        *,
        title: str = "",
        message: str = "",
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as of the other dialogs
    ) -> dict[str, Any] | None:
        """Let the user fill in several fields; front ends without forms ask them one after the other.

        Args:
            fields: What is asked, in order.
            title: What the form is about.
            message: An explanation above the fields.
            signal: Dismisses the form when it is aborted.
            timeout: Seconds until it is dismissed.

        Returns:
            The values by the fields' names, all of them valid; None when dismissed, and immediately without a user.

        Raises:
            ValueError: There are no fields, or two have the same name.
        """
        ...

    async def approve(
        self,
        approval: Approval,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as of the other dialogs
    ) -> str | None:
        """Ask the user to allow something; front ends without approvals ask with ``select`` or ``confirm``.

        Args:
            approval: The question, and the answers that the user can give.
            signal: Dismisses the question when it is aborted.
            timeout: Seconds until it is dismissed.

        Returns:
            What the user chose: ``once``, ``session`` or ``always``. None if the user refused or dismissed the
            question, and immediately if there is no user; a lasting refusal returns its own answer.
        """
        ...

    def open_url(self, url: str) -> bool:
        """Open a page in the user's browser, or display its address if there is none.

        Args:
            url: An address with ``https``, ``http`` or ``mailto``.

        Returns:
            Whether it was opened.

        Raises:
            UserError: The address is not one of these.
        """
        ...

    def set_editor_component(self, factory: ComponentFactory | None = None) -> None:
        """Replace the editor; None displays the front end's own again.

        The component has an attribute ``text``, and ``cursor``, the index of the cursor in it: the front end sets them
        before it calls the component, and reads them after a key that the component has used. A key that it does not
        use edits the text as usual. ``screen.done(text)`` submits.
        """
        ...

    def get_editor_component(self) -> ComponentFactory | None:
        """Return what ``set_editor_component`` was called with."""
        ...

    def get_editor_text(self) -> str:
        """Return the text in the editor; empty if it is not known."""
        ...

    def paste_to_editor(self, text: str) -> None:
        """Insert a text at the editor's cursor, as if it were pasted."""
        ...

    def on_terminal_input(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Call a handler with everything that is typed; returns a function that removes it.

        A reload and the end of the session remove it as well.
        """
        ...

    def add_autocomplete_provider(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Add a provider of completions in the editor; returns a function that removes it.

        A reload and the end of the session remove it as well.
        """
        ...

    def set_working_message(self, message: str | None = None) -> None:
        """Set the text that is displayed while the agent works; None sets the front end's own."""
        ...

    def set_working_visible(self, visible: bool) -> None:  # noqa: FBT001 - as a setter
        """Show or hide the indicator that the agent works."""
        ...

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """Set the frames of the animation while the agent works, and the seconds of each; None sets the default."""
        ...

    def set_hidden_thinking_label(self, label: str | None = None) -> None:
        """Set the text in place of thinking that is hidden; None sets the front end's own."""
        ...

    def redraw(self) -> None:
        """Draw the conversation again, because what a renderer returns has changed. Since: 1.1."""
        ...

    @property
    def theme(self) -> Theme | None:
        """The current theme; None without colours."""
        ...

    def get_all_themes(self) -> Sequence[Theme]:
        """Return the themes that can be set."""
        ...

    def get_theme(self, name: str) -> Theme | None:
        """Return a theme by its name."""
        ...

    def set_theme(self, theme: str | Theme) -> None:
        """Set the theme: a name, or the theme itself.

        Raises:
            UserError: There is no such theme, it cannot be used, or the front end has no themes.
        """
        ...

    def get_tools_expanded(self) -> bool:
        """Whether results of tools are displayed in full."""
        ...

    def set_tools_expanded(self, expanded: bool) -> None:  # noqa: FBT001 - as a setter
        """Display results of tools in full, or shortened."""
        ...
