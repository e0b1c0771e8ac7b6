"""The subject of a check: an installed plugin, a folder with a ``pyproject.toml``, a wheel, or an extension file."""

from __future__ import annotations

import json
import tomllib
import zipfile
from importlib.metadata import (
    Distribution,
    EntryPoint,
    EntryPoints,
    PackageNotFoundError,
    PathDistribution,
    distribution,
)
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from attrs import define, field

from pi_core import expand_home
from pi_core.host.discovery import ENTRY_POINT_GROUP
from pi_hookspecs import UnknownName, UserError
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_core import PluginHost

__all__ = ["Subject", "editable_folder", "find_subject"]


@define(eq=False, repr=False)
class Subject(ReprMixin):
    """A plugin to check.

    Attributes:
        origin: What the user named, for display.
        name: The distribution's name; empty for a file.
        plugins: The modules of its entry points, by the plugin's name.
        paths: Additional entries for the import path.
        sources: Its Python files.
        shown_from: The folder to which places of findings are relative.
        folder: The project's folder, where its tests are; None if it is not known.
    """

    origin: str
    name: str
    version: str
    plugins: dict[str, str]
    paths: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    shown_from: Path = field(factory=Path)
    folder: Path | None = None
    requires: tuple[str, ...] = ()
    requires_python: str | None = None
    licence: str | None = None
    is_typed: bool = False

    @property
    def modules(self) -> tuple[str, ...]:
        """The top-level modules of its entry points."""
        return tuple(dict.fromkeys(value.partition(":")[0].partition(".")[0] for value in self.plugins.values()))

    def shown(self, file: Path) -> Path:
        """Return a file's path for display."""
        return file.relative_to(self.shown_from) if file.is_relative_to(self.shown_from) else file


def find_subject(text: str, host: PluginHost, scratch: Path) -> Subject:
    """Find the subject named on the command line: an installed plugin by its name, else a path.

    Args:
        text: The name or path.
        host: The installed plugins.
        scratch: A folder for the files of a wheel.

    Raises:
        UnknownName: There is neither such a plugin nor such a path.
        UserError: It cannot be checked.
    """
    path = expand_home(text)
    if text in host.records:
        return _installed(text, host.records[text].distribution)
    if path.suffix == ".whl" and path.is_file():
        return _wheel(path, scratch)
    if path.suffix == ".py" and path.is_file():
        return _file(path)
    if path.is_dir():
        return _project(path)
    if path.exists():
        raise UserError(
            f"{text!r} is neither a folder, a wheel nor a Python file, and no plugin of this name is installed"
        )
    if "/" in text or path.suffix in (".py", ".whl"):
        raise UserError(f"{text!r} does not exist")
    raise UnknownName(
        "plugin", text, [*host.records], "pi plugins lists them; a folder or a wheel is named by its path"
    )


def _project(folder: Path) -> Subject:
    file = folder / "pyproject.toml"
    if not file.is_file():
        if (folder / "pi_plugin.json").is_file():
            raise UserError(
                f"{str(folder)!r} is a plugin that runs in a separate process; pi plugins check reads Python plugins"
            )
        raise UserError(f"{str(folder)!r} has no pyproject.toml, so it is not a distribution of a plugin")
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    project = written.get("project")
    if not isinstance(project, dict) or not isinstance(project.get("name"), str):
        raise UserError(f"{file} has no [project] with a name, so it is not a distribution of a plugin")
    found = _text_table(_table(project, "entry-points").get(ENTRY_POINT_GROUP))
    roots = [each for each in _roots(folder, written) if each.is_dir()]
    licence = project.get("license")
    subject = Subject(
        origin=str(folder),
        name=project["name"],
        version=str(project.get("version", "0")),
        plugins=found,
        paths=tuple(each.absolute() for each in roots),
        folder=folder,
        requires=tuple(_texts(project.get("dependencies"))),
        requires_python=next(iter(_texts([project.get("requires-python")])), None),
        licence=json.dumps(licence) if licence else None,
    )
    _add_sources(subject, subject.paths)
    return subject


def _table(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _text_table(value: Any) -> dict[str, str]:
    return {key: each for key, each in value.items() if isinstance(each, str)} if isinstance(value, dict) else {}


def _roots(folder: Path, written: dict[str, Any]) -> list[Path]:
    """Return the folders that may contain a project's modules."""
    hatch = written
    for key in ("tool", "hatch", "build", "targets", "wheel"):
        hatch = _table(hatch, key)
    named = [folder / each for each in _texts(hatch.get("packages"))]
    return [*dict.fromkeys([*(each.parent for each in named), folder / "src", folder])]


def _wheel(file: Path, scratch: Path) -> Subject:
    target = Path(mkdtemp(prefix="wheel-", dir=scratch))
    try:
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(target)
    except (OSError, zipfile.BadZipFile, RuntimeError) as error:
        raise UserError(f"{str(file)!r} cannot be read as a wheel: {error}") from error
    metadata = next(iter(target.glob("*.dist-info")), None)
    if metadata is None or not (metadata / "METADATA").is_file():
        raise UserError(f"{str(file)!r} has no metadata, so it is not a wheel")
    subject = _described(PathDistribution(metadata), str(file))
    subject.paths = (target,)
    subject.shown_from = target
    _add_sources(subject, [target])
    return subject


def _installed(plugin: str, name: str) -> Subject:
    try:
        found = distribution(name)
    except PackageNotFoundError as error:
        raise UserError(f"Plugin {plugin!r} is installed, but the metadata of {name!r} were not found") from error
    folder = editable_folder(found)
    if folder is not None and (folder / "pyproject.toml").is_file():
        subject = _project(folder)
        subject.shown_from = folder
        return subject
    subject = _described(found, plugin)
    root = Path(str(found.locate_file(""))).absolute()
    subject.shown_from = root
    _add_sources(subject, [root])
    return subject


def editable_folder(found: Distribution) -> Path | None:
    """Return the folder of an editable installation; None for other distributions."""
    try:
        origin = json.loads(found.read_text("direct_url.json") or "null")
    except ValueError:
        return None
    if not isinstance(origin, dict) or not _table(origin, "dir_info").get("editable"):
        return None
    return Path(unquote(urlsplit(str(origin.get("url"))).path))


def _described(found: Distribution, origin: str) -> Subject:
    metadata: Any = found.metadata
    return Subject(
        origin=origin,
        name=metadata["Name"] or "",
        version=found.version or "0",
        plugins=_plugins(found.entry_points),
        requires=tuple(found.requires or ()),
        requires_python=metadata.get("Requires-Python"),
        licence=metadata.get("License-Expression") or metadata.get("License") or _classified(metadata),
    )


def _plugins(entry_points: EntryPoints | Iterable[EntryPoint]) -> dict[str, str]:
    return {each.name: each.value for each in entry_points if each.group == ENTRY_POINT_GROUP}


def _classified(metadata: Any) -> str | None:
    return next((each for each in metadata.get_all("Classifier") or () if each.startswith("License ::")), None)


def _file(file: Path) -> Subject:
    if not file.stem.isidentifier():
        raise UserError(f"{str(file)!r} cannot be imported under this name; use letters, digits and _")
    return Subject(
        origin=str(file),
        name="",
        version="0",
        plugins={file.stem: file.stem},
        paths=(file.parent.absolute(),),
        sources=(file,),
    )


def _add_sources(subject: Subject, roots: Sequence[Path]) -> None:
    """Find the files of the plugin's modules, each in the first folder that has it, and keep only these folders."""
    sources: list[Path] = []
    used: list[Path] = []
    for module in subject.modules:
        for root in roots:
            package, file = root / module, root / f"{module}.py"
            if not package.is_dir() and not file.is_file():
                continue
            sources += sorted(package.rglob("*.py")) if package.is_dir() else [file]
            is_typed = (
                not package.is_dir() or (package / "py.typed").is_file()
            )  # a single module cannot bring the marker
            subject.is_typed = subject.is_typed or is_typed
            used.append(root)
            break
    subject.sources = tuple(sources)
    if subject.paths and used:
        subject.paths = tuple(dict.fromkeys(used))
    if subject.shown_from == Path():
        subject.shown_from = Path.cwd()
