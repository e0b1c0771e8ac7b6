"""The reference names every field of the wire, and its links lead somewhere."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import attrs

import pi_hookspecs
from pi_core.wire import wire_name
from pi_hookspecs import AgentMessage, Content, SessionEntry
from pi_hookspecs.events import notices
from pi_testing import for_each

PAGES = Path(__file__).parents[2] / "docs" / "reference"
UNION = {"messages": (*AgentMessage.__args__, *Content.__args__), "session-files": SessionEntry.__args__}
NOTICES = [getattr(notices, name) for name in notices.__all__]
RUN = [pi_hookspecs.AgentEndEvent, pi_hookspecs.ToolExecutionUpdateEvent, pi_hookspecs.ToolExecutionEndEvent]
CASES = [
    *((page, cls) for page, classes in UNION.items() for cls in classes if not cls.__name__.startswith("Unknown")),
    *(("events", cls) for cls in (*NOTICES, *RUN)),
    ("messages", pi_hookspecs.Usage),
    ("session-files", pi_hookspecs.SessionHeader),
]


@for_each(("page", "cls"), CASES)
def test_page_names_every_field(page, cls):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")

    wire = [each for each in attrs.fields(cls) if each.metadata.get("wire", True) and each.name != "extra"]
    missing = [
        wire_name(each.name)
        for each in wire
        if not re.search(rf"[`{{ ]{wire_name(each.name)}\b|\"{wire_name(each.name)}\"", text)
    ]
    assert missing == []


@for_each("page", sorted(PAGES.glob("*.md")))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_index_names_every_page():
    index = (PAGES / "README.md").read_text(encoding="utf-8")

    assert [
        page.name for page in PAGES.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index
    ] == []


def test_no_page_asks_for_a_contract_that_does_not_exist():
    pages = {file: file.read_text(encoding="utf-8") for file in PAGES.parent.rglob("*.md")}
    asked = {(file.name, found) for file, text in pages.items() for found in re.findall(r"hookspecs>=(\d+\.\d+)", text)}

    ours = tuple(map(int, version("pluggypi-hookspecs").split(".")[:2]))
    assert [each for each in asked if tuple(map(int, each[1].split("."))) > ours] == []
    assert len(asked) > 3
