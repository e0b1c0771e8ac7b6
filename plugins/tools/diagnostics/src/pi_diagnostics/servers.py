"""The programs that are known to find errors, by the endings of the files that they understand."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["TABLE", "Checker", "find_program", "wanted"]

Kind: TypeAlias = Literal["server", "ruff", "eslint"]

_PYTHON = {".py": "python", ".pyi": "python"}
_SCRIPTS = {
    ".cjs": "javascript",
    ".cts": "typescript",
    ".js": "javascript",
    ".jsx": "javascriptreact",
    ".mjs": "javascript",
    ".mts": "typescript",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
}
_C = {".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".h": "cpp", ".hh": "cpp", ".hpp": "cpp"}
_PROJECT_FOLDERS = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where a project has programs of its own."""


@frozen
class Checker:
    """A program that finds errors in files.

    Attributes:
        name: As settings and notices call it.
        command: The program, by name or absolute path, and its arguments.
        languages: Endings of files, as ``.py``, and the protocol's identifier of their language.
        group: Of the programs of one group the first that is installed is used.
        kind: ``server`` for the Language Server Protocol; else the linter whose output it prints.
        runs_project: Whether it executes code of the project (build scripts, plugins, interpreters), so that it is
            only started in a trusted one.
        only_project: Whether it is only used where the project has it itself.
    """

    name: str
    command: tuple[str, ...]
    languages: Mapping[str, str] = field(repr=False)
    group: str
    kind: Kind = "server"
    runs_project: bool = False
    only_project: bool = False


_KNOWN = (
    Checker("ruff", ("ruff",), _PYTHON, "ruff", kind="ruff"),
    Checker("basedpyright", ("basedpyright-langserver", "--stdio"), _PYTHON, "python", runs_project=True),
    Checker("pyright", ("pyright-langserver", "--stdio"), _PYTHON, "python", runs_project=True),
    Checker("pylsp", ("pylsp",), _PYTHON, "python", runs_project=True),
    Checker("eslint", ("eslint",), _SCRIPTS, "eslint", kind="eslint", runs_project=True, only_project=True),
    Checker("typescript", ("typescript-language-server", "--stdio"), _SCRIPTS, group="typescript", runs_project=True),
    Checker("gopls", ("gopls",), {".go": "go"}, "go", runs_project=True),
    Checker("rust-analyzer", ("rust-analyzer",), {".rs": "rust"}, "rust", runs_project=True),
    Checker("clangd", ("clangd",), _C, "c"),
)
TABLE = {each.name: each for each in _KNOWN}


def wanted(checkers: Mapping[str, Checker], path: str) -> list[list[Checker]]:
    """Return the programs for a file, by groups, each in the order of preference."""
    ending = os.path.splitext(path)[1].lower()
    groups: dict[str, list[Checker]] = {}
    for each in checkers.values():
        if ending in each.languages:
            groups.setdefault(each.group, []).append(each)
    return list(groups.values())


def find_program(checker: Checker, cwd: Path, *, trusted: bool) -> str | None:
    """Return the absolute path of a program; None if it is not installed, or must not be started in this project.

    Args:
        checker: What is looked for.
        cwd: The project's folder. Its own programs come first, if it is trusted, and never otherwise: also not those
            that a ``PATH`` with a folder of the project leads to.
        trusted: Whether the project is.
    """
    if checker.runs_project and not trusted:
        return None
    own = [os.path.join(cwd, folder) for folder in _PROJECT_FOLDERS]
    others = [each for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if each]
    if not trusted:
        own, others = [], [each for each in others if not _is_within(each, cwd)]
    if checker.only_project:
        others = []
    program = checker.command[0]
    found = shutil.which(program, path=os.pathsep.join((*own, *others)))
    if found is None or (not trusted and _is_within(found, cwd)):
        return None
    return os.path.abspath(found)


def _is_within(path: str, folder: Path) -> bool:
    root = os.path.realpath(folder)
    return os.path.realpath(path).startswith(os.path.join(root, "")) or os.path.realpath(path) == root
