"""Where local extensions lie, and in which order they are loaded: the user's, the project's, settings', this run's.

A later one wins over an earlier one of the same tool or command, so the project's stand behind the user's. Of a project
that nobody trusts not even the folder is listed.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from pi_core._folders import home_dir
from pi_core.resources.places import absolute
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_core.resources.filters import Filter
    from pi_core.settings import Settings

__all__ = ["ExtensionSource", "find_extensions"]

Scope = Literal["user", "project", "settings", "run"]


@frozen
class ExtensionSource:
    """One extension.

    Attributes:
        name: After the file, or the folder of a package; of a requirement its distribution.
        path: The file to run; None for a requirement.
        scope: Who brought it.
        requirement: What to install, as pip takes it; None for a file.
    """

    name: str
    path: str | None
    scope: Scope
    requirement: str | None = None


def find_extensions(
    cwd: Path, settings: Settings, given: Sequence[str], *, discover: bool, environ: Mapping[str, str] | None = None
) -> tuple[list[ExtensionSource], list[str]]:
    """Return the extensions in load order, each file once, and what is wrong with what somebody named.

    Args:
        cwd: The project's folder.
        settings: The agent directory, trust, and the setting ``extensions``.
        given: Paths and requirements of this run (``-e``).
        discover: Whether others than those of this run count.
        environ: Says where the home folder is.
    """
    home, problems, found = str(home_dir(environ)), [], {}
    if discover:
        for source in _discovered(cwd, settings, home, problems):
            found.setdefault(os.path.realpath(str(source.path)), source)
    for text in given:
        for source in _given(text, str(cwd), home, problems):
            found.setdefault(os.path.realpath(source.path) if source.path is not None else text, source)
    return list(found.values()), problems


def _discovered(cwd: Path, settings: Settings, home: str, problems: list[str]) -> Iterator[ExtensionSource]:
    agent_dir = str(settings.agent_dir)
    trusted = settings.trust_of(cwd).is_trusted
    picks = dict(_settings(settings, cwd, agent_dir, home))
    folders: list[tuple[Scope, str, str]] = [("user", os.path.join(agent_dir, "extensions"), agent_dir)]
    if trusted:
        project = os.path.join(str(cwd), ".pi")
        folders.append(("project", os.path.join(project, "extensions"), project))
    for scope, folder, base_dir in folders:
        keep = picks.get(base_dir)
        for path in _of_folder(folder):
            if keep is None or keep.keeps(_shown(path)):
                yield ExtensionSource(_name(path), path, scope)
    for base_dir, keep in picks.items():
        for named in keep.named():
            yield from _named(named, "settings", f"setting 'extensions' in {base_dir}", problems)


def _settings(settings: Settings, cwd: Path, agent_dir: str, home: str) -> Iterator[tuple[str, Filter]]:
    settings.get_str_list("extensions")  # tells of a value of a wrong type
    for origin, entries in settings.each("extensions"):
        from pi_core.resources.filters import Filter  # most settings have no such list

        if isinstance(entries, list | tuple) and all(isinstance(each, str) for each in entries):
            base_dir = os.path.dirname(origin) if os.path.isabs(origin) else str(cwd)
            yield base_dir, Filter.parse(entries, base_dir, home)


def _given(text: str, cwd: str, home: str, problems: list[str]) -> Iterator[ExtensionSource]:
    """Go through what ``-e`` names.

    Raises:
        UserError: It is neither there nor a requirement.
    """
    path = absolute(text, cwd, home)
    if os.path.exists(path):
        yield from _named(path, "run", f"-e {text}", problems)
        return
    match = _REQUIREMENT.match(text)
    if match is None or text.endswith(".py") or text.startswith((".", "~")) or os.sep in match[0]:
        raise UserError(f"Cannot load extension {text!r}: there is no such file, and it is no requirement to install.")
    yield ExtensionSource(match[1], None, "run", text)


_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^]]*\])?\s*(?:$|[<>=!~;@(])")


def _named(path: str, scope: Scope, where: str, problems: list[str]) -> Iterator[ExtensionSource]:
    """Go through a file, a package, or the extensions in a folder that somebody named."""
    package = os.path.join(path, "__init__.py")
    if os.path.isfile(path):
        yield ExtensionSource(_name(path), path, scope)
    elif os.path.isfile(package):
        yield ExtensionSource(_name(package), package, scope)
    elif os.path.isdir(path):
        files = list(_of_folder(path))
        yield from (ExtensionSource(_name(each), each, scope) for each in files)
        if not files:
            problems.append(f"{where}: {path} has neither an __init__.py nor any *.py")
    else:
        problems.append(f"{where}: {path} is not there")


def _of_folder(folder: str) -> Iterator[str]:
    """Go through the files to run in a folder, by name: ``*.py`` and packages, one level deep."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # not there, or not to be read: nobody named it
        return
    for name in names:
        path = os.path.join(folder, name)
        package = os.path.join(path, "__init__.py")
        if name.startswith((".", "_")):
            continue
        if name.endswith(".py") and os.path.isfile(path):
            yield path
        elif os.path.isfile(package):
            yield package


def _shown(path: str) -> str:
    """Return what people call an extension's path: of a package its folder."""
    return os.path.dirname(path) if os.path.basename(path) == "__init__.py" else path


def _name(path: str) -> str:
    return os.path.basename(_shown(path)).removesuffix(".py")
