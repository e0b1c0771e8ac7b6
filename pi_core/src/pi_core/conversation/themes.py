"""The themes of a session, from plugins and from files, in one list and resolved."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_core.conversation.runtime import Runtime
    from pi_core.resources.theme_resolver import ThemeProblem
    from pi_hookspecs import Theme

__all__ = ["Themes"]


class _Found(NamedTuple):
    """A theme before it is resolved; ``path`` is its file, or empty for a theme that a plugin registers."""

    owner: str
    path: str
    theme: Theme


class Themes:
    """Finds the themes.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._reported: dict[str, str] = {}

    async def all(self) -> tuple[Theme, ...]:
        """Return the usable themes by name; a theme in a file takes precedence over a plugin's theme of the same name.

        Their colours are ``#rrggbb``, an index from 0 to 255, or empty for the terminal's own, and every role has one.
        A theme with problems is left out, and reported once with all problems, and with their lines if it is a file.
        Roles that seem to be misspelt are reported likewise.
        """
        from pi_core.resources.theme_resolver import misspelt_roles, resolve_theme

        usable: list[Theme] = []
        for name, each in sorted((await self._found()).items()):
            resolved, problems = resolve_theme(each.theme)
            misspelt = () if problems else misspelt_roles(each.theme)
            if problems or misspelt:
                what = "cannot be used" if problems else "has a colour that nothing uses"
                await self._report(each, name, what, problems or misspelt)
            else:
                self._reported.pop(name, None)
            if not problems:
                usable.append(resolved)
        return tuple(usable)

    async def _found(self) -> dict[str, _Found]:
        from pi_core.resources.theme_resolver import theme_of_file

        registered = self._runtime.registrations.find_all("register_themes").items()
        found = {name: _Found(each.plugin, "", each.thing) for name, each in registered}
        for each in (await self._runtime.resources.load("theme")).resources:
            found[each.name] = _Found("(resources)", each.path, theme_of_file(each.name, each.data))
        return found

    async def _report(self, found: _Found, name: str, what: str, problems: tuple[ThemeProblem, ...]) -> None:
        text = await asyncio.to_thread(_read, found.path) if found.path else None
        where = f" ({found.path!r})" if found.path else ""
        message = f"Theme {name!r}{where} {what}: {'; '.join(_sentences(problems, text))} (see pi help themes)"
        if self._reported.get(name) != message:
            self._reported[name] = message
            self._runtime.report_plugin_error(found.owner, "theme", message)


def _sentences(problems: Iterable[ThemeProblem], text: str | None) -> Iterator[str]:
    """Yield each problem once, with the first key that has it and its line in the text of a file."""
    keys: dict[str, list[ThemeProblem]] = {}
    for problem in problems:
        keys.setdefault(problem.text, []).append(problem)
    for first, *others in keys.values():
        line = f"line {_line_of(text, first)}, " if text is not None and first.key else ""
        more = f"{first.key} and {len(others)} more: {first.text}" if others else str(first)
        yield line + more


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""


def _line_of(text: str, problem: ThemeProblem) -> int:
    """Return the line of a problem's key; 1 if the key is written in a different form in the file."""
    section = re.search(rf"{re.escape(json.dumps(problem.section))}\s*:", text) if problem.section else None
    key = re.compile(rf"{re.escape(json.dumps(problem.key, ensure_ascii=False))}\s*:")
    found = key.search(text, section.end() if section is not None else 0)
    return text.count("\n", 0, found.start()) + 1 if found is not None else 1
