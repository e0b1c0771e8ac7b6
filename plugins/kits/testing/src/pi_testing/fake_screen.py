"""A fake user interface with a screen: it records the components that plugins display, and sends keys to them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from pi_hookspecs import ScreenSize, UserError
from pi_testing.fake_ui import FakeUI
from pi_testing.patience import soon

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import (
        Activity,
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
    """Implements ``ScreenHandle`` for one component, and records the component's calls.

    It can be used alone to test a component: ``screen = RecordingScreen(Clock)``, then ``screen.press("enter")``.

    Args:
        factory: Creates the component.
        width: The number of cells in a row.
        height: The number of rows.
        theme: The current theme.
        keybindings: The keys of each action.
        overlay: The requested position of the component.
        on_done: Called with the screen when the component is removed.

    Attributes:
        component: The component that the factory created.
        overlay: The requested position of the component.
        refreshes: How often the component requested a redraw.
        is_done: Whether the component has been removed.
        result: The argument of ``done``.
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
        """The rows as currently rendered, without styles."""
        return tuple(map(str, self.lines))

    @property
    def lines(self) -> tuple[str | Line, ...]:
        """The rows as currently rendered."""
        return tuple(self.component.render(self.size.width))

    def press(self, *keys: str) -> bool:
        """Press keys; return whether the component used the last one. Keys that follow ``done`` are not pressed."""
        used = False
        for key in keys:
            used = not self.is_done and bool(self.component.handle_key(key))
        return used

    def refresh(self) -> None:
        """Count the request."""
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

    With ``@pytest.mark.pi(screen=True)``, the fixture ``fake_ui`` is a ``FakeFullUI``.

    Args:
        width: The number of cells in a row of the screen.
        dismiss_unexpected: See ``FakeUI``.

    Attributes:
        screens: The screens of widgets by their keys, and the screens ``header``, ``footer`` and ``editor``.
        customs: The screens of ``custom`` calls, in order.
        activities: Current activities, by key.
        pasted: The texts passed to ``paste_to_editor``.
        working_message: The text passed to ``set_working_message``.
        working_visible: The argument of ``set_working_visible``.
        working_frames: The frames passed to ``set_working_indicator``.
        hidden_thinking_label: The text passed to ``set_hidden_thinking_label``.
        redraws: How often ``redraw`` was called.
        themes: The available themes by name.
        theme: The current theme.
        input_handlers: The handlers registered with ``on_terminal_input``.
        autocomplete_providers: The providers registered with ``add_autocomplete_provider``.
    """

    def __init__(self, *, width: int = 80, dismiss_unexpected: bool = False) -> None:
        super().__init__(dismiss_unexpected=dismiss_unexpected)
        self.width = width
        self.screens: dict[str, RecordingScreen] = {}
        self.customs: list[RecordingScreen] = []
        self.activities: dict[str, Activity] = {}
        self.pasted: list[str] = []
        self.working_message: str | None = None
        self.working_visible = True
        self.working_frames: tuple[str, ...] | None = None
        self.hidden_thinking_label: str | None = None
        self.redraws = 0
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
        """Press these keys in the next component of ``custom``; the test fails if the component then stays open."""
        self._keys.append(keys)
        return self

    def leaves_open(self) -> Self:
        """Leave the next component of ``custom`` open until it ends or the test calls ``done`` on its screen."""
        self._keys.append(None)
        return self

    async def opened_custom(self) -> RecordingScreen:
        """Wait for a component that stays open, and return its screen."""
        await soon(self._custom_opened.wait(), lambda: f"a component that stays open; there were {len(self.customs)}")
        return self.customs[-1]

    def types(self, data: str) -> str | None:
        """Type a text; return the part that the handlers of ``on_terminal_input`` pass on, None for nothing."""
        for handler in [*self.input_handlers]:
            answer = handler(data)
            if answer is True:
                return None
            data = answer if isinstance(answer, str) else data
        return data

    # For the plugin

    def set_widget(self, key: str, lines: Any = None, *, placement: WidgetPlacement | None = None) -> None:
        """Record a widget's lines or component, and its placement."""
        super().set_widget(key, None if callable(lines) else lines, placement=placement)
        self._mount(key, lines if callable(lines) else None)
        if callable(lines):
            self.placements[key] = placement or "aboveEditor"

    def set_activity(self, key: str, activity: Activity | None = None) -> None:
        """Record an activity, or remove it."""
        self.activities.pop(key, None)
        if activity is not None:
            self.activities[key] = activity

    def set_header(self, factory: ComponentFactory | None = None) -> None:
        """Record the component, or remove it."""
        self._mount("header", factory)

    def set_footer(self, factory: ComponentFactory | None = None) -> None:
        """Record the component, or remove it."""
        self._mount("footer", factory)

    def set_editor_component(self, factory: ComponentFactory | None = None) -> None:
        """Record the component, or remove it."""
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
        """Append the text to the editor's text."""
        self.pasted.append(text)
        self.editor_text += text

    def on_terminal_input(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Record the handler until it is removed."""
        return _kept(self.input_handlers, handler)

    def add_autocomplete_provider(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Record the provider until it is removed."""
        return _kept(self.autocomplete_providers, provider)

    def set_working_message(self, message: str | None = None) -> None:
        """Record the text."""
        self.working_message = message

    def set_working_visible(self, visible: bool) -> None:  # noqa: FBT001 - the protocol's
        """Record the value."""
        self.working_visible = visible

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """Record the frames."""
        del interval
        self.working_frames = None if frames is None else tuple(frames)

    def set_hidden_thinking_label(self, label: str | None = None) -> None:
        """Record the text."""
        self.hidden_thinking_label = label

    def redraw(self) -> None:
        """Count the call."""
        self.redraws += 1

    def get_all_themes(self) -> tuple[Theme, ...]:
        """Return ``themes``."""
        return tuple(self.themes.values())

    def get_theme(self, name: str) -> Theme | None:
        """Return one of ``themes``."""
        return self.themes.get(name)

    def set_theme(self, theme: str | Theme) -> None:
        """Make a theme the current one.

        Raises:
            UserError: There is no theme with that name.
        """
        found = self.themes.get(theme) if isinstance(theme, str) else theme
        if found is None:
            raise UserError(f"There is no theme {theme!r}; there is {', '.join(self.themes) or 'none'}")
        self.theme = found

    def get_tools_expanded(self) -> bool:
        """Return the value passed to ``set_tools_expanded``."""
        return self._tools_expanded

    def set_tools_expanded(self, expanded: bool) -> None:  # noqa: FBT001 - the protocol's
        """Record the value."""
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
