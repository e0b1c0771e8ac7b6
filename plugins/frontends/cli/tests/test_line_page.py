"""docs/line-mode.md names what there is."""

from __future__ import annotations

from pathlib import Path

from pi_cli.line.commands import OWN
from pi_cli.line.keys import KEYS
from pi_cli.line.tree import FILTERS

PAGE = (Path(__file__).parents[4] / "docs" / "line-mode.md").read_text(encoding="utf-8")


def first_cells(heading):
    """Return the first cell of each row below a heading."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| ")][2:]
    return [row.split(" | ")[0].removeprefix("| ") for row in rows]


def test_the_page_names_every_key():
    assert first_cells("Keys") == [name for name, _ in KEYS]


def test_the_page_names_every_command():
    assert [cell.strip("`").split(" ")[0] for cell in first_cells("Commands")] == [f"/{name}" for name in OWN]


def test_the_page_names_every_filter_of_the_tree():
    assert all(f"`{name}`" in PAGE for name in FILTERS)
