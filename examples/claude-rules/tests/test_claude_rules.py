"""Rules of the project are named in the system prompt."""

from __future__ import annotations

import pytest

from pi_core import Settings
from pi_testing import text

in_a_trusted_project = pytest.mark.pi(session={"settings": Settings.in_memory(agent_dir=".", trust=True)})


@in_a_trusted_project
async def test_rules_are_listed_in_the_system_prompt(pi_session, script, tmp_path):
    for name in ("style.md", "api/errors.md", "notes.txt"):
        file = tmp_path / ".claude" / "rules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("...")
    script.turn(text("Fine."))

    await pi_session.prompt("go")

    prompt = script.requests[0].system_prompt
    assert prompt.endswith("read it:\n- .claude/rules/api/errors.md\n- .claude/rules/style.md")


async def test_an_untrusted_projects_rules_do_not_count(pi_session, script, tmp_path):
    rules = tmp_path / ".claude" / "rules"
    rules.mkdir(parents=True)
    (rules / "style.md").write_text("...")
    script.turn(text("Fine."))

    await pi_session.prompt("go")

    assert "style.md" not in script.requests[0].system_prompt


@in_a_trusted_project
async def test_without_rules_the_prompt_stays_as_it_is(pi_session, script):
    script.turn(text("Fine."))

    await pi_session.prompt("go")

    assert "Rules of this project" not in script.requests[0].system_prompt
