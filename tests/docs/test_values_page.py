"""docs/values.md has the fields of every value, as the classes have them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import attrs

import pi_hookspecs
from pi_testing import for_each

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "values.md").read_text(encoding="utf-8")
ASKED_FOR = (
    "CompactionPreparation ExecResult ExportRequest Model Prompt SessionInfo SideRequest ToolResult Usage Options"
)


def test_the_page_is_what_the_script_writes():
    script = ROOT / "tools" / "build_values_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert done.stdout == ""
    assert done.returncode == 0


@for_each("name", ASKED_FOR.split())
def test_what_authors_look_for_has_a_table(name):
    section = re.search(rf"### `{name}`\n(.*?)(?=\n###? |\Z)", PAGE, re.DOTALL)

    assert section is not None
    assert "| field | type | default |" in section[1]


def test_every_value_that_is_no_event_and_no_answer_of_a_hook_is_there():
    homes = {name: home for home, names in pi_hookspecs._HOMES.items() for name in names.split()}
    values = {
        name
        for name, home in homes.items()
        if attrs.has(getattr(pi_hookspecs, name))
        and home != "_markers"
        and not (home.startswith("events.") and name.endswith(("Event", "Result")))
    }

    assert values <= set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE))


@for_each(
    ("name", "member"),
    [
        ("ProviderInfo", "| `models` |"),
        ("SessionStore", "- `name`: "),
        ("Exporter", "- `format`: "),
        ("Renderer", "- `name`: "),
        ("Provider", "- `api`: "),
        ("ToolResult", "- `ToolResult.text(text, **fields)`: "),
        ("Line", "- `Line.of(*parts, fill=None)`: "),
        ("AssistantMessage", "- `tool_calls`: "),
        ("Model", "- `reference`: "),
    ],
)
def test_a_section_has_what_identifies_a_thing_and_what_it_computes(name, member):
    section = re.search(rf"### `{name}`\n(.*?)(?=\n###? |\Z)", PAGE, re.DOTALL)

    assert section is not None
    assert f"\n{member}" in section[1]


def test_every_member_has_a_meaning():
    assert re.findall(r"^- `[^`]+`: *$", PAGE, re.MULTILINE) == []
