"""Checks whether a plugin has tests, which suites of ``pluggypi-testing`` apply to it, and whether they pass."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pi_cli.checking.children import run_program
from pi_cli.checking.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_cli.checking.subject import Subject

__all__ = ["TEST_SECONDS", "check_tests"]

TEST_SECONDS = 300.0
"""How long the tests may take."""

_PYTEST = ("-m", "pytest", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider")
_NO_PYTEST = (
    "Its tests were not run: pytest is not installed where pi is. uv run pi plugins check, in its folder, runs them in"
    " the environment of the project"
)
_NO_TESTS = 5
_MOST = 10
"""Maximum number of failed tests that are named."""

_SUITES = {
    "register_tools": "ToolContract",
    "register_providers": "ProviderContract",
    "register_session_stores": "StoreContract",
    "register_modes": "ModeContract",
}


def check_tests(subject: Subject, answer: dict[str, Any], scratch: Path | None) -> Iterator[Finding]:
    """Yield missing tests and suites, and the results of the tests, suites included.

    Args:
        subject: The plugin; only a project's folder has tests.
        answer: What its plugins register.
        scratch: A folder for the process that runs them; None does not run them.
    """
    if subject.folder is None:
        yield Finding("tests", "note", "Its tests were not run: only a project's folder contains them")
        return
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in _test_files(subject.folder)]
    if not any(map(_has_test, texts)):
        yield Finding("tests", "warning", "It has no tests. pi help testing shows how to write some")
        return
    registered = {hook for each in answer.values() for hook, names in each["registers"].items() if names}
    for hook, suite in _SUITES.items():
        if hook in registered and not any(suite in text for text in texts):
            what = hook.removeprefix("register_").replace("_", " ")
            yield Finding("tests", "note", f"It registers {what}, and its tests do not use {suite} of pluggypi-testing")
    if scratch is None:
        return
    if not answer:
        yield Finding("tests", "note", "Its tests were not run: the plugin cannot be imported")
    elif find_spec("pytest") is None:
        yield Finding("tests", "note", _NO_PYTEST)
    else:
        yield from _run(subject, subject.folder, scratch)


def _run(subject: Subject, folder: Path, scratch: Path) -> Iterator[Finding]:
    files = [str(file.resolve()) for file in _test_files(folder)]
    code, printed = run_program([*_PYTEST, *files], subject, scratch, TEST_SECONDS)
    last = next((line.strip("= ") for line in reversed(printed.splitlines()) if line.strip()), "nothing was printed")
    if code is None:
        yield Finding("tests", "error", f"Its tests did not finish within {TEST_SECONDS:g} s")
    elif code == _NO_TESTS:
        yield Finding("tests", "warning", "pytest finds no tests in it")
    elif code != 0:
        yield Finding("tests", "error", f"Its tests fail: {last}")
        failed = [line for line in printed.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        yield from (Finding("tests", "note", line) for line in failed[:_MOST])
    else:
        yield Finding("tests", "note", last)


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
