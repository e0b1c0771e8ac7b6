"""``load_skill`` and ``create_skill``."""

from __future__ import annotations

import pytest

import pi_skills
from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins={"skills": pi_skills})

allowed = pytest.mark.pi(settings={"enableSkillCreation": True})


async def result_of(session, script, tool: str, /, **arguments):
    script.turn(tool_call(tool, **arguments)).turn(text("ok"))
    await session.prompt("go")
    return script.requests[-1].tool_results[-1]


def offered(script) -> list[str]:
    return [*script.requests[-1].tools]


async def test_neither_is_offered_by_default(pi_session, script):
    script.turn(text("ok"))
    await pi_session.prompt("go")

    assert "load_skill" not in offered(script)
    assert "create_skill" not in offered(script)


@pytest.mark.pi(tools=["load_skill"])
async def test_a_skill_is_loaded_by_its_name(pi_session, script, write_skill):
    file = write_skill("review", "Review code.", "Look.", more="tools: [read]\n")
    result = await result_of(pi_session, script, "load_skill", name="review")

    assert not result.is_error
    assert "Look." in result.text
    assert f"References are relative to {file.parent}." in result.text
    assert result.details == {
        "skill": {"name": "review", "description": "Review code.", "path": str(file), "tools": ["read"]}
    }


@pytest.mark.pi(tools=["load_skill"])
async def test_an_unknown_skill_is_an_error_that_names_the_others(pi_session, script, write_skill):
    write_skill("review")
    result = await result_of(pi_session, script, "load_skill", name="nope")

    assert result.is_error
    assert result.text == "Skill not found: 'nope'. Available: review"


@allowed
async def test_a_skill_that_the_user_agrees_to_is_written_and_used(pi_session, script, fake_ui, pi_agent_dir):
    fake_ui.answers(True)
    arguments = {"name": "deploy", "description": 'Deploy: "prod" & co', "body": "1. Push.\n"}
    result = await result_of(pi_session, script, "create_skill", **arguments)

    file = pi_agent_dir / "skills" / "deploy" / "SKILL.md"
    assert result.text == f"Created the skill 'deploy' in {file}"
    assert file.read_text() in fake_ui.asked[0].text
    found = await pi_session.resources.load("skill")
    assert [(each.name, each.description) for each in found.resources] == [("deploy", 'Deploy: "prod" & co')]
    assert found.problems == ()
    script.turn(text("ok"))
    await pi_session.prompt("/skill:deploy")
    assert "\n\n1. Push.\n</skill>" in script.requests[-1].messages[-1].text


@allowed
async def test_a_skill_that_the_user_does_not_want_is_not_written(pi_session, script, fake_ui, pi_agent_dir):
    fake_ui.answers(False)
    result = await result_of(pi_session, script, "create_skill", name="deploy", description="d", body="b")

    assert (result.is_error, result.text) == (True, "The user does not want the skill 'deploy'")
    assert not (pi_agent_dir / "skills").exists()


@allowed
@pytest.mark.pi(session={"ui": None})
async def test_without_a_user_the_setting_is_consent_enough(pi_session, script, pi_agent_dir):
    result = await result_of(pi_session, script, "create_skill", name="deploy", description="d", body="b")

    assert not result.is_error
    assert (pi_agent_dir / "skills" / "deploy" / "SKILL.md").exists()


@allowed
async def test_a_skill_that_is_there_is_left_as_it_is(pi_session, script, write_skill):
    file = write_skill("deploy", body="Mine.", path="somewhere/SKILL.md")
    result = await result_of(pi_session, script, "create_skill", name="deploy", description="d", body="b")

    assert result.is_error
    assert str(file) in result.text
    assert "Mine." in file.read_text()


@allowed
@pytest.mark.parametrize(
    ("name", "description", "body", "violation"),
    [
        ("../../evil", "d", "b", "must consist of a-z"),
        ("a/b", "d", "b", "must consist of a-z"),
        ("deploy ", "d", "b", "would be read as 'deploy'"),
        ("", "d", "b", "must consist of a-z"),
        ("deploy", " ", "b", "no description"),
        ("deploy", "d" * 1025, "b", "the limit is 1024"),
        ("deploy", "d", "\n", "body is empty"),
    ],
)
async def test_what_breaks_a_rule_is_not_written(name, description, body, violation, pi_session, script, pi_agent_dir):
    before = sorted(pi_agent_dir.rglob("*.md"))
    result = await result_of(pi_session, script, "create_skill", name=name, description=description, body=body)

    assert result.is_error
    assert violation in result.text
    assert sorted(pi_agent_dir.rglob("*.md")) == before == []
