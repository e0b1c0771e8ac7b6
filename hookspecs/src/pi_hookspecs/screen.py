"""Components: what a plugin draws itself, and what it may use of the screen on which it is drawn.

A factory gets the screen and returns the component: ``ctx.ui.set_widget("clock", lambda screen: Clock(screen))``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs.interface_registrations import Theme
    from pi_hookspecs.lines import Line

__all__ = [
    "Component",
    "ComponentFactory",
    "MouseEvent",
    "Overlay",
    "OverlayAnchor",
    "OverlayHandle",
    "ScreenHandle",
    "ScreenKind",
    "ScreenSize",
]

ComponentFactory: TypeAlias = "Callable[[ScreenHandle], Component | object]"
"""Creates a component. It may return something else, such as a Textual widget, for front ends that can display that."""

ScreenKind: TypeAlias = Literal["textual", "lines"]
"""What draws the component: a Textual application, or a front end that only shows its lines."""

OverlayAnchor: TypeAlias = Literal[
    "top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"
]


class ScreenSize(NamedTuple):
    """Size of a screen, in cells."""

    width: int
    height: int


@frozen(kw_only=True, eq=False, repr=False)
class MouseEvent(Value):
    """A mouse event inside a component.

    Attributes:
        kind: What happened.
        x: Cells from the component's left edge.
        y: Rows from its first row.
        button: 1 is the left one, 2 the middle one, 3 the right one; 0 if no button is involved.
        modifiers: Those that were held: ``ctrl``, ``shift``, ``alt``.
    """

    kind: Literal["press", "release", "move", "scroll_up", "scroll_down"]
    x: int
    y: int
    button: int = 0
    modifiers: tuple[str, ...] = ()


@runtime_checkable
class Component(Protocol):
    """Draws itself as lines. A call takes 100 ms at most; after three failures of a method in a row it is removed.

    It may also have:

    - ``handle_key(key) -> bool``, called while it has the focus with what was typed, such as ``a``, ``A`` or ``?``,
      or with the name of the key, such as ``ctrl+g``, ``enter`` or ``space``; it returns whether it used the key;
    - ``handle_paste(text) -> bool``, called with a pasted text, which is typed character by character if it returns
      False; since 1.1;
    - ``handle_mouse(event) -> bool``, called with a ``MouseEvent``;
    - ``focused``, which the front end sets to whether it has the focus;
    - ``dispose()``, called once when it is removed.
    """

    def render(self, width: int) -> Sequence[str | Line]:
        """Return the rows, each at most ``width`` cells wide; wider rows are cut."""
        ...


@runtime_checkable
class ScreenHandle(Protocol):
    """Where a component is drawn."""

    @property
    def kind(self) -> ScreenKind:
        """What draws it."""
        ...

    @property
    def theme(self) -> Theme | None:
        """The current theme; None without colours."""
        ...

    @property
    def keybindings(self) -> Mapping[str, Sequence[str]]:
        """Keys of each action of the front end: ``{"app.interrupt": ("escape",)}``."""
        ...

    @property
    def size(self) -> ScreenSize:
        """The current size of the screen."""
        ...

    @property
    def app(self) -> Any:
        """The Textual application; None elsewhere."""
        ...

    def refresh(self) -> None:
        """Draw the component again soon; may be called from any thread."""
        ...

    def done(self, result: Any = None) -> None:
        """Remove the component; the ``ctx.ui.custom`` that displays it returns ``result``."""
        ...


@frozen(kw_only=True, eq=False, repr=False)
class Overlay(ReprMixin):
    """Places a component above the rest of the screen, instead of in place of the editor.

    Sizes are cells, or shares of the screen such as ``"50%"``.

    Attributes:
        anchor: Edge or corner of the screen at which it is placed.
        width: Its width; the front end chooses when None.
        height: Its maximum height; the screen's when None.
        min_width: Its minimum width, in cells.
        margin: Cells that stay free at the screen's edges.
        offset: Cells right and down from its place; negative ones left and up.
        visible: Called with the ``ScreenSize`` when that changes; the overlay is hidden while it returns False.
        on_handle: Called with the ``OverlayHandle`` once the overlay is displayed.
    """

    anchor: OverlayAnchor = "center"
    width: int | str | None = None
    height: int | str | None = None
    min_width: int = 0
    margin: int = 0
    offset: tuple[int, int] = (0, 0)
    visible: Callable[[ScreenSize], bool] | None = None
    on_handle: Callable[[OverlayHandle], object] | None = None


@runtime_checkable
class OverlayHandle(Protocol):
    """Controls an overlay while it is open."""

    def set_hidden(self, hidden: bool) -> None:  # noqa: FBT001 - as a setter
        """Hide the overlay, or display it again."""
        ...

    def focus(self) -> None:
        """Give it the keyboard focus."""
        ...

    def unfocus(self) -> None:
        """Return the keyboard focus to what had it before."""
        ...
