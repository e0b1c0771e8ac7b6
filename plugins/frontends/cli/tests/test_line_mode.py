"""The plain interactive front end: what is typed, what is shown, and how it ends."""

from __future__ import annotations

import json
import time

import pytest

from pi_cli import __version__

pytestmark = pytest.mark.slow  # each starts programs that take seconds

DUMB = 'TERM=dumb exec "$@"'


@pytest.fixture
def talk(fake, at_terminal):
    """Start pi at a terminal; the first prompt is waited for."""

    def start(*arguments, model="fake/echo"):
        terminal = at_terminal(fake, "--model", model, *arguments, script=DUMB)
        terminal.until("> ")
        return terminal

    return start


def enter(terminal, line, expected):
    terminal.type(f"{line}\n")
    return terminal.until(expected)


def test_what_is_typed_is_answered_until_ctrl_d(talk):
    terminal = talk()
    enter(terminal, "hello", "\nhello\r\n> ")
    enter(terminal, "again", "\nagain\r\n> ")

    while terminal.process.poll() is None:  # the prompt may be shown a moment before it is listened to
        terminal.type("\x04")
        time.sleep(0.1)

    assert terminal.process.returncode == 0


def test_the_prompt_of_the_command_line_is_sent_first(talk):
    terminal = talk("first things first")

    assert "first things first" in terminal.until("first things first")


def test_a_user_command_is_run_and_reported_to_the_model(talk, fake):
    terminal = talk()
    enter(terminal, "!echo a''b", "ab")
    enter(terminal, "!exit 3", "Exit code 3")
    enter(terminal, "thanks", "\nthanks\r\n> ")
    enter(terminal, "/quit", "/quit")
    terminal.end()

    (file,) = (fake.agent_dir / "sessions").rglob("*.jsonl")
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    assert [
        entry["message"]["command"] for entry in kept if entry.get("message", {}).get("role") == "bashExecution"
    ] == [
        "echo a''b",
        "exit 3",
    ]


def test_an_unknown_command_is_not_sent_to_the_model(talk):
    output = enter(talk(), "/nope", "/help lists the commands.")

    assert "Unknown command: /nope" in output


def test_a_command_of_a_plugin_that_waits_names_what_it_waits_for(talk, tmp_path):
    output = enter(talk(), "/rewind", "waits for")

    assert "Unknown command" not in output
    assert "/rewind is not available here: the plugin 'rewind' waits for" in output
    assert ".git" in output


def test_help_describes_a_command_and_prints_a_page(talk):
    terminal = talk()

    enter(terminal, "/help /model", "/model  Show the models, or choose one")
    enter(terminal, "/help /nothing", "There is no command /nothing.")
    enter(terminal, "/help screen", "# The screen")
    enter(terminal, "/name High water", "Session name: High water")


def test_a_compaction_of_a_short_session_is_refused_once(talk):
    terminal = talk()
    enter(terminal, "hello", "\nhello\r\n> ")
    enter(terminal, "/compact", "Nothing to compact")
    output = enter(terminal, "again", "\nagain\r\n> ")  # all that was printed until then

    assert output.count("Nothing to compact (session too small)") == 1


def test_help_lists_what_there_is(talk):
    output = enter(talk(), "/help", "Ctrl-C  ")

    assert "/model" in output
    assert "/compact" in output


def test_the_changes_of_a_version_are_listed(talk):
    terminal = talk()

    newest = enter(terminal, "/changelog", "/changelog 1.0.0")
    older = enter(terminal, "/changelog 1.0.0", "- pi runs, with a plugin host with hooks")

    assert f"## {__version__} (" in newest
    assert older.count(f"## {__version__} (") == 1


def test_the_model_is_chosen_by_name(talk):
    terminal = talk()

    assert "fake/fail, thinking" in enter(terminal, "/model fake/fail", "thinking")


def test_an_unknown_model_name_is_reported_and_the_conversation_continues(talk):
    terminal = talk()
    enter(terminal, "/model zzz", "Error: Unknown model: zzz")

    enter(terminal, "still there", "\nstill there\r\n> ")


def test_a_failed_answer_is_reported_and_the_conversation_continues(talk):
    terminal = talk(model="fake/fail")
    enter(terminal, "hello", "Error: 400 the request is wrong")

    enter(terminal, "/model fake/echo", "thinking")


def test_ctrl_c_stops_the_answer_and_the_conversation_goes_on(talk):
    terminal = talk(model="fake/wait")
    enter(terminal, "hello", "waiting")

    terminal.type("\x03")

    assert "Error" not in terminal.until("Stopped")
    enter(terminal, "/model fake/echo", "thinking")
    enter(terminal, "go on", "\ngo on\r\n> ")


def test_a_resumed_conversation_reports_its_length(talk):
    first = talk("hello")
    enter(first, "/session", "1 of yours, 1 of the model, 0 tool calls")
    enter(first, "/quit", "/quit")
    output, _ = first.end()

    assert "messages so far" not in output
    assert "fake/echo, 2 messages so far. /help" in enter(talk("-c"), "/session", "Tokens")


def test_a_new_session_begins_in_a_new_file(talk, fake):
    terminal = talk()
    enter(terminal, "one", "\none\r\n> ")
    enter(terminal, "/new", "Started a new session.")
    enter(terminal, "two", "\ntwo\r\n> ")
    enter(terminal, "/quit", "/quit")
    terminal.end()

    assert len([*(fake.agent_dir / "sessions").rglob("*.jsonl")]) == 2


def test_the_conversation_continues_from_before_a_message(talk, fake):
    terminal = talk()
    enter(terminal, "one", "\none\r\n> ")
    enter(terminal, "two", "\ntwo\r\n> ")
    enter(terminal, "/tree", "Number or name: ")
    enter(terminal, "two", "> ")

    assert "2 • pi: one" in terminal.until("two")


def test_what_is_typed_is_kept_for_the_user_alone(talk, fake):
    terminal = talk()
    enter(terminal, "hello", "\nhello\r\n> ")
    enter(terminal, "/quit", "/quit")
    terminal.end()

    history = fake.agent_dir / "prompt-history.jsonl"
    assert [json.loads(line) for line in history.read_text().splitlines()] == ["hello", "/quit"]
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_plugins_dialog_is_a_question(talk, fake):
    fake.install("asks", ASKS)
    terminal = talk()
    enter(terminal, "/ask", "Sure? [y/N]")

    assert "so be it" in enter(terminal, "y", "so be it")


ASKS = """
from pi_hookspecs import Command, hookimpl


async def ask(args, ctx):
    ctx.ui.notify("so be it" if await ctx.ui.confirm("Sure?") else "then not")


@hookimpl
def register_commands():
    return [Command(name="ask", handler=ask)]
"""


@pytest.fixture
def project(fake):
    """A folder with a skill of its own."""
    skill = fake.cwd / ".pi" / "skills" / "knit" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: knit\ndescription: Knits\n---\nKnit.\n")
    return fake


@pytest.mark.parametrize(
    ("answer", "trusted", "remembered"),
    [
        ("y", True, {"": True}),
        ("p", True, {"..": True}),
        ("o", True, {}),
        ("d", False, {"": False}),
        ("n", False, {}),
        ("", False, {}),
    ],
    ids=["trust", "trust-parent", "this-time", "do-not", "not-now", "dismissed"],
)
def test_the_user_is_asked_whether_a_project_may_be_trusted(project, at_terminal, answer, trusted, remembered):
    terminal = at_terminal(project, "--model", "fake/echo", script=DUMB)
    asked = terminal.until("Answer [y/p/o/D/N]: ")
    enter(terminal, answer, "\n> ")
    enter(terminal, "/help", "!!COMMAND")
    terminal.type("/quit\n")
    output, _ = terminal.end()

    assert f"Use the files of {project.cwd}?" in asked
    assert ".pi/skills" in asked
    assert ("/skill:knit" in output) is trusted
    assert ("is not trusted" in output) is (answer == "")
    file = project.agent_dir / "trust.json"
    assert (json.loads(file.read_text()) if file.exists() else {}) == {
        str((project.cwd / folder).resolve()): decision for folder, decision in remembered.items()
    }


@pytest.mark.parametrize("arguments", [["trust", "--list"], ["--list-models"], ["-p", "hello"]])
def test_no_question_is_asked_where_no_conversation_begins(project, at_terminal, arguments):
    terminal = at_terminal(project, *arguments, script=DUMB)

    assert "Answer [" not in terminal.end()[0]


def test_an_option_of_the_command_line_asks_no_question(project, at_terminal):
    output = at_terminal(project, "--model", "fake/echo", "-na", script=DUMB).until("> ")

    assert "Answer [" not in output


def test_what_draws_a_line_is_imported_where_there_is_one_alone(fake):
    fake.install("modules", MODULES)

    assert "line drawn: False" in fake.run("--model", "fake/echo", "-p", "hi").stderr


MODULES = """
import sys

from pi_hookspecs import hookimpl


@hookimpl
def session_shutdown(event, ctx):
    ctx.ui.notify(f"line drawn: {'prompt_toolkit' in sys.modules or 'pi_cli.line' in sys.modules}")
"""


FORM = """
from pi_hookspecs import Command, FormField, hookimpl

FIELDS = [FormField("name", title="Name", required=True), FormField("depth", "integer", default=5),
          FormField("tidal", "boolean", required=True)]


async def ask(args, ctx):
    answer = await ctx.ui.form(FIELDS, title="New harbour")
    ctx.ui.notify(f"{answer}")
    ctx.ui.open_url("https://harbours.example/brest")


@hookimpl
def register_commands():
    return [Command(name="harbour", handler=ask)]
"""


def test_a_form_is_one_question_after_the_other(talk, fake):
    fake.install("harbours", FORM)
    terminal = talk()
    enter(terminal, "/harbour", "New harbour: Name: ")
    enter(terminal, "Brest", "New harbour: depth (default: 5): ")
    enter(terminal, "deep", "depth must be a whole number, not 'deep'")
    enter(terminal, "", "Number or name: ")
    shown = enter(terminal, "yes", "Open this page in a browser: https://harbours.example/brest")

    assert "{'name': 'Brest', 'depth': 5, 'tidal': True}" in shown


@pytest.mark.parametrize("arguments", [("-p",), ("--mode", "json")])
def test_without_a_user_a_form_is_dismissed_and_a_page_is_an_address(fake, arguments):
    fake.install("harbours", FORM)

    ended = fake.run("--model", "fake/echo", *arguments, "/harbour")

    assert ended.returncode == 0
    assert "None\n" in ended.stderr
    assert "Open this page in a browser: https://harbours.example/brest\n" in ended.stderr
