"""Whether a plugin has tests, and which suites of ``pluggypi-testing`` fit it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pi_cli.checking.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_cli.checking.subject import Subject

__all__ = ["check_tests"]

_SUITES = {
    "register_tools": "ToolContract",
    "register_providers": "ProviderContract",
    "register_session_stores": "StoreContract",
    "register_modes": "ModeContract",
}


def check_tests(subject: Subject, answer: dict[str, Any]) -> Iterator[Finding]:
    """Yield whether tests are missing; ``answer`` is what the plugins register."""
    if subject.folder is None:
        yield Finding("tests", "note", "Its tests are not known: only a project's folder has them")
        return
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in _test_files(subject.folder)]
    if not any(map(_has_test, texts)):
        yield Finding("tests", "warning", "It has no tests. docs/testing.md shows how to write some")
        return
    registered = {hook for each in answer.values() for hook, names in each["registers"].items() if names}
    for hook, suite in _SUITES.items():
        if hook in registered and not any(suite in text for text in texts):
            what = hook.removeprefix("register_").replace("_", " ")
            yield Finding("tests", "note", f"It registers {what}, and its tests do not use {suite} of pluggypi-testing")


def _test_files(folder: Path) -> list[Path]:
    skipped = {".venv", "venv", "node_modules", ".git", "build", "dist"}
    found = [*folder.rglob("test_*.py"), *folder.rglob("*_test.py")]
    return [file for file in dict.fromkeys(found) if not skipped & {*file.relative_to(folder).parts}]


def _has_test(text: str) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name.startswith("Test"))
    return any(each.name.startswith("test") for each in functions) or any(True for _ in classes)
