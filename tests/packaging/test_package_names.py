"""A name that a package defines is not that of one of its modules: the import of the module would replace it."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = [
    file
    for folder in ("hookspecs/src", "pi_core/src", "plugins/*/*/src")
    for file in ROOT.glob(f"{folder}/**/__init__.py")
]


def test_no_function_of_a_package_is_called_like_a_module_of_it() -> None:
    twice = {}
    for file in PACKAGES:
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        names = {node.name for node in ast.parse(file.read_text()).body if isinstance(node, defined)}
        modules = {each.stem if each.is_file() else each.name for each in file.parent.iterdir()}
        if names & modules:
            twice[file.relative_to(ROOT).as_posix()] = names & modules

    assert len(PACKAGES) > 90
    assert twice == {}
