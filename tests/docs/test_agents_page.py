"""docs/agents.md: its agent file is one, its keys are those that are read, its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from pi_agents.agent_file import KEYS, read_agent
from pi_agents.commands import command_options
from pi_agents.settings import MAX_RESULT, SETTINGS
from pi_agents.tools import tools_of
from pi_hookspecs import ResourceFile

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_the_agent_file_is_read_without_remarks() -> None:
    (example,) = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)
    file = ResourceFile(path="/a/reviewer.md", scope="user", source="auto", base_dir="/a")
    found = read_agent(file, example)

    assert (found.name, found.problems, found.data["notes"]) == ("reviewer", (), [])


def test_the_table_has_every_key() -> None:
    table = PAGE.partition("| key | meaning |")[2].partition("\n\n")[0]

    named = set(re.findall(r"`(\w+)`", table))
    assert set(KEYS) <= named


def test_the_tools_and_their_arguments_are_named() -> None:
    for tool in tools_of(None):  # type: ignore[arg-type] # only called, not used
        call = f"`{tool.name}({', '.join(tool.parameters['properties'])})`"
        assert call in PAGE


def test_the_words_after_the_command_are_named() -> None:
    _, options = command_options(None)  # type: ignore[arg-type] # as above
    words = [each.value for each in options["complete"]("")]

    assert [word for word in words if f"/agents {word}" not in PAGE] == []


def test_the_limits_are_those_of_the_code() -> None:
    defaults = {each.name: each.schema.get("default") for each in SETTINGS}
    assert f"up to `agents.maxParallel` ({defaults['agents.maxParallel']})" in PAGE
    assert f"at most {MAX_RESULT:,} characters" in PAGE
