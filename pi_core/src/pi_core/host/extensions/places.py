"""Finds local extensions in load order: the user's, the project's, then from the settings and from this run.

If two extensions have the same tool or command, the later one wins, so the project's come after the user's. The folder
of an untrusted project is not even listed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import evolve

from pi_core.base.paths import absolute, home_dir
from pi_core.host.grants import FILE
from pi_core.host.records import BUILTIN
from pi_hookspecs import UserError
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_core.base.filters import Filter
    from pi_core.host.extensions.projects import ProjectPlugin
    from pi_core.settings import Settings

__all__ = ["ExtensionSource", "find_extensions", "is_script"]

Scope = Literal["user", "project", "settings", "run"]

_SCRIPTS = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
"""Ends of the names of extensions in TypeScript and JavaScript."""

_UNNAMED = frozenset({"dist", "extension", "extensions", "index", "lib", "main", "pi", "src"})
"""Names of files and folders that say nothing about an extension."""

_REQUIREMENT = r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^]]*\])?\s*(?:$|[<>=!~;@(])"


@frozen(eq=False, repr=False)
class ExtensionSource(Value):
    """One extension.

    Attributes:
        name: Named after the file, the folder of a package, the distribution of a requirement, or the entry point of a
            project's plugin.
        path: The file to run, or the ``pi_plugin.json`` of a program; None for a requirement.
        scope: Where it comes from.
        requirement: What to install, in pip's syntax; None for a file.
        plugin: The project's plugin that the file belongs to; None if the file is a plugin by itself.
        package: The source of the package that it is a part of, as in the settings; None for others.
    """

    name: str
    path: Path | None
    scope: Scope
    requirement: str | None = None
    plugin: ProjectPlugin | None = None
    package: str | None = None

    @property
    def program(self) -> Path | None:
        """The folder of a plugin that is a program; None for Python code."""
        return self.path.parent if self.path is not None and self.path.name == FILE else None

    @property
    def script(self) -> Path | None:
        """The file of an extension in TypeScript or JavaScript; None for others."""
        return self.path if self.path is not None and is_script(self.path) else None

    @property
    def key(self) -> tuple[Path | None, str | None]:
        """Identifies an extension within a run."""
        return self.path, self.plugin.value if self.plugin is not None else self.requirement


def find_extensions(
    cwd: Path, settings: Settings, given: Sequence[str], *, discover: bool, environ: Mapping[str, str] | None = None
) -> tuple[list[ExtensionSource], list[str]]:
    """Return the extensions in load order, each file once, and the problems of configured ones.

    Args:
        cwd: The project's folder.
        settings: The agent directory, trust, and the setting ``extensions``.
        given: Paths and requirements of this run (``-e``).
        discover: Whether to find extensions other than those of this run.
        environ: The environment, for the home folder.

    Raises:
        UserError: A value of ``-e`` is neither an existing path nor a requirement.
    """
    home = str(home_dir(environ))
    problems: list[str] = []
    found: dict[object, ExtensionSource] = {}
    if discover:
        for source in _discovered(cwd, settings, home, problems):
            found.setdefault(_identity(source), source)
    for text in given:
        if text.startswith(BUILTIN):
            continue
        for source in _given(text, str(cwd), home, problems):
            found.setdefault(_identity(source), source)
    return list(found.values()), problems


def _identity(source: ExtensionSource) -> object:
    path, what = source.key
    return what if path is None else (path.resolve(), what)


def _discovered(cwd: Path, settings: Settings, home: str, problems: list[str]) -> Iterator[ExtensionSource]:
    filters = dict(_filters(settings, cwd, home))
    folders: list[tuple[Scope, Path]] = [("user", settings.agent_dir)]
    if settings.trust_of(cwd).is_trusted:
        folders.append(("project", cwd / ".pi"))
    for scope, base_dir in folders:
        picks = filters.get(base_dir)
        for path in _of_folder(base_dir / "extensions"):
            if picks is None or picks.includes(str(_shown(path))):
                yield ExtensionSource(_name(path), path, scope)
    yield from _of_packages(cwd, settings, home, problems)
    for base_dir, picks in filters.items():
        for named in picks.added_paths():
            yield from _named(Path(named), "settings", f"setting 'extensions' in {base_dir}", problems)


def _of_packages(cwd: Path, settings: Settings, home: str, problems: list[str]) -> Iterator[ExtensionSource]:
    if settings.get("packages"):
        from pi_core.host.package_resources import package_resources  # most users have no packages

        for each in package_resources(settings, "extensions", str(cwd), home):
            for source in _named(Path(each.path), "settings", f"package {each.source}", problems):
                if each.picks is None or source.path is None or each.picks.includes(str(_shown(source.path))):
                    name = source.name if source.script is None else _name_in(each.source, source.name)
                    yield evolve(source, name=name, package=each.source)


def _name_in(package: str, name: str) -> str:
    """Return the name of a script of a package: that of the package, unless its file has one that says something."""
    if name not in _UNNAMED and not re.fullmatch(r"[0-9a-f]{40}", name):
        return name
    location = re.sub(r"(?<=.)@[^/@]*$", "", package.partition(":")[2] or package)
    return re.sub(r"[^\w.-]", "-", Path(location).name.removesuffix(".git").removesuffix(".tgz")) or name


def _filters(settings: Settings, cwd: Path, home: str) -> Iterator[tuple[Path, Filter]]:
    """Yield the filter in each scope's settings, with the folder to which its paths are relative."""
    settings.get_str_list("extensions")  # reports values of a wrong type
    for origin, entries in settings.each("extensions"):
        from pi_core.base.filters import Filter  # most settings have no such list

        if isinstance(entries, list | tuple) and all(isinstance(each, str) for each in entries):
            base_dir = Path(origin).parent if Path(origin).is_absolute() else cwd
            files = [each for each in entries if not each.lstrip("+-! ").startswith(BUILTIN)]
            yield base_dir, Filter.parse(files, str(base_dir), home)


def _given(text: str, cwd: str, home: str, problems: list[str]) -> Iterator[ExtensionSource]:
    path = Path(absolute(text, cwd, home))
    if path.exists():
        yield from _named(path, "run", f"-e {text}", problems)
        return
    match = re.match(_REQUIREMENT, text)
    if match is None or text.endswith((".py", *_SCRIPTS)):
        raise UserError(
            f"Cannot load extension {text!r}: there is no such file, and it is not a requirement to install"
            " (see pi help extensions)."
        )
    yield ExtensionSource(match[1], None, "run", text)


def _named(path: Path, scope: Scope, where: str, problems: list[str]) -> Iterator[ExtensionSource]:
    """Yield the extension of a file or package, a project's plugins, or all extensions of a folder."""
    package = path / "__init__.py"
    if path.is_file():
        yield ExtensionSource(_name(path), path, scope)
        return
    if _is_program(path):
        yield ExtensionSource(_name(path / FILE), path / FILE, scope)
        return
    from pi_core.host.extensions.projects import plugins_of_package, plugins_of_project

    try:
        plugins = plugins_of_package(package) if package.is_file() else plugins_of_project(path)
    except UserError as error:
        problems.append(f"{where}: {error}")
        return
    if plugins:
        yield from (ExtensionSource(plugin.name, plugin.file, scope, plugin=plugin) for plugin in plugins)
    elif package.is_file():
        yield ExtensionSource(_name(package), package, scope)
    elif path.is_dir():
        files = list(_scripts_of(path) or _of_folder(path))
        yield from (ExtensionSource(_name(each), each, scope) for each in files)
        if not files:
            problems.append(
                f"{where}: {path} has neither an __init__.py, nor any *.py or *.ts, nor a {FILE} with a command, nor a"
                " pyproject.toml with entry points in group 'pi', nor an index.ts"
            )
    else:
        problems.append(f"{where}: {path} does not exist")


def _of_folder(folder: Path) -> Iterator[Path]:
    """Yield the files to run in a folder, sorted by name: ``*.py``, ``*.ts``, packages and programs, one level deep."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:  # missing or unreadable; it was not configured, so it is not an error
        return
    for path in entries:
        package = path / "__init__.py"
        if path.name.startswith((".", "_")):
            continue
        if (path.suffix == ".py" or is_script(path)) and path.is_file():
            yield path
        elif _is_program(path):
            yield path / FILE
        elif package.is_file():
            yield package
        elif path.is_dir():
            yield from _scripts_of(path)


def is_script(path: Path) -> bool:
    """Whether a file has the name of an extension in TypeScript or JavaScript."""
    return path.suffix in _SCRIPTS and not path.name.endswith((".d.ts", ".d.mts", ".d.cts"))


def _scripts_of(folder: Path) -> list[Path]:
    """Return the extensions that a folder is, in TypeScript or JavaScript."""
    if not any((folder / each).is_file() for each in ("package.json", "index.ts", "index.js")):
        return []
    from pi_core.host.extensions.scripts import scripts_of_folder  # most users have no such folders

    return scripts_of_folder(folder)


def _is_program(folder: Path) -> bool:
    if not (folder / FILE).is_file():
        return False
    from pi_core.host.extensions.manifests import is_program  # most users have no plugins that are programs

    return is_program(folder)


def _shown(path: Path) -> Path:
    """Return an extension's path as users see it: for a package or a program its folder."""
    return path.parent if path.name in ("__init__.py", FILE, "index.ts", "index.js") else path


def _name(path: Path) -> str:
    if path.name == FILE:
        from pi_core.host.extensions.manifests import name_of_program

        return name_of_program(path)
    if is_script(path):
        from pi_core.host.extensions.scripts import name_of_script  # most users have no such extensions

        return name_of_script(path)
    return _shown(path).name.removesuffix(".py")
