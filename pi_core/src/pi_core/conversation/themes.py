"""The themes of a session: those of plugins and those in files as one list, resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import Theme

__all__ = ["Themes"]


class Themes:
    """Finds the themes.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._reported: set[tuple[str, str]] = set()

    async def all(self) -> tuple[Theme, ...]:
        """Return the themes that can be used, by name; of two with one name a file counts before a plugin.

        Their colours are ``#rrggbb``, an index from 0 to 255, or empty for the terminal's own, and every role has one.
        A theme with anything wrong is left out, and reported once with all that is wrong.
        """
        from pi_core.resources.theme_resolver import resolve_theme, theme_of_file

        registered = self._runtime.registrations.find_all("register_themes").items()
        found: dict[str, tuple[str, Theme]] = {name: (each.plugin, each.thing) for name, each in registered}
        for each in (await self._runtime.resources.load("theme")).resources:
            found[each.name] = "(resources)", theme_of_file(each.name, each.data)
        usable: list[Theme] = []
        for name, (owner, theme) in sorted(found.items()):
            resolved, problems = resolve_theme(theme)
            if problems:
                self._report(owner, f"Theme {name!r} cannot be used: {'; '.join(problems)}")
            else:
                usable.append(resolved)
        return tuple(usable)

    def _report(self, owner: str, message: str) -> None:
        if (owner, message) not in self._reported:
            self._reported.add((owner, message))
            self._runtime.report_plugin_error(owner, "theme", message)
