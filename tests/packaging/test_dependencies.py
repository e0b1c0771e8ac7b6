"""The check of dependencies notices what is declared and unused, and what is used and not declared."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = runpy.run_path(str(ROOT / "tools" / "check_dependencies.py"))
NAMES = CHECK["module_names"](CHECK["folders"]())


@pytest.fixture
def member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(CHECK["differences"].__globals__, "ROOT", tmp_path)
    return Path(shutil.copytree(ROOT / "plugins" / "policies" / "retry", tmp_path / "retry"))


def found(member: Path) -> list[str]:
    lines: list[str] = CHECK["differences"](member, NAMES)
    return lines


def test_a_member_that_declares_what_it_imports_passes(member: Path) -> None:
    assert found(member) == []


def test_a_dependency_that_nothing_imports_is_found(member: Path) -> None:
    project = member / "pyproject.toml"
    project.write_text(project.read_text().replace("dependencies = [", 'dependencies = [\n    "orjson>=3.10",'))

    (line,) = found(member)
    assert line.startswith("retry/pyproject.toml")
    assert "'orjson'" in line


def test_an_import_that_is_not_declared_is_found(member: Path) -> None:
    (member / "src" / "pi_retry" / "policy.py").write_text("import orjson\n")

    assert [line.partition(":")[0] for line in found(member)] == ["retry/src/pi_retry/policy.py"]


def test_what_cannot_be_checked_is_no_success(member: Path) -> None:
    (member / "pyproject.toml").write_text("[project\n")

    with pytest.raises(RuntimeError, match="deptry failed in retry"):
        found(member)
