"""What a conversation at a terminal shows besides answers: tools, thinking, where one is, what was said before."""

from __future__ import annotations

import json
import re

import pytest

from pi_cli.line.clipboard import clipboard_sequence

THINKS = """
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl


class Thinks:
    api = "thinks"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.thinking_start()
        yield start
        yield builder.thinking(start.content_index, "Hm, let me see.")
        yield builder.thinking_end(start.content_index)
        start = builder.text_start()
        yield start
        yield builder.text(start.content_index, "I see.")
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Thinks()]


@hookimpl
def register_models():
    return [ProviderInfo(id="thinks", name="Thinks", api="thinks", keyless=True, models=(
        Model(id="hard", name="hard", api="thinks", provider="thinks", reasoning=True, context_window=8_200),))]
"""


@pytest.fixture
def talk(fake, on_screen):
    """Start a conversation with a model of provider ``fake``; it is there when this returns."""

    def start(*arguments, model="fake/tools", **how):
        terminal = on_screen(fake, "--model", model, *arguments, **how)
        terminal.sees(model, "\n>")
        return terminal

    return start


def call(terminal, *calls):
    """Let the model make calls, and return what is shown when they are done."""
    terminal.type(json.dumps(calls) + "\r")
    return terminal.sees("Seen: ")


# Tools


def test_of_a_tools_output_the_first_lines_are_shown_and_the_rest_by_a_key(talk):
    terminal = talk()
    shown = call(terminal, ("bash", {"command": "seq 1 17"}))

    assert re.search(r"→ bash seq 1 17\n  1\n  2\n  3\n  4\n  5\n  … 12 more lines, \d+ ms\n", shown)
    terminal.type("\x0f")
    assert "\n  16\n  17\n" in terminal.sees("\n  17\n")


def test_an_edit_is_a_path_and_a_diff(talk, fake):
    (fake.cwd / "tide.py").write_text("def tide(hour):\n    return 0\n")
    edit = {"path": "tide.py", "edits": [{"oldText": "return 0", "newText": "return hour % 12"}]}
    shown = call(talk(), ("edit", edit))

    assert "→ edit tide.py\n   1 def tide(hour):\n  -2     return 0\n  +2     return hour % 12\n" in shown


def test_a_file_that_is_written_over_is_shown_as_a_diff(talk, fake):
    (fake.cwd / "tide.py").write_text("def tide(hour):\n    return 0\n")
    shown = call(talk(), ("write", {"path": "tide.py", "content": "def tide(hour):\n    return 1\n"}))

    assert "→ write tide.py\n  @@ -1,2 +1,2 @@\n   def tide(hour):\n  -    return 0\n  +    return 1\n" in shown


def test_a_failure_is_shown_whole(talk):
    shown = call(talk(), ("bash", {"command": "seq 1 20; exit 3"}))

    assert re.search(r"✗ bash seq 1 20; exit 3 \(\d+ ms\)\n  1\n", shown)
    assert "\n  20\n" in shown
    assert "\n  Command exited with code 3\n" in shown


def test_results_of_calls_that_run_together_are_named(talk):
    shown = call(talk(), ("bash", {"command": "sleep 0.3; echo one"}), ("bash", {"command": "echo two"}))

    assert "→ bash sleep 0.3; echo one\n→ bash echo two\n  two\n" in shown
    assert "← bash sleep 0.3; echo one\n  one\n" in shown


def test_escape_sequences_of_tools_and_files_do_not_reach_the_terminal(talk, fake):
    (fake.cwd / "a").write_text("\x1b]0;title\x07\u202etxt\n")
    shown = call(talk(), ("read", {"path": "a"}))

    assert "\n  \\x1b]0;title\\x07\\u202etxt\n" in shown


# Thinking


@pytest.fixture
def thinking(pi, knows, on_screen):
    def start(**settings):
        knows("thinks", THINKS)
        (pi.agent_dir / "settings.json").write_text(json.dumps(settings))
        terminal = on_screen(pi, "--model", "thinks/hard:high")
        terminal.sees("thinking high", "\n>")
        return terminal

    return start


def test_thinking_is_shown_and_hidden_by_a_key(thinking):
    terminal = thinking()
    terminal.type("one\r")
    terminal.sees("Hm, let me see.\n\nI see.\n")
    terminal.type("\x14")
    terminal.sees("Thinking is hidden")
    terminal.type("two\r")
    shown = terminal.when(lambda shown: shown.count("I see.\n") == 2)

    assert shown.count("Hm,") == 1
    assert "\nThinking...\n" in shown


def test_the_setting_hides_thinking_and_the_command_shows_it(thinking):
    terminal = thinking(hideThinkingBlock=True)
    terminal.type("one\r")
    assert "Hm," not in terminal.sees("I see.\n")
    terminal.type("/thinking show\r")
    terminal.sees("Thinking is shown")
    terminal.type("two\r")

    terminal.sees("Hm, let me see.\n\nI see.\n")


def test_a_key_changes_how_hard_the_model_thinks(thinking):
    terminal = thinking()
    terminal.type("\x1b[Z")

    terminal.when(lambda shown: "thinking high" not in shown.split("\n")[-2])


# Where one is


def test_the_status_names_model_level_folder_branch_window_and_cost(thinking, pi):
    (pi.cwd / ".git").mkdir()
    (pi.cwd / ".git" / "HEAD").write_text("ref: refs/heads/high-tide\n")

    shown = thinking().shown

    assert shown.split("\n")[-2] == "thinks/hard · thinking high · 0% of 8.2k · $0.000 · ~/work (high-tide)"


def test_without_colours_nothing_is_styled(talk):
    terminal = talk(NO_COLOR="1")
    call(terminal, ("bash", {"command": "echo hi"}))

    assert not re.search(rb"\x1b\[(0;)?[1-9][0-9;]*m", terminal.seen)


def test_activity_is_dim_and_diffs_are_coloured(talk):
    terminal = talk()
    call(terminal, ("write", {"path": "new", "content": "text\n"}))

    assert b"\x1b[2m\xe2\x86\x92 write new\x1b[0m" in terminal.seen
    assert b"\x1b[32m  +text\x1b[0m" in terminal.seen


# What was said before


def test_who_goes_on_sees_the_last_exchange_and_how_much_came_before_it(fake, talk):
    for prompt in ("[]", json.dumps([("bash", {"command": "true"})])):
        assert fake.run("--model", "fake/tools", "-c", "-p", prompt).returncode == 0

    shown = talk("-c").shown

    assert "pi, fake/tools, 6 messages so far." in shown
    assert (
        '… 2 messages before\n\n> [["bash", {"command": "true"}]]\n\nI will look. Now.\n\n→ bash true\n\nSeen: ['
        in shown
    )


def test_a_conversation_that_begins_has_no_tail(talk):
    assert "before" not in talk().shown


# The editor


def test_the_text_can_be_edited_in_another_program(talk, fake):
    editor = fake.cwd / "editor"
    editor.write_text('#!/bin/sh\nls -l "$1" > mode; printf " and more\\nlines\\n" >> "$1"\n')
    editor.chmod(0o755)
    terminal = talk(model="fake/echo", VISUAL=str(editor))
    terminal.type("text")
    terminal.type("\x07")
    terminal.sees("> text and more\n  lines")
    terminal.type("\r")

    terminal.sees("\ntext and more\nlines\n")


def test_an_editor_that_fails_is_reported_and_the_text_stays(talk):
    terminal = talk(model="fake/echo", VISUAL="false")
    terminal.type("text")
    terminal.type("\x07")

    assert terminal.sees("could not be edited: false ended with exit code 1").endswith("> text")


# The clipboard


def test_the_last_answer_goes_to_the_terminals_clipboard(talk):
    terminal = talk(model="fake/echo")
    terminal.type("hello\r")
    terminal.sees("\nhello\n")
    terminal.type("/copy\r")
    terminal.sees("Sent 5 characters")

    assert clipboard_sequence("hello").encode() in terminal.seen


def test_an_answer_that_terminals_would_drop_is_no_sequence():
    assert clipboard_sequence("x" * 74_992) is None
    assert len(clipboard_sequence("x" * 74_991)) < 100_000
