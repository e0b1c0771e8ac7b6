"""What plugins register for the screen: shortcuts, themes and renderers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.keys import canonical_key
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_hookspecs.context import PiContext
    from pi_hookspecs.lines import Line

__all__ = ["Renderer", "Shortcut", "Theme"]


@frozen(eq=False, repr=False)
class Shortcut(ReprMixin):
    """A keyboard shortcut of an interactive front end and its handler. ``session.commands.press_key(name)`` calls it.

    Attributes:
        name: The key with its modifiers: ``f5``, ``ctrl+g``, ``ctrl+alt+p``, ``shift+tab``. It is kept in lower case,
            with the modifiers in the order ``ctrl``, ``shift``, ``alt``, ``super``. A front end keeps the keys that
            it needs itself, and reports a conflict.
        handler: ``handler(ctx)``, plain or ``async``.
        description: One line, for lists.
        plugin: The plugin that registered it, in what ``session.commands.shortcuts()`` returns; None before.
    """

    name: str = field(converter=canonical_key)
    handler: Callable[[PiContext], Awaitable[None] | None] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
    plugin: str | None = field(default=None, kw_only=True)


@frozen(eq=False, repr=False)
class Theme(Value):
    """Colours by role, as in a theme file. A front end gets them resolved from ``session.themes.all()``.

    A colour is ``#rrggbb``, ``oklch(70% 0.1 200)``, an index from 0 to 255, empty for the terminal's own, or the name
    of a variable.

    Attributes:
        name: Its name.
        colors: One for each of ``REQUIRED_THEME_ROLES``; ``OPTIONAL_THEME_ROLES`` may be left out.
        vars: Colours, or names of other variables, by name.
        export: Colours of exported pages, which take precedence over ``colors`` there.
        appearance: Whether it is for dark or for light screens; None if that is not known.
    """

    name: str
    colors: dict[str, str | int] = field(kw_only=True)
    vars: dict[str, str | int] = field(factory=dict, kw_only=True)
    export: dict[str, str | int] = field(factory=dict, kw_only=True)
    appearance: Literal["dark", "light"] | None = field(default=None, kw_only=True)


@runtime_checkable
class Renderer(Protocol):
    """Renders one kind of custom message or entry; front ends call ``session.renderings.custom(value)``.

    It may also have ``kind``, which is ``message`` or ``entry`` if it renders only one of the two; it takes precedence
    over one of the same name without a kind. ``render`` may take ``theme``, too: the current ``Theme``, or None.
    """

    name: str
    """The ``custom_type`` that it renders."""

    def render(self, value: Any, *, width: int, expanded: bool) -> Sequence[str | Line] | None:
        """Return the rows, each at most ``width`` cells wide; None leaves this one to the front end, since 1.1."""
        ...
