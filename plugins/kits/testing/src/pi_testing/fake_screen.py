"""A user interface with a screen: it keeps the components that plugins draw, and presses keys in them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from pi_hookspecs import ScreenSize, UserError
from pi_testing._patience import soon
from pi_testing.fake_ui import FakeUI

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import (
        AutocompleteProvider,
        ComponentFactory,
        FullUserInterface,
        Line,
        Overlay,
        ScreenKind,
        TerminalInputHandler,
        Theme,
        WidgetPlacement,
    )

__all__ = ["FakeFullUI", "RecordingScreen"]


class RecordingScreen:
    """Implements ``ScreenHandle`` for one component, and keeps what the component does with it.

    Alone it tests a component: ``screen = RecordingScreen(Clock)``, then ``screen.press("enter")``.

    Args:
        factory: Makes the component.
        width: Cells in a row.
        height: Rows.
        theme: The current theme.
        keybindings: Keys of each action.
        overlay: Where the component was to be displayed.
        on_done: Called with the screen when the component was removed.

    Attributes:
        component: What the factory made.
        overlay: As above.
        refreshes: How often the component asked to be drawn again.
        is_done: Whether it was removed.
        result: What ``done`` was called with.
    """

    kind: ScreenKind = "lines"
    app: Any = None

    def __init__(
        self,
        factory: ComponentFactory,
        *,
        width: int = 80,
        height: int = 24,
        theme: Theme | None = None,
        keybindings: Mapping[str, Sequence[str]] | None = None,
        overlay: Overlay | None = None,
        on_done: Callable[[RecordingScreen], object] = bool,
    ) -> None:
        self.size = ScreenSize(width, height)
        self.theme = theme
        self.keybindings: Mapping[str, Sequence[str]] = keybindings or {}
        self.overlay = overlay
        self.refreshes = 0
        self.is_done = False
        self.result: Any = None
        self._on_done = on_done
        self.component: Any = None
        self.component = factory(self)

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows as they are drawn now, without their styles."""
        return tuple(map(str, self.lines))

    @property
    def lines(self) -> tuple[str | Line, ...]:
        """The rows as they are drawn now."""
        return tuple(self.component.render(self.size.width))

    def press(self, *keys: str) -> bool:
        """Press keys; return whether the component used the last one. After ``done`` the rest is not pressed."""
        used = False
        for key in keys:
            used = not self.is_done and bool(self.component.handle_key(key))
        return used

    def refresh(self) -> None:
        """Count it."""
        self.refreshes += 1

    def done(self, result: Any = None) -> None:
        """Remove the component."""
        if self.is_done:
            return
        self.is_done, self.result = True, result
        dispose = getattr(self.component, "dispose", None)
        if dispose is not None:
            dispose()
        self._on_done(self)


class FakeFullUI(FakeUI):
    """Implements ``FullUserInterface``: a ``FakeUI`` with a screen.

    ``@pytest.mark.pi(screen=True)`` makes the fixture ``fake_ui`` one.

    Args:
        width: Cells in a row of the screen.
        dismiss_unexpected: As for ``FakeUI``.

    Attributes:
        screens: Those of widgets by their keys, of ``header``, ``footer`` and ``editor``.
        customs: Those of ``custom``, in order.
        pasted: Texts of ``paste_to_editor``.
        working_message: Text of ``set_working_message``.
        working_visible: What ``set_working_visible`` was called with.
        working_frames: Frames of ``set_working_indicator``.
        hidden_thinking_label: Text of ``set_hidden_thinking_label``.
        themes: The themes that there are, by name.
        theme: The current theme.
        input_handlers: Those of ``on_terminal_input``.
        autocomplete_providers: Those of ``add_autocomplete_provider``.
    """

    def __init__(self, *, width: int = 80, dismiss_unexpected: bool = False) -> None:
        super().__init__(dismiss_unexpected=dismiss_unexpected)
        self.width = width
        self.screens: dict[str, RecordingScreen] = {}
        self.customs: list[RecordingScreen] = []
        self.pasted: list[str] = []
        self.working_message: str | None = None
        self.working_visible = True
        self.working_frames: tuple[str, ...] | None = None
        self.hidden_thinking_label: str | None = None
        self.themes: dict[str, Theme] = {}
        self.theme: Theme | None = None
        self.input_handlers: list[TerminalInputHandler] = []
        self.autocomplete_providers: list[AutocompleteProvider] = []
        self._factories: dict[str, ComponentFactory] = {}
        self._keys: list[tuple[str, ...] | None] = []
        self._custom_opened = asyncio.Event()
        self._tools_expanded = False

    # For the test

    def presses(self, *keys: str) -> Self:
        """Press these keys in the next component of ``custom``; one that stays open after them fails the test."""
        self._keys.append(keys)
        return self

    def leaves_open(self) -> Self:
        """Leave the next component of ``custom`` open, until it ends or the test calls ``done`` of its screen."""
        self._keys.append(None)
        return self

    async def opened_custom(self) -> RecordingScreen:
        """Return the screen of a component that stays open, as soon as there is one."""
        await soon(self._custom_opened.wait(), lambda: f"a component that stays open; there were {len(self.customs)}")
        return self.customs[-1]

    def types(self, data: str) -> str | None:
        """Type something; return what the handlers of ``on_terminal_input`` leave of it, None for nothing."""
        for handler in [*self.input_handlers]:
            answer = handler(data)
            if answer is True:
                return None
            data = answer if isinstance(answer, str) else data
        return data

    # For the plugin

    def set_widget(self, key: str, lines: Any = None, *, placement: WidgetPlacement | None = None) -> None:
        """Keep a widget's lines, or its component, and its place."""
        super().set_widget(key, None if callable(lines) else lines, placement=placement)
        self._mount(key, lines if callable(lines) else None)
        if callable(lines):
            self.placements[key] = placement or "aboveEditor"

    def set_header(self, factory: ComponentFactory | None = None) -> None:
        """Keep the component, or drop it."""
        self._mount("header", factory)

    def set_footer(self, factory: ComponentFactory | None = None) -> None:
        """Keep the component, or drop it."""
        self._mount("footer", factory)

    def set_editor_component(self, factory: ComponentFactory | None = None) -> None:
        """Keep the component, or drop it."""
        self._mount("editor", factory)

    def get_editor_component(self) -> ComponentFactory | None:
        """Return the factory of the editor."""
        return self._factories.get("editor")

    async def custom(
        self,
        factory: ComponentFactory,
        *,
        overlay: Overlay | None = None,
        fallback: Callable[[FullUserInterface], Any] | None = None,
    ) -> Any:
        """Press the prepared keys in the component; return its result."""
        del fallback  # this screen can display it
        closed = asyncio.Event()
        screen = RecordingScreen(factory, width=self.width, overlay=overlay, on_done=lambda _screen: closed.set())
        self.customs.append(screen)
        screen.component.focused = True
        keys = self._keys.pop(0) if self._keys else ()
        if keys is None:
            self._custom_opened.set()
            await closed.wait()
            self._custom_opened.clear()
            return screen.result
        screen.press(*keys)
        if not screen.is_done:
            screen.done()
            if not self.dismiss_unexpected:
                self._fail(
                    f"the component of custom is still open after the keys {keys}; prepare those that close it with"
                    " fake_ui.presses(...)"
                )
        return screen.result

    def get_editor_text(self) -> str:
        """Return the text in the editor."""
        return self.editor_text

    def paste_to_editor(self, text: str) -> None:
        """Append the text to that in the editor."""
        self.pasted.append(text)
        self.editor_text += text

    def on_terminal_input(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Keep the handler until it is removed."""
        return _kept(self.input_handlers, handler)

    def add_autocomplete_provider(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Keep the provider until it is removed."""
        return _kept(self.autocomplete_providers, provider)

    def set_working_message(self, message: str | None = None) -> None:
        """Keep the text."""
        self.working_message = message

    def set_working_visible(self, visible: bool) -> None:  # noqa: FBT001 - the protocol's
        """Keep it."""
        self.working_visible = visible

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """Keep the frames."""
        del interval
        self.working_frames = None if frames is None else tuple(frames)

    def set_hidden_thinking_label(self, label: str | None = None) -> None:
        """Keep the text."""
        self.hidden_thinking_label = label

    def get_all_themes(self) -> tuple[Theme, ...]:
        """Return ``themes``."""
        return tuple(self.themes.values())

    def get_theme(self, name: str) -> Theme | None:
        """Return one of ``themes``."""
        return self.themes.get(name)

    def set_theme(self, theme: str | Theme) -> None:
        """Keep the theme as the current one.

        Raises:
            UserError: There is none of that name.
        """
        found = self.themes.get(theme) if isinstance(theme, str) else theme
        if found is None:
            raise UserError(f"There is no theme {theme!r}; there is {', '.join(self.themes) or 'none'}")
        self.theme = found

    def get_tools_expanded(self) -> bool:
        """Return what was set."""
        return self._tools_expanded

    def set_tools_expanded(self, expanded: bool) -> None:  # noqa: FBT001 - the protocol's
        """Keep it."""
        self._tools_expanded = expanded

    def _mount(self, place: str, factory: ComponentFactory | None) -> None:
        before = self.screens.pop(place, None)
        self._factories.pop(place, None)
        if before is not None:
            before.done()
        if factory is not None:
            screen = RecordingScreen(factory, width=self.width, on_done=lambda done: self._removed(place, done))
            if not screen.is_done:
                self.screens[place], self._factories[place] = screen, factory

    def _removed(self, place: str, screen: RecordingScreen) -> None:
        if self.screens.get(place) is screen:
            del self.screens[place]


def _kept(values: list[Any], value: object) -> Callable[[], None]:
    values.append(value)

    def remove() -> None:
        if value in values:
            values.remove(value)

    return remove
