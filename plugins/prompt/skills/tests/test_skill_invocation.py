"""``/skill:name args``: what the model receives, when it is queued, and how it is listed."""

from __future__ import annotations

import pytest

import pi_skills
from pi_core.wire import to_wire
from pi_hookspecs import Command, InputResult, hookimpl
from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins={"skills": pi_skills})


async def expanded(session, script, prompt: str, **how) -> str:
    script.turn(text("ok"))
    await session.prompt(prompt, **how)
    return script.requests[-1].messages[-1].text


async def test_a_skill_replaces_its_name(pi_session, script, write_skill):
    file = write_skill("review", body="Look at everything.")

    assert await expanded(pi_session, script, "/skill:review  src/a.py and b.py ") == (
        f'<skill name="review" location="{file}">\n'
        f"References are relative to {file.parent}.\n"
        "\n"
        "Look at everything.\n"
        "</skill>\n"
        "\n"
        "src/a.py and b.py"
    )


async def test_without_arguments_nothing_follows_the_skill(pi_session, script, write_skill):
    write_skill("review")

    assert (await expanded(pi_session, script, "/skill:review")).endswith("Do it.\n</skill>")


async def test_arguments_may_begin_on_the_next_line(pi_session, script, write_skill):
    write_skill("review")

    assert (await expanded(pi_session, script, "/skill:review\nOne.\nTwo.")).endswith("</skill>\n\nOne.\nTwo.")


async def test_a_hidden_skill_can_be_called(pi_session, script, write_skill):
    write_skill("secret", more="disable-model-invocation: true\n")

    assert (await expanded(pi_session, script, "/skill:secret")).startswith('<skill name="secret"')


async def test_the_instructions_are_those_of_now(pi_session, script, write_skill):
    write_skill("review", body="Before.")
    await expanded(pi_session, script, "/skill:review")
    write_skill("review", body="Afterwards.")

    assert "Afterwards." in await expanded(pi_session, script, "/skill:review")


async def test_an_unknown_skill_is_reported_and_the_text_is_sent(pi_session, script, write_skill, fake_ui):
    write_skill("review")

    assert await expanded(pi_session, script, "/skill:reveiw it") == "/skill:reveiw it"
    assert [notice.message for notice in fake_ui.notices] == [
        "Unknown skill: reveiw. Did you mean review? (The text is sent unchanged.)"
    ]


@pytest.mark.parametrize("prompt", ["/skill:", "/skill: review", "say /skill:review", "/skillreview"])
async def test_what_is_no_call_is_sent_as_it_is(prompt, pi_session, script, write_skill):
    write_skill("review")

    assert await expanded(pi_session, script, prompt) == prompt


async def test_where_the_caller_wants_the_text_it_is_sent_as_it_is(pi_session, script, write_skill):
    write_skill("review")

    assert await expanded(pi_session, script, "/skill:review", expand_prompt_templates=False) == "/skill:review"


async def test_a_message_sent_as_the_user_is_no_command(pi_session, script, write_skill):
    write_skill("review")
    script.turn(text("ok"))
    await pi_session.send_user_message("/skill:review")

    assert script.requests[-1].messages[-1].text == "/skill:review"


@pytest.mark.pi(settings={"enableSkillCommands": False})
async def test_the_setting_turns_the_calls_off(pi_session, script, write_skill):
    write_skill("review")

    assert await expanded(pi_session, script, "/skill:review") == "/skill:review"
    assert await pi_session.get_commands() == ()


async def test_steering_and_follow_ups_are_expanded_in_their_order(pi_session, script, write_skill):
    write_skill("review")

    async def meanwhile(_request):
        first = pi_session.steer("/skill:review one")
        pi_session.steer("two")
        await pi_session.follow_up("/skill:review three")
        await first
        return tool_call("read", path="x")

    script.turn(meanwhile).turn(text("1")).turn(text("2")).turn(text("3"))
    await pi_session.prompt("go")

    texts = [message.text for message in pi_session.messages if message.role == "user"][1:]
    assert [each.rpartition("</skill>\n\n")[2] for each in texts] == ["one", "two", "three"]
    assert [each.startswith("<skill") for each in texts] == [True, False, True]


class Greeter:
    @hookimpl
    def register_commands(self):
        return [Command(name="skill:review", description="In its place", handler=lambda args, ctx: None)]


@pytest.mark.pi(plugins={"skills": pi_skills, "greeter": Greeter()})
async def test_a_plugins_command_comes_before_a_skill(pi_session, script, write_skill):
    write_skill("review")

    assert await pi_session.prompt("/skill:review") is None
    assert script.requests == []
    assert [(each.name, each.source) for each in await pi_session.get_commands()] == [("skill:review", "extension")]


class Rewriter:
    @hookimpl
    def input(self, event):
        return InputResult(text=event.text.replace("please review", "/skill:review"))


@pytest.mark.pi(plugins={"skills": pi_skills, "rewriter": Rewriter()})
async def test_the_input_hook_comes_before_a_skill(pi_session, script, write_skill):
    write_skill("review")

    assert (await expanded(pi_session, script, "please review")).startswith("<skill")


async def test_skills_are_listed_as_commands(pi_session, write_skill):
    file = write_skill("review", "Review code.")

    (command,) = await pi_session.get_commands()

    assert to_wire(command) == {
        "name": "skill:review",
        "description": "Review code.",
        "source": "skill",
        "location": "user",
        "path": str(file),
        "sourceInfo": {
            "path": str(file),
            "source": "auto",
            "scope": "user",
            "origin": "top-level",
            "baseDir": str(file.parent.parent),
        },
    }
