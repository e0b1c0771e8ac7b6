"""The displayed theme: found by name, reloaded when its file changes, and overridden by plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pi_hookspecs import UserError
from pi_tui.theme.builtin_themes import BUILTIN_NAMES, builtin_theme, builtin_themes
from pi_tui.theme.choose import appearance_of_environment, appearance_of_reply, color_depth, theme_name
from pi_tui.theme.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Mapping

    from pi_hookspecs import Theme
    from pi_tui.session.lists import Lists
    from pi_tui.theme.choose import Appearance

__all__ = ["Themes"]


_WATCH_SECONDS = 1.0
"""Interval at which theme files are checked, while the current theme comes from a file."""


class Timer(Protocol):
    """A repeating timer."""

    def stop(self) -> None:
        """Stop the timer."""
        ...


class Themes:
    """The themes of a screen.

    Args:
        source: Lists the themes and their files.
        setting: The setting ``theme``: a name, a pair ``light/dark``, or None for the default.
        environ: The environment, from which the capabilities of the terminal are read.
        display: Called with the colours when they change.
        every: Calls a function repeatedly, at an interval in seconds, until the timer is stopped.
        true_color: The setting ``terminal.trueColor``.

    Attributes:
        current: The displayed theme; while its file is broken, the last usable one.
        depth: The colour depth of the terminal.
    """

    def __init__(
        self,
        source: Lists,
        setting: str | None,
        environ: Mapping[str, str],
        display: Callable[[Palette], object],
        every: Callable[[float, Callable[[], Awaitable[None]]], Timer],
        *,
        true_color: object = "auto",
    ) -> None:
        self.depth = color_depth(environ, true_color)
        self._source = source
        self._display = display
        self._every = every
        self._watch: Timer | None = None
        self._known = {each.name: each for each in builtin_themes()}
        self._appearance: Appearance | None = appearance_of_environment(environ)
        self._setting = setting
        self._of_plugin: Theme | None = None
        self._previewed: str | None = None
        self._files: Hashable = None
        self.current = self._known.get(self._name) or self._known[self._appearance or "dark"]

    @property
    def palette(self) -> Palette:
        """The colours of the current theme."""
        return Palette(self.current.colors, self.depth, self.current.name)

    @property
    def all(self) -> tuple[Theme, ...]:
        """The usable themes, sorted by name."""
        return tuple(self._known[name] for name in sorted(self._known))

    def get(self, name: str) -> Theme | None:
        """Return a usable theme by name; None if there is none."""
        return self._known.get(name)

    @property
    def depends_on_background(self) -> bool:
        """Whether the setting selects different themes for light and dark backgrounds."""
        return theme_name(self._setting, "light") != theme_name(self._setting, "dark")

    @property
    def is_watched(self) -> bool:
        """Whether the configured theme comes from a file, even if the file cannot be used."""
        name = self._name
        return name not in BUILTIN_NAMES or self._known[name].colors != builtin_theme(name).colors

    @property
    def _name(self) -> str:
        return theme_name(self._setting, self._appearance)

    # Changes

    async def load(self) -> str | None:
        """Load the available themes and display the configured one; return the same as ``use``."""
        self._files = self._source.theme_files()
        found = await self._source.themes()
        self._known = {each.name: each for each in (*builtin_themes(), *found)}
        self._apply()
        return self._missing()

    async def follow(self) -> None:
        """Reload the themes if their files have changed."""
        if self._source.theme_files() != self._files:
            await self.load()

    def use(self, setting: str | None) -> str | None:
        """Display the theme that a setting names.

        Returns:
            None, or a message for the user if there is no such theme and the current one stays.
        """
        self._setting, self._of_plugin = setting, None
        self._apply()
        return self._missing()

    def set(self, theme: str | Theme) -> None:
        """Display a theme for a plugin, until the user chooses one.

        Raises:
            UserError: The theme cannot be used.
        """
        found = self._known.get(theme) if isinstance(theme, str) else self._source.resolved_theme(theme)
        if found is None:
            raise UserError(self.no_theme(theme))
        self._of_plugin = found
        self._apply()

    def preview(self, name: str | None) -> None:
        """Display a theme temporarily; None ends the preview."""
        self._previewed = name
        self._apply()

    def take_reply(self, reply: str) -> None:
        """Handle a reply of the terminal, which may contain its background colour."""
        appearance = appearance_of_reply(reply)
        if appearance is not None and appearance != self._appearance:
            self._appearance = appearance
            self._apply()

    def _apply(self) -> None:
        previewed = self._known.get(self._previewed) if self._previewed is not None else None
        theme = previewed or self._of_plugin or self._known.get(self._name)
        if theme is not None and (theme.name, theme.colors) != (self.current.name, self.current.colors):
            self.current = theme
            self._display(self.palette)
        if self.is_watched and self._watch is None:
            self._watch = self._every(_WATCH_SECONDS, self.follow)
        elif not self.is_watched and self._watch is not None:
            self._watch.stop()
            self._watch = None

    def _missing(self) -> str | None:
        name = self._name
        return None if name in self._known or name == self.current.name else self.no_theme(name)

    def no_theme(self, name: object) -> str:
        """Return the message for a theme that is not available."""
        return f"There is no usable theme {name!r}. Use one of {', '.join(sorted(self._known))}."
