"""Treats a folder with a ``pyproject.toml`` as extensions: the plugins in its entry points, without installing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["ProjectPlugin", "plugins_of_package", "plugins_of_project"]

_FILE = "pyproject.toml"
_GROUP = "pi"


@frozen(eq=False, repr=False)
class ProjectPlugin(Value):
    """A plugin of a project that is not installed.

    Attributes:
        name: The name of the entry point.
        value: What to import, ``module`` or ``module:attribute``.
        file: The file of the outermost module.
        root: The folder from which the module is imported.
        project: The name of the distribution.
        requires: The requirements of the project, in pip's syntax.
    """

    name: str
    value: str
    file: Path
    root: Path
    project: str
    requires: tuple[str, ...]


def plugins_of_project(folder: Path) -> list[ProjectPlugin]:
    """Return the plugins that a folder's ``pyproject.toml`` declares; empty if there is no such file.

    Raises:
        UserError: The file cannot be read, or the module of a plugin does not exist.
    """
    file = folder / _FILE
    if not file.is_file():
        return []
    project = _read(file)
    entry_points = project.get("entry-points", {}).get(_GROUP, {})
    requires = tuple(each for each in project.get("dependencies", ()) if isinstance(each, str))
    found = []
    for name, value in entry_points.items():
        module = str(value).partition(":")[0].partition(".")[0]
        origin = next(_modules(folder, module), None)
        if origin is None:
            raise UserError(f"{file} names the plugin {name!r}, but neither src/{module} nor {module} exists")
        root = origin.parent.parent if origin.name == "__init__.py" else origin.parent
        found.append(ProjectPlugin(name, str(value), origin, root, str(project.get("name", folder.name)), requires))
    return found


def plugins_of_package(package: Path) -> list[ProjectPlugin]:
    """Return the plugins in a package, given its ``__init__.py``, that an enclosing project declares.

    Raises:
        UserError: As in ``plugins_of_project``.
    """
    file = package.resolve()
    found = (plugin for folder in file.parents[1:3] for plugin in plugins_of_project(folder))
    return [plugin for plugin in found if plugin.file.resolve() == file]


def _read(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{file} is not TOML: {error}") from error
    return project


def _modules(folder: Path, module: str) -> Iterator[Path]:
    for root in (folder / "src", folder):
        yield from (file for file in (root / module / "__init__.py", root / f"{module}.py") if file.is_file())
