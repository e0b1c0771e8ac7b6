"""What a conversation at a terminal shows besides answers: tools, thinking, where one is, what was said before."""

from __future__ import annotations

import json
import re

import pytest

from pi_terminal_kit.clipboard import clipboard_sequence

pytestmark = pytest.mark.slow  # each starts programs that take seconds

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


# Lines about what happens


def test_the_help_fits_a_narrow_terminal_without_broken_words(talk):
    terminal = talk(size=(60, 30))

    terminal.type("/help\r")

    output = terminal.sees("Suspend pi")
    assert "\n                 afterwards, as a follow-up\n" in output
    assert re.search(r"\nEscape +Stop the answer, the command or the\n +compaction\n", output)


def test_an_error_is_broken_between_words(talk):
    terminal = talk(size=(60, 30))

    terminal.type("/thinking immensely-hard-but-not-for-long\r")

    assert " of\nthis model." in terminal.sees("Use one of")


# Tools


def test_of_a_tools_output_the_first_lines_are_shown_and_the_rest_by_a_key(talk):
    terminal = talk()
    output = call(terminal, ("bash", {"command": "seq 1 17"}))

    assert re.search(r"→ bash seq 1 17\n  1\n  2\n  3\n  4\n  5\n  … 12 more lines, \d+(?:\.\d+)? s\n", output)
    terminal.type("\x0f")
    assert "\n  16\n  17\n" in terminal.sees("\n  17\n")


RENDERS = """
from pi_hookspecs import Line, Run, ToolRenderer, hookimpl


def rows(result, *, width, expanded, partial):
    return [Line.of(Run("counted", "accent")), *(["  all of it"] if expanded else [])]


@hookimpl
def register_renderers():
    return [ToolRenderer("bash", render_result=rows)]
"""
FRAMES = """
from pi_hookspecs import ToolRenderer, hookimpl


def rows(result, *, width, expanded, partial):
    return ["-" * (width - 1), "+" * (2 if expanded else 1)]


@hookimpl
def register_renderers():
    return [ToolRenderer("bash", render_result=rows, framed=False)]
"""


def test_a_plugin_may_render_a_tools_result(talk, fake):
    (fake.agent_dir / "extensions").mkdir()
    (fake.agent_dir / "extensions" / "renders.py").write_text(RENDERS)
    terminal = talk()
    output = call(terminal, ("bash", {"command": "seq 1 17"}))

    assert "→ bash seq 1 17\n  counted\n" in output
    terminal.type("\x0f")
    assert "counted\n    all of it\n" in terminal.sees("all of it\n")


def test_a_result_with_a_frame_of_its_own_begins_at_the_edge(talk, fake):
    (fake.agent_dir / "extensions").mkdir()
    (fake.agent_dir / "extensions" / "frames.py").write_text(FRAMES)
    terminal = talk()
    output = call(terminal, ("bash", {"command": "seq 1 17"}))

    assert f"→ bash seq 1 17\n{'-' * 79}\n+\n" in output
    terminal.type("\x0f")
    assert f"{'-' * 79}\n++\n" in terminal.sees("\n++\n")


def test_an_edit_is_a_path_and_a_diff(talk, fake):
    (fake.cwd / "tide.py").write_text("def tide(hour):\n    return 0\n")
    edit = {"path": "tide.py", "edits": [{"oldText": "return 0", "newText": "return hour % 12"}]}
    output = call(talk(), ("edit", edit))

    assert "→ edit tide.py\n   1 def tide(hour):\n  -2     return 0\n  +2     return hour % 12\n" in output


def test_a_file_that_is_written_over_is_shown_as_a_diff(talk, fake):
    (fake.cwd / "tide.py").write_text("def tide(hour):\n    return 0\n")
    output = call(talk(), ("write", {"path": "tide.py", "content": "def tide(hour):\n    return 1\n"}))

    assert "→ write tide.py\n  @@ -1,2 +1,2 @@\n   def tide(hour):\n  -    return 0\n  +    return 1\n" in output


def test_a_failure_is_displayed_in_full(talk):
    output = call(talk(), ("bash", {"command": "seq 1 20; exit 3"}))

    assert re.search(r"✗ bash seq 1 20; exit 3 \(\d+(?:\.\d+)? s\)\n  1\n", output)
    assert "\n  20\n" in output
    assert "\n  Command exited with code 3\n" in output


def test_while_a_tool_runs_the_last_line_of_its_output_is_shown(talk, fake):
    terminal = talk()
    terminal.type(json.dumps([("bash", {"command": "echo step one; while [ ! -e go ]; do sleep 0.05; done"})]) + "\r")
    terminal.sees("\n  step one\nworking")
    (fake.cwd / "go").touch()

    assert "\n  step one\n  " in terminal.sees("Seen: ")


def test_results_of_calls_that_run_together_are_named(talk, fake):
    terminal = talk()
    first = "while [ ! -e go ]; do sleep 0.05; done; echo one"
    terminal.type(json.dumps([("bash", {"command": first}), ("bash", {"command": "echo two"})]) + "\r")
    terminal.sees(f"→ bash {first}\n→ bash echo two\n  two\n")
    (fake.cwd / "go").touch()

    assert f"← bash {first}\n  one\n" in terminal.sees("Seen: ")


def test_escape_sequences_of_tools_and_files_do_not_reach_the_terminal(talk, fake):
    (fake.cwd / "a").write_text("\x1b]0;title\x07\u202etxt\n")
    output = call(talk(), ("read", {"path": "a"}))

    assert "\n  \\x1b]0;title\\x07\\u202etxt\n" in output


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
    output = terminal.when(lambda output: output.count("I see.\n") == 2)

    assert output.count("Hm,") == 1
    assert "\nThinking...\n" in output


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

    terminal.when(lambda output: "thinking high" not in output.split("\n")[-2])


# Where one is


def test_the_status_names_model_level_folder_branch_window_and_cost(thinking, pi):
    (pi.cwd / ".git").mkdir()
    (pi.cwd / ".git" / "HEAD").write_text("ref: refs/heads/high-tide\n")

    output = thinking().contents

    assert output.split("\n")[-2] == "thinks/hard · thinking high · 0% of 8.2k · $0.000 · ~/work (high-tide)"


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

    output = talk("-c").contents

    assert "pi, fake/tools, 6 messages so far." in output
    assert (
        '… 2 messages before\n\n> [["bash", {"command": "true"}]]\n\nI will look. Now.\n\n→ bash true\n\nSeen: ['
        in output
    )


def test_a_conversation_that_begins_has_no_tail(talk):
    assert "before" not in talk().contents


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

    terminal.sees("The editor 'false' ended with exit code 1. Your text is unchanged.")
    terminal.ends_with("> text")


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


# Commands


def test_the_options_of_a_question_are_above_it_and_nothing_is_drawn_over(talk):
    terminal = talk()
    terminal.type("half")
    terminal.sees("> half")
    terminal.type("\x15/model\r")
    output = terminal.sees("Number or name:")

    assert re.search(r"> /model\n\nWhich model\?\n +1 fake/echo\n", output)
    terminal.type("fake/echo\r")
    terminal.sees("Number or name: fake/echo\nfake/echo, thinking")

    terminal.when(lambda output: output.split("\n")[-2].startswith("fake/echo · "), "the status of the new model")


def test_a_question_is_dismissed_by_a_key_and_the_line_is_as_it_was(talk):
    terminal = talk()
    terminal.type("/model\r")
    terminal.sees("Number or name:")
    terminal.type("\x1b")

    terminal.sees("fake/tools, thinking", "\n>")


def test_the_name_of_a_model_is_completed(talk):
    terminal = talk()
    terminal.type("/model ech\t")
    terminal.sees("> /model fake/echo")
    terminal.type("\r")

    terminal.sees("fake/echo, thinking")


def test_a_file_of_the_folder_is_completed_and_enter_takes_it(talk, fake):
    (fake.cwd / "src").mkdir()
    (fake.cwd / "src" / "tide.py").touch()
    terminal = talk(model="fake/echo")
    terminal.type("look at @ti\t")
    terminal.sees("> look at @src/tide.py")
    terminal.type("\r")
    terminal.type(" please\r")

    terminal.sees("> look at @src/tide.py please\n")


def test_a_fork_ends_before_a_message_and_has_it_on_the_line(talk):
    terminal = talk(model="fake/echo")
    for text in ("one", "two"):
        terminal.type(f"{text}\r")
        terminal.sees(f"> {text}\n\n{text}\n")
    terminal.type("/fork\r")
    terminal.sees("   1 one\n   2 two\n")
    terminal.type("2\r")

    terminal.sees("2 messages, fake/echo.")
    terminal.ends_with("> two")


def test_a_clone_is_another_file(talk, fake):
    terminal = talk(model="fake/echo")
    terminal.type("one\r")
    terminal.sees("\none\n")
    terminal.type("/clone\r")
    terminal.sees("Continuing in a copy: ")

    assert len([*(fake.agent_dir / "sessions").rglob("*.jsonl")]) == 2


def test_the_tree_is_drawn_and_leads_to_another_place(talk):
    terminal = talk(model="fake/echo")
    for text in ("one", "two"):
        terminal.type(f"{text}\r")
        terminal.sees(f"> {text}\n\n{text}\n")
    terminal.type("/tree\r")
    terminal.sees("1 • you: one\n2 • pi: one\n3 • you: two\n4 • pi: two ← here\n", "Number or name:")
    terminal.type("3\r")
    terminal.sees("Summarize the abandoned branch for the model? [y/N]:")
    terminal.type("\r")
    terminal.ends_with("> two")
    terminal.type("\x15three\r")
    terminal.sees("\nthree\n")
    terminal.type("/tree\r")

    terminal.sees("3 ├─   you: two\n4 │    pi: two\n5 └─ • you: three\n6    • pi: three ← here\n")


def test_a_key_is_stored_and_forgotten_without_being_shown(talk, fake):
    terminal = talk()
    terminal.type("/login openai\r")
    terminal.sees("API key for openai (not shown):")
    terminal.type("sk-very-secret\r")
    terminal.sees("The key for openai is stored.")
    stored = (fake.agent_dir / "auth.json").read_text()
    terminal.type("/logout openai\r")
    terminal.sees("The credential of openai was removed.")

    assert "sk-very-secret" in stored
    assert b"secret" not in terminal.seen
    assert "sk-very-secret" not in (fake.agent_dir / "prompt-history.jsonl").read_text()


def test_an_unknown_command_is_kept_and_sent_when_it_is_meant(talk):
    terminal = talk(model="fake/echo")
    terminal.type("/usr/bin is a folder\r")
    terminal.sees("Unknown command: /usr/bin.", "Enter sends it")
    terminal.ends_with("> /usr/bin is a folder")
    terminal.type("\r")

    terminal.sees("> /usr/bin is a folder\n\n/usr/bin is a folder\n")


def test_what_a_command_of_the_user_prints_is_shown_as_it_comes(talk):
    terminal = talk()
    terminal.type("!echo one; sleep 100\r")
    terminal.sees("> !echo one; sleep 100\n\none\n")
    terminal.type("\x03")

    terminal.sees("Command cancelled")
