"""``/tool save`` makes a tool of the last script: the user reviews it, the project keeps it, other sessions use it."""

from __future__ import annotations

import pytest

import pi_codemode
import pi_skills
import pi_tools
from pi_codemode.saved import draft_of
from pi_hookspecs import UserError
from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(
    plugins={"codemode": pi_codemode, "tools": pi_tools, "skills": pi_skills},
    settings={"codemode": {"enabled": True}},
    trusted=True,
)

SCRIPT = 'pattern = "*.txt"\nlimit = 2\nnames = (await bash(f"ls {pattern}")).split()\nsorted(names)[:limit]\n'


@pytest.fixture
def errors(pi_session):
    """Errors of commands, which front ends display."""
    found = []
    pi_session.subscribe(found.append, "extension_error")
    return found


@pytest.fixture
async def saved(pi_session, script, fake_ui):
    """Return a function that runs a script and saves it."""

    async def save(command="/tool save some-files Lists files.", review=None, code=SCRIPT):
        for name in "abc":
            (pi_session.cwd / f"{name}.txt").touch()
        script.turn(tool_call("codemode", code=code)).turn(text("Done."))
        await pi_session.prompt("go")
        fake_ui.answers(review if review is not None else draft_of(code).script)
        await pi_session.prompt(command)
        return fake_ui

    return save


async def test_a_saved_script_is_a_tool_with_its_constants_as_parameters(saved, pi_session, script):
    ui = await saved()
    script.turn(tool_call("some_files", limit=1)).turn(text("Done."))
    await pi_session.prompt("again")

    assert ui.notices[-1].message == "Saved in .pi/skills/some-files; the model is offered it as some_files."
    assert "some_files" in script.requests[-1].tools
    (tool,) = [each for each in pi_session.agent.state.tools if each.name == "some_files"]
    result = [each for each in pi_session.messages if each.role == "toolResult"][-1]
    rows = tool.renderer.render_result(result, width=80, expanded=False, partial=False)
    assert [row.partition("  ")[0] for row in rows] == ["✓ bash command='ls *.txt'", '["a.txt"]']
    assert script.requests[-1].tool_results[-1].text == '["a.txt"]'
    folder = pi_session.cwd / ".pi/skills/some-files"
    assert (folder / "script.py").read_text().splitlines() == SCRIPT.splitlines()[2:]
    assert '"limit": {"type": "integer", "default": 2}' in (folder / "SKILL.md").read_text()


async def test_the_name_may_be_that_of_the_tool(saved, pi_session):
    ui = await saved("/tool save some_files")

    assert ui.notices[-1].message == "Saved in .pi/skills/some-files; the model is offered it as some_files."


async def test_what_the_user_changes_in_the_review_is_saved(saved, pi_session):
    await saved(review="'reviewed'")

    assert (pi_session.cwd / ".pi/skills/some-files/script.py").read_text() == "'reviewed'\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/tool save", "A tool's name must be lowercase letters, digits, dashes and underscores"),
        ("/tool save ../x", "A tool's name must be lowercase letters, digits, dashes and underscores"),
        ("/tool save read", "A tool 'read' already exists"),
        ("/tool drop x", "Unknown arguments of /tool: 'drop'"),
    ],
)
async def test_mistakes_are_explained_and_save_nothing(saved, errors, pi_session, command, message):
    await saved(command)

    assert message in errors[-1].error
    assert not (pi_session.cwd / ".pi/skills").exists()


async def test_without_a_script_there_is_nothing_to_save(pi_session, errors):
    await pi_session.prompt("/tool save x")

    assert "No script of this conversation has run without an error yet" in errors[-1].error


@pytest.mark.pi(trusted=False)
async def test_a_project_that_is_not_trusted_keeps_no_tools(pi_session, errors):
    await pi_session.prompt("/tool save x")

    assert "this project is not trusted" in errors[-1].error


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("1", []),
        ("a = 1\nb = [1, 'x']\nprint(a)\nc = 3", ["a", "b"]),
        ("import re\na = 1", []),
        ("a = b = 1", []),
        ("a = None\n", []),
        ("a, b = 1, 2", []),
        ("a: int = 1", []),
    ],
)
def test_only_constants_at_the_beginning_become_parameters(code, names):
    assert [*draft_of(code).parameters["properties"]] == names


def test_a_review_that_is_not_python_is_refused():
    with pytest.raises(UserError, match="not valid Python"):
        draft_of("for x in")
