"""docs/reference/contract-1.1.md: every row has a page or a reason, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from pi_testing import for_each

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "contract-1.1.md"
LINES = PAGE.read_text(encoding="utf-8").splitlines()
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in LINES
    if line.startswith("| ") and not line.startswith(("| need ", "| --- "))
]
NOT_BUILT = "Not built: "


@cache
def names_in(file: Path) -> set[str]:
    """The tests of a file: functions, and functions of classes as ``Class::function``."""
    found = set()
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{each}" for each in names_of(node)}
    return {name for name in found if name.rpartition("::")[2].startswith("test_")}


def names_of(node: ast.ClassDef) -> set[str]:
    return {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


@cache
def headings_in(file: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_there_are_rows_and_none_is_there_twice():
    needs = [row[0] for row in ROWS]

    assert len(needs) > 40
    assert sorted(set(needs)) == sorted(needs)


@for_each("row", ROWS)
def test_a_row_has_a_page_and_tests_that_exist_or_a_reason(row):
    assert len(row) == 4
    need, name, page, evidence = row
    links = re.findall(r"\]\(([^)]+)\)", page)
    tests = re.findall(r"`([\w./-]+\.py)::([\w:]+)`", evidence)

    assert need
    assert name
    assert links
    assert tests or (evidence.startswith(NOT_BUILT) and len(evidence.split()) > 5)
    assert [f"{file}::{test}" for file, test in tests if test not in names_in(ROOT / file)] == []


@for_each("link", sorted(set(re.findall(r"\]\(([^)]+)\)", "\n".join(LINES)))))
def test_a_link_leads_to_a_heading_of_a_page(link):
    target, _, anchor = link.partition("#")
    file = (PAGE.parent / target).resolve() if target else PAGE

    assert file.is_file()
    assert not anchor or anchor in headings_in(file)


def test_a_section_is_named_in_the_list_at_the_top():
    sections = re.findall(r"^## (.+)$", "\n".join(LINES), re.MULTILINE)

    assert re.findall(r"^- \[(.+)\]", "\n".join(LINES), re.MULTILINE) == sections
