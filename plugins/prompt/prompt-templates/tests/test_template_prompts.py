"""``/name args`` in a session: what the model receives, and how templates are listed."""

from __future__ import annotations

import pytest

import pi_prompt_templates
from pi_hookspecs import Command, CommandsDiscoverResult, ExpandPromptResult, InputResult, hookimpl
from pi_hookspecs import CommandInfo as Info
from pi_testing import text, tool_call


class Skills:
    """Stands in for the plugin ``skills``, which comes first."""

    @hookimpl
    def expand_prompt(self, event):
        return ExpandPromptResult(text="a skill") if event.text == "/skill:review" else None

    @hookimpl
    def commands_discover(self):
        return CommandsDiscoverResult(commands=[Info(name="skill:review", source="skill")])


class Greeter:
    @hookimpl
    def register_commands(self):
        return [Command(name="review", description="In its place", handler=lambda args, ctx: None)]

    @hookimpl
    def input(self, event):
        return InputResult(text=event.text.replace("please", "/ask"))


TEMPLATES = {"prompt-templates": pi_prompt_templates}

pytestmark = pytest.mark.pi(plugins=TEMPLATES)


async def expanded(session, script, prompt: str, **how) -> str:
    script.turn(text("ok"))
    await session.prompt(prompt, **how)
    return script.requests[-1].messages[-1].text


async def test_a_template_replaces_its_name(pi_session, script, write_template):
    write_template("review", "---\ndescription: d\n---\n\nRead $1. Look at ${2:-everything}.\n")

    assert await expanded(pi_session, script, '/review "my file.py" ') == "Read my file.py. Look at everything."


async def test_arguments_may_begin_on_the_next_line(pi_session, script, write_template):
    write_template("review", "Review: $@")

    assert await expanded(pi_session, script, "/review\nthis one") == "Review: this one"


@pytest.mark.parametrize("prompt", ["/", "/ review", "/unknown x", "review", "//review", "see /review", "/usr/bin"])
async def test_what_is_no_call_is_sent_as_it_is(prompt, pi_session, script, write_template):
    write_template("review", "Review.")

    assert await expanded(pi_session, script, prompt) == prompt


async def test_a_template_does_not_call_another(pi_session, script, write_template):
    write_template("a", "/b $1")
    write_template("b", "B $1")

    assert await expanded(pi_session, script, "/a /b") == "/b /b"


async def test_a_template_that_changed_is_read_again(pi_session, script, write_template):
    write_template("review", "Before.")
    await expanded(pi_session, script, "/review")
    write_template("review", "Afterwards.")
    write_template("new", "New.")

    assert await expanded(pi_session, script, "/review") == "Afterwards."
    assert await expanded(pi_session, script, "/new") == "New."


async def test_folders_inside_are_not_looked_into(pi_session, script, write_template):
    write_template("review", "Review.")
    inside = write_template("review", "x").parent / "more"
    inside.mkdir()
    (inside / "hidden.md").write_text("Hidden.")

    assert await expanded(pi_session, script, "/hidden") == "/hidden"


async def test_where_the_caller_wants_the_text_it_is_sent_as_it_is(pi_session, script, write_template):
    write_template("review", "Review.")

    assert await expanded(pi_session, script, "/review", expand_prompt_templates=False) == "/review"


async def test_steering_is_expanded(pi_session, script, write_template):
    write_template("review", "Review $1.")

    async def meanwhile(_request):
        await pi_session.steer("/review a")
        return tool_call("read", path="x")

    script.turn(meanwhile).turn(text("ok"))
    await pi_session.prompt("go")

    assert script.requests[-1].messages[-1].text == "Review a."


@pytest.mark.pi(plugins={**TEMPLATES, "skills": Skills(), "greeter": Greeter()})
async def test_commands_then_input_then_skills_come_before_a_template(pi_session, script, write_template):
    write_template("review", "never")
    write_template("skill:review", "never")
    write_template("ask", "Asked: $1")

    assert await pi_session.prompt("/review") is None
    assert await expanded(pi_session, script, "please a") == "Asked: a"
    assert await expanded(pi_session, script, "/skill:review") == "a skill"


@pytest.mark.pi(plugins={"skills": Skills(), **TEMPLATES, "greeter": Greeter()})
async def test_commands_are_listed_in_the_order_of_the_contract(pi_session, write_template):
    write_template("review", "hidden by the command")
    file = write_template("ask", "---\ndescription: Ask\nargument-hint: <what>\n---\nx")

    commands = await pi_session.get_commands()

    assert [(each.name, each.source) for each in commands] == [
        ("review", "extension"),
        ("ask", "prompt"),
        ("skill:review", "skill"),
    ]
    ask = commands[1]
    assert (ask.description, ask.argument_hint, ask.location, ask.path) == ("Ask", "<what>", "user", str(file))


async def test_what_is_queued_is_the_text_of_the_template(pi_session, write_template):
    write_template("review", "x")

    await pi_session.steer("/review")

    assert pi_session.get_steering_messages() == ("x",)
