"""The issue forms have what the host of the repository requires of them, and name pages and commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from pi_testing import for_each

ROOT = Path(__file__).parents[2]
FORMS = sorted(file for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml")
KINDS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}


def test_there_are_forms() -> None:
    assert [file.stem for file in FORMS] == ["bug", "idea", "page"]


@for_each("file", FORMS)
def test_a_form_is_complete(file: Path) -> None:
    form = yaml.safe_load(file.read_text(encoding="utf-8"))
    asked = [part for part in form["body"] if part["type"] != "markdown"]

    assert form["name"]
    assert form["description"]
    assert {part["type"] for part in form["body"]} <= KINDS
    assert len({part["id"] for part in asked}) == len(asked) > 0
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


@for_each("file", FORMS)
def test_the_pages_that_a_form_names_exist(file: Path) -> None:
    named = re.findall(r"[\w/]+\.md", file.read_text(encoding="utf-8"))

    assert [name for name in named if not (ROOT / name).is_file()] == []
