"""What plugins display: components and functions that a front end calls, whose exceptions are contained, and texts.

All of it is removed when their plugins end.
"""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_core.conversation.handles import RELOADED, Handle
from pi_core.hooks.acting import acting_plugin
from pi_core.hooks.drawing import DrawingGuard, rows_of
from pi_hookspecs import Line, Run, ScreenSize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_core.conversation.handles import Handles
    from pi_core.hooks.containment import Report
    from pi_core.hooks.drawing import DrawingSlot
    from pi_hookspecs import ComponentFactory, ScreenHandle, ScreenKind, Theme

    ShowLines: TypeAlias = Callable[[Sequence[str] | None], None]

__all__ = ["Components", "GuardedComponent", "LineScreen"]

_ANSWER_SECONDS = 2.0
"""Seconds that an ``async`` function, such as a completion, may take."""


class Components(Handle):
    """The components of one session.

    Args:
        report: Called with plugin, step, message and traceback; see ``AgentSession.report_plugin_error``.
        handles: Retires the components with their plugins.
    """

    def __init__(self, report: Report, handles: Handles) -> None:
        self._handles = handles
        self._guard = DrawingGuard(report)
        self._open: list[GuardedComponent] = []
        self._removes: list[Callable[[], None]] = []
        self._texts: dict[tuple[Callable[[str, None], None], str], None] = {}
        self._line_screens: dict[str, LineScreen] = {}

    def guarded(self, factory: ComponentFactory, what: str) -> ComponentFactory:
        """Return a factory that a front end can call: it creates components whose calls are contained.

        If the plugin's factory returns something other than a component, that value is returned unchanged.

        Args:
            factory: The plugin's factory; it is called on behalf of the plugin whose code is running now.
            what: A description for messages, such as ``widget 'todo'``.
        """
        plugin = acting_plugin()
        self._handles.add(self)

        def make(screen: ScreenHandle) -> object:
            slot = self._guard.slot(plugin, what, screen.done)
            made, component = slot.run(lambda: _made_by(factory, screen), factory)
            if made and not _is_component(component):
                return component
            guarded = GuardedComponent(component, slot, screen)
            self._open = [each for each in self._open if each.is_open]
            if made:
                self._open.append(guarded)
            else:
                screen.done(None)
            return guarded

        return make

    def show_lines(self, key: str, factory: ComponentFactory, what: str, show: ShowLines) -> None:
        """Display a component in a front end that only displays lines; ignore a value that is not a component.

        Args:
            key: The name of the slot; a component that is displayed there is removed first.
            factory: Creates the component.
            what: A description for messages; see ``guarded``.
            show: Called with the component's lines whenever they change, and with None once it is removed.
        """
        replaces = self.remove(key, replaced=True)
        screen = self._line_screens[key] = LineScreen(show)
        component = self.guarded(factory, what)(screen)
        if isinstance(component, GuardedComponent):
            screen.open(component)
        else:
            self.remove(key)
        if replaces and not screen.displays:
            show(None)

    def remove(self, key: str, *, replaced: bool = False) -> bool:
        """Remove a component displayed by ``show_lines``.

        Args:
            key: The name of the slot.
            replaced: Whether other lines will be displayed in the slot, so that the front end need not clear it.

        Returns:
            Whether a component was displayed there.
        """
        screen = self._line_screens.pop(key, None)
        if screen is not None:
            screen.close(cleared=not replaced)
        return screen is not None

    def contained(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """Wrap a function of the plugin whose code is running: a failure returns None, or a future with None."""
        slot = self._guard.slot(acting_plugin(), what)

        def call(*arguments: Any) -> Any:
            answer: Any = slot.call(function, *arguments)[1]
            return slot.wait(answer, _ANSWER_SECONDS) if hasattr(answer, "__await__") else answer

        return call

    def added(
        self, add: Callable[[Callable[..., Any]], Callable[[], None]], function: Callable[..., Any], what: str
    ) -> Callable[[], None]:
        """Add a contained function to a front end until its plugin ends; return a function that removes it before.

        Args:
            add: Adds the function, and returns a function that removes it.
            function: The function of the plugin whose code is running.
            what: A description for messages.
        """
        self._handles.add(self)
        remove = add(self.contained(function, what))
        self._removes.append(remove)

        def remove_once() -> None:
            if remove in self._removes:
                self._removes.remove(remove)
                remove()

        return remove_once

    def note(self, method: Callable[[str, None], None], key: str, *, displays: bool) -> None:
        """Remember whether a front end displays a text under a key, which a reload removes.

        Args:
            method: The front end's method, which removes the text if it is called with the key and None.
            key: The key.
            displays: Whether there is such a text now.
        """
        self._texts.pop((method, key), None)
        if displays:
            self._handles.add(self)
            self._texts[method, key] = None

    def retire(self, reason: str) -> None:
        """Remove all components, functions and texts; new ones can be added."""
        texts, self._texts = self._texts, {}
        for method, key in texts if reason == RELOADED else ():  # a session that ends takes its front end along
            method(key, None)
        removes, self._removes = self._removes, []
        for remove in removes:
            remove()
        for key in [*self._line_screens]:
            self.remove(key)
        was_open, self._open = self._open, []
        for each in was_open:
            if each.is_open:
                each.screen.done()


class GuardedComponent:
    """A plugin's component that a front end can call safely: exceptions in its methods are contained.

    Args:
        component: The plugin's component.
        slot: Contains the calls of the component.
        screen: The screen on which it is displayed.

    Attributes:
        component: The plugin's component.
        screen: The screen on which it is displayed.
        is_open: False once the component has been disposed of.
    """

    def __init__(self, component: Any, slot: DrawingSlot, screen: ScreenHandle) -> None:
        self.component = component
        self.screen = screen
        self.is_open = True
        self._slot = slot
        self._focused = False

    def render(self, width: int) -> Sequence[str | Line]:
        """Return the rows; an error message if the component fails, no rows once it has failed too often."""
        drawn, lines = self._slot.run(lambda: rows_of(self.component.render(width)), type(self.component), "render")
        if drawn and lines is not None:
            return lines
        if self._slot.closed:
            return ()
        return (Line.of(Run(f"plugin {self._slot.plugin or '(program)'}: {self._slot.what} failed", "error")),)

    def handle_key(self, key: str) -> bool:
        """Return whether the component used a key; False if it fails or does not handle keys."""
        return self._handled("handle_key", key)

    def handle_paste(self, text: str) -> bool:
        """Return whether the component used a pasted text; False if it fails or takes only keys."""
        return self._handled("handle_paste", text)

    def handle_mouse(self, event: object) -> bool:
        """Return whether the component used a mouse event; False if it fails or does not handle the mouse."""
        return self._handled("handle_mouse", event)

    @property
    def focused(self) -> bool:
        """Whether the component has the focus; set by the front end."""
        return self._focused

    @focused.setter
    def focused(self, focused: bool) -> None:
        self._focused = focused

        def focus() -> None:
            if hasattr(self.component, "focused"):
                self.component.focused = focused

        self._slot.run(focus, type(self.component))

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the component; the default if it is missing or reading it fails."""
        found, value = self._slot.run(lambda: getattr(self.component, name, default), type(self.component))
        return value if found else default

    def set(self, name: str, value: object) -> None:
        """Set an attribute of the component."""
        self._slot.run(lambda: setattr(self.component, name, value), type(self.component))

    def dispose(self) -> None:
        """Let the component clean up, once."""
        if not self.is_open:
            return
        self.is_open = False

        def dispose() -> None:
            if hasattr(self.component, "dispose"):
                self.component.dispose()

        self._slot.run_closed(dispose, type(self.component))

    def _handled(self, name: str, event: object) -> bool:
        def handle() -> bool:
            method = getattr(self.component, name, None)
            return method is not None and method(event) is True

        return self._slot.run(handle, type(self.component), name)[1] is True


def _made_by(factory: ComponentFactory, screen: ScreenHandle) -> object:
    component: object = factory(screen)
    if component is None:
        message = "the factory returned None; it has to return the component"
        raise TypeError(message)
    return component


def _is_component(thing: object) -> bool:
    """Whether an object has a ``render`` method that takes a width; a Textual widget's ``render`` takes none."""
    from inspect import signature

    render = getattr(thing, "render", None)
    if not callable(render):
        return False
    try:
        signature(render).bind(80)
    except TypeError:
        return False
    except ValueError:  # its signature cannot be inspected
        return True
    return True


SIZE = ScreenSize(80, 24)

REFRESH_SECONDS = 0.25
"""Minimum seconds between two renderings: the lines may be displayed by a program at the other end of a pipe."""


class LineScreen:
    """Implements ``ScreenHandle`` for one component.

    Args:
        show: Called with the component's lines when they change, with None when it is removed.
    """

    kind: ScreenKind = "lines"
    theme: Theme | None = None
    keybindings: Mapping[str, Sequence[str]] = MappingProxyType({})
    size = SIZE
    app: Any = None

    def __init__(self, show: ShowLines) -> None:
        self._show = show
        self._component: GuardedComponent | None = None
        self._lines: list[str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._done = False
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:  # the calling program has no event loop
            self._loop = None

    def open(self, component: GuardedComponent) -> None:
        """Display a component."""
        self._component = component
        if self._done:  # the factory has already called ``done``
            component.dispose()
        else:
            self._draw()

    def refresh(self) -> None:
        """Render the component again, at most four times a second."""
        if self._loop is None:
            self._draw()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._draw_soon)

    def done(self, result: Any = None) -> None:
        """Remove the component."""
        del result
        self.close()

    @property
    def displays(self) -> bool:
        """Whether the front end currently displays lines of this screen."""
        return self._lines is not None and not self._done

    def close(self, *, cleared: bool = True) -> None:
        """Remove the component; ``cleared`` is False if other lines take its place."""
        if self._done:
            return
        self._done = True
        if self._timer is not None:
            self._timer.cancel()
        if self._component is not None:
            self._component.dispose()
        if cleared and self._lines is not None:
            self._show(None)

    def _draw_soon(self) -> None:
        if self._loop is not None and self._timer is None and not self._done:
            wait = self._drawn_at + REFRESH_SECONDS - self._loop.time()
            self._timer = self._loop.call_later(max(wait, 0), self._draw)

    def _draw(self) -> None:
        self._timer = None
        if self._component is None or self._done:
            return
        lines = [*map(str, self._component.render(SIZE.width))]
        if self._loop is not None:
            self._drawn_at = self._loop.time()
        if lines != self._lines and not self._done:  # a component that fails too often is removed meanwhile
            self._lines = lines
            self._show(lines)
