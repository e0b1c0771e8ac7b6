"""tools/other_pythons.py finds the interpreters of this machine."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


def interpreter(version: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return what the tool finds."""
    monkeypatch.syspath_prepend(TOOLS)
    found: str | None = importlib.import_module("other_pythons").interpreter(version)
    return found


@pytest.mark.slow
def test_those_of_pyenv_are_found_although_its_shims_do_not_start_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    for version in ("3.98.9", "3.98.10", "3.98-dev", "3.9.8", "pypy3.98-1"):
        (tmp_path / "versions" / version / "bin").mkdir(parents=True)
        (tmp_path / "versions" / version / "bin" / "python").touch()

    assert interpreter("3.98", monkeypatch) == str(tmp_path / "versions" / "3.98.10" / "bin" / "python")
    assert interpreter("3.97", monkeypatch) is None


def test_the_interpreter_that_runs_the_tests_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert interpreter(f"{sys.version_info[0]}.{sys.version_info[1]}", monkeypatch)
