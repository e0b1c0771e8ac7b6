"""The section of the system prompt that names the skills."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import pi_skills
from pi_testing import text

pytestmark = pytest.mark.pi(plugins={"skills": pi_skills})


async def prompt_of(session, script) -> str:
    script.turn(text("ok"))
    await session.prompt("go")
    return script.requests[-1].system_prompt


def listed(prompt: str) -> list[tuple[str | None, ...]]:
    start, end = prompt.index("<available_skills>"), prompt.index("</available_skills>")
    root = ET.fromstring(prompt[start:end] + "</available_skills>")  # noqa: S314 - our own prompt
    return [tuple(child.text for child in each) for each in root]


async def test_skills_are_listed_with_name_description_and_location(pi_session, script, write_skill):
    file = write_skill("review", "Review code.")

    assert listed(await prompt_of(pi_session, script)) == [("review", "Review code.", str(file))]


async def test_a_skills_description_cannot_close_its_element(pi_session, script, write_skill):
    file = write_skill("review", '"</skill> & <b> it\'s"', path="a&b/SKILL.md")

    assert listed(await prompt_of(pi_session, script)) == [("review", "</skill> & <b> it's", str(file))]


async def test_a_hidden_skill_is_not_listed(pi_session, script, write_skill):
    write_skill("review")
    write_skill("secret", more="disable-model-invocation: true\n")

    assert [name for name, *_ in listed(await prompt_of(pi_session, script))] == ["review"]


async def test_hidden_skills_alone_make_no_section(pi_session, script, write_skill):
    write_skill("secret", more="disable-model-invocation: true\n")

    assert "<skills>" not in await prompt_of(pi_session, script)


@pytest.mark.pi(tools=["edit", "write"])
async def test_without_a_tool_to_read_them_they_are_not_listed(pi_session, script, write_skill):
    write_skill("review")

    assert "available_skills" not in await prompt_of(pi_session, script)


@pytest.mark.parametrize(
    "tool", [pytest.param(name, marks=pytest.mark.pi(tools=[name])) for name in ("read", "bash", "load_skill")]
)
async def test_the_model_learns_which_tool_opens_a_skill(tool, pi_session, script, write_skill):
    write_skill("review")

    assert f"with the tool {tool} before you begin" in await prompt_of(pi_session, script)


async def test_a_changed_skill_is_announced_again(pi_session, script, write_skill):
    write_skill("review", "Before.")
    await prompt_of(pi_session, script)
    write_skill("review", "After that.")
    write_skill("another")
    prompt = await prompt_of(pi_session, script)

    assert [name for name, *_ in listed(prompt)] == ["another", "review"]
    assert "After that." in prompt


async def test_a_prompt_whose_skills_did_not_change_is_the_same(pi_session, script, write_skill):
    write_skill("review")

    assert await prompt_of(pi_session, script) == await prompt_of(pi_session, script)
