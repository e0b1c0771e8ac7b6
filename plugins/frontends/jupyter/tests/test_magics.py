"""The magics in a shell of IPython: answers, values, tools, questions, variables, the stop button, mistakes."""

from __future__ import annotations

import ast
import asyncio
import os
import signal
import threading
from types import SimpleNamespace

import pi
import pytest

from pi_core import SessionManager
from pi_hookspecs import AssistantMessage, TextContent, UserMessage, hookimpl
from pi_jupyter.widgets import can_answer, with_await
from pi_testing import text, thinking, tool_call
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.pi(entry_points=["tools", "session-jsonl"])

ATTACKS = """<script>alert(1)</script> ![x](https://evil.example/p.png) [l](javascript:alert(2))

<img src=x onerror=alert(3)>"""


def test_an_answer_streams_as_markdown_and_is_the_value_of_the_cell(shell, script) -> None:
    script.turn(thinking("Easy."), text("Two **files**:\n\n- `a`\n- `b`", chunks=5))

    done = shell.run("%%pi\nWhat is here?")

    assert "Two <strong>files</strong>" in done.html
    assert "<li><code>a</code></li>" in done.html
    assert "Two **files**" in done.plain
    assert "<summary>Thinking</summary>" in done.html
    assert shell.result.value == "Two **files**:\n\n- `a`\n- `b`"
    assert script.requests[0].messages[-1].text == "What is here?"


def test_tables_keep_their_alignment_and_tasks_are_boxes(shell, script) -> None:
    script.turn(text("| day | high |\n|---|--:|\n| Monday | 4.81 |\n\n- [x] sail"))

    done = shell.run("%%pi\nShow it")

    assert '<td class="right">4.81</td>' in done.html
    assert ".pi .right{text-align:right!important}" in done.html
    assert '<input type="checkbox" disabled checked aria-label="done">sail' in done.html


def test_the_conversation_continues_in_the_next_cell_until_a_new_one_begins(shell, script) -> None:
    for answer in ("One.", "Two.", "Three."):
        script.turn(text(answer))

    shell.run("%pi First")
    shell.run("%%pi\nSecond")
    shell.run("%%pi --new\nThird")

    asked = [[each.text for each in request.messages if each.role == "user"] for request in script.requests]
    assert asked == [["First"], ["First", "Second"], ["Third"]]


def test_a_tool_call_is_a_folded_box_with_its_output(shell, script) -> None:
    script.turn(tool_call("bash", command="echo tides")).turn(text("Done."))

    done = shell.run("%%pi\nRun it")

    assert "<summary>bash echo tides</summary>" in done.html
    assert "tides</pre>" in done.html
    assert "bash echo tides\ntides" in done.plain


def test_nothing_that_is_said_becomes_markup(shell, script) -> None:
    script.turn(thinking(ATTACKS), text(ATTACKS), tool_call("bash", command=f"cat <<'E'\n{ATTACKS}\nE")).turn(
        text("Done.")
    )

    done = shell.run(f"%%pi\n{ATTACKS}")

    for sign in ("<script", "<img", 'href="javascript', 'src="http'):
        assert sign not in done.html
    assert "&lt;script&gt;" in done.html


def test_a_structured_answer_is_the_value(shell, script) -> None:
    script.turn(text('{"words": 3, "lines": 1}'))
    shell.run("from dataclasses import dataclass\n@dataclass\nclass Counts:\n    words: int\n    lines: int")

    done = shell.run("%%pi --as Counts\nCount")

    assert (shell.result.value.words, shell.result.value.lines) == (3, 1)
    assert "Counts(words=3, lines=1)" in done.plain
    assert str(shell.result) == '{"words": 3, "lines": 1}'


@pytest.mark.parametrize(
    ("cell", "prompt"),
    [
        ('%pi What\'s here, and is it "new" --or not', 'What\'s here, and is it "new" --or not'),
        ("%%pi --new Look at this:\na\n  b", "Look at this:\na\n  b"),
    ],
)
def test_the_prompt_is_sent_as_it_is_written(shell, script, cell, prompt) -> None:
    script.turn(text("Yes."))

    shell.run(cell)

    assert script.requests[0].messages[-1].text == prompt


def test_a_type_with_spaces_is_quoted(shell, script) -> None:
    script.turn(text('{"a": 1}'))

    shell.run('%%pi --as "dict[str, int]"\nCount')

    assert shell.result.value == {"a": 1}


# Questions


@pytest.mark.parametrize(("typed", "answer"), [(["2"], "green"), (["9", "1"], "red"), ([""], None), ([], None)])
def test_a_choice_is_made_by_its_number(shell, user, typed, answer) -> None:
    notebook = shell.magics.notebook
    ui = notebook._opened().ui
    user.answers += typed

    assert notebook._thread.run(ui.select("Which?", ["red", "green"])) == answer


@pytest.mark.parametrize(
    ("ask", "typed", "answer"),
    [
        (lambda ui: ui.confirm("Sure?", "It is gone then."), ["y"], True),
        (lambda ui: ui.confirm("Sure?"), ["no"], False),
        (lambda ui: ui.confirm("Sure?"), [], False),
        (lambda ui: ui.input("Name?", "Ada"), ["Grace"], "Grace"),
        (lambda ui: ui.editor("Text?", "old"), ["new"], "new"),
        (lambda ui: ui.input("Name?"), [""], None),
    ],
)
def test_questions_are_answered_below_the_cell(shell, user, ask, typed, answer, capsys) -> None:
    notebook = shell.magics.notebook
    ui = notebook._opened().ui
    user.answers += typed

    found = notebook._thread.run(ask(ui))

    assert found == answer
    assert "?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cell", "awaited"),
    [
        ("%%pi\nWhat is {here}?", True),
        ("%pi What's here", True),
        ("a, b = 1, 2\nanswer = %pi Why", True),
        ("%pi Why;", True),
        ("for each in (1, 2):\n    %pi Why", False),
        ("%pi_model", False),
        ("x = 'run_cell_magic'", False),
    ],
)
def test_where_widgets_can_be_used_a_prompt_is_awaited(shell, cell, awaited) -> None:
    lines = shell.shell.transform_cell(cell).splitlines(keepends=True)

    changed = "".join(with_await(lines))

    assert ("await " in changed) == awaited
    assert changed != "".join(lines) if awaited else changed == "".join(lines)
    compile(changed, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_without_autoawait_a_prompt_is_not_awaited(shell) -> None:
    shell.magics._use_widgets(use=True)
    cells = []
    for on in (True, False):
        shell.shell.autoawait = on
        cells.append("await " in shell.shell.transform_cell("%%pi\nWhat is here?"))
    shell.shell.autoawait = True
    shell.magics._use_widgets(use=False)

    assert cells == [True, False]
    assert "await " not in shell.shell.transform_cell("%%pi\nWhat is here?")


@pytest.mark.parametrize("magic", ["%time ", "%%time\n"])
def test_a_prompt_that_another_magic_executes_is_not_awaited(shell, script, magic) -> None:
    script.turn(text("High at six.")).turn(text("Low at noon."))
    shell.magics._use_widgets(use=True)
    try:
        shell.run(f"{magic}%pi Say when")
        alone = shell.shell.transform_cell("%pi Say more")
    finally:
        shell.magics._use_widgets(use=False)

    assert len(script.requests) == 1
    assert "await " in alone


def test_a_kernel_of_another_kind_asks_with_input(monkeypatch) -> None:
    monkeypatch.setattr("pi_jupyter.widgets.find_spec", lambda name: name)

    assert not can_answer(SimpleNamespace(kernel=object()))


def test_widgets_are_refused_where_they_cannot_be_used(shell) -> None:
    assert shell.run("%pi_dialogs").printed == "input\n"
    assert "they need ipywidgets and ipykernel" in shell.run("%pi_dialogs widgets").printed
    assert "not 'mail'" in shell.run("%pi_dialogs mail").printed


# Variables


def test_the_model_sees_a_variable_only_if_the_user_agrees(shell, script, user) -> None:
    shell.run("tides = [1.5, 2.5]\nsecret = 'no'")
    user.answers += ["1", "3"]
    script.turn(tool_call("notebook")).turn(tool_call("notebook", names=["tides"]))
    script.turn(tool_call("notebook", names=["secret"])).turn(text("High."))

    done = shell.run("%%pi\nHow high is the tide?")

    listed, seen, refused = (script.requests[number].tool_results[-1] for number in (1, 2, 3))
    assert listed.text == "secret: str, length 2\ntides: list, length 2"
    assert seen.text == "tides =\n[1.5, 2.5]"
    assert "did not agree to show secret" in refused.text
    assert refused.is_error
    assert "Send the model the values of tides?" in done.printed


def test_an_allowed_variable_needs_no_question(shell, script, user) -> None:
    shell.run("tides = [1.5, 2.5]")
    assert "tides" in shell.run("%pi_variables tides").printed
    script.turn(tool_call("notebook", names=["tides"])).turn(tool_call("notebook", names=["waves"])).turn(text("High."))

    shell.run("%%pi\nHow high is the tide?")

    assert script.requests[1].tool_results[-1].text == "tides =\n[1.5, 2.5]"
    assert "no variable 'waves'. It has: tides" in script.requests[2].tool_results[-1].text
    assert user.asked == []


def test_a_long_value_is_cut(shell, script, user) -> None:
    shell.run("tides = 'x' * 50_000")
    user.answers.append("2")
    script.turn(tool_call("notebook", names=["tides"])).turn(tool_call("notebook", names=["tides"])).turn(text("Long."))

    shell.run("%%pi\nHow long is it?")

    assert script.requests[2].tool_results[-1].text.endswith("x\n[30002 more characters]")
    assert len(user.asked) == 1


# Stopping and mistakes


def stopped_at(event):
    """Press the stop button at an event, from a thread that is returned."""
    thread = threading.Thread(target=lambda: event.wait(PATIENCE) and os.kill(os.getpid(), signal.SIGINT))
    thread.start()
    return thread


def test_the_stop_button_aborts_the_prompt_and_the_conversation_continues(shell, script) -> None:
    script.turn(tool_call("bash", command="sleep 600")).turn(text("Again."))
    running = threading.Event()
    shell.magics.notebook._opened().subscribe(lambda _event: running.set(), "tool_execution_start")
    stop = stopped_at(running)

    done = shell.run("%%pi\nWait")
    stop.join()
    after = shell.run("%%pi\nGo on")

    assert isinstance(done.error, KeyboardInterrupt)
    assert "Stopped. The conversation can continue." in done.printed
    assert "Traceback" not in done.printed
    assert "Again." in after.html


class Preparing:
    """A plugin that takes its time with each prompt."""

    begun = threading.Event()

    @hookimpl
    async def input(self, event, ctx):
        self.begun.set()
        await asyncio.sleep(60 if event.text == "Wait" else 0)


@pytest.mark.pi(plugins=[Preparing()])
def test_the_stop_button_ends_a_prompt_that_is_still_being_prepared(shell, script) -> None:
    script.turn(text("Again."))
    stop = stopped_at(Preparing.begun)

    done = shell.run("%%pi\nWait")
    stop.join()
    after = shell.run("%%pi\nGo on")

    assert isinstance(done.error, KeyboardInterrupt)
    assert len(script.requests) == 1
    assert "Again." in after.html


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("%pi", "The prompt is empty"),
        ("%pi_model nothing-like-it", "Unknown model: nothing-like-it"),
        ("%pi_session 0000", "No session found matching '0000'"),
        ("%pi_variables waves", "no variable 'waves'"),
        ("%pi --colour red", "'--colour' is not an option of %pi"),
        ("%pi --as", "its value is missing"),
    ],
)
def test_a_mistake_is_a_message_without_a_traceback(shell, cell, why) -> None:
    done = shell.run(cell)

    assert why in done.printed
    assert "Traceback" not in done.printed
    assert done.error is not None


def test_a_failed_request_is_shown_and_fails_the_cell(shell, script) -> None:
    from pi_testing import error

    script.turn(error("The harbour is closed."))

    done = shell.run("%%pi\nHello")

    assert "The harbour is closed." in done.plain
    assert done.error is not None


def test_the_answer_of_a_server_is_read_and_not_shown_as_json(shell, script) -> None:
    from pi_testing import error

    script.turn(error('401: {"error": {"message": "The harbour is closed."}}\nWait for the tide.'))

    done = shell.run("%%pi\nHello")

    assert "The harbour is closed. Wait for the tide." in done.plain
    assert str(done.error) == "The harbour is closed. Wait for the tide."
    assert "{" not in done.plain + done.printed


def test_the_model_and_the_session_are_shown(shell, script) -> None:
    assert f"{script.model.provider}/{script.model.id}" in shell.run("%pi_model").printed
    assert "in memory" in shell.run("%pi_session").printed


@pytest.mark.pi(stored=True)
def test_a_session_of_the_terminal_is_continued(shell, script, tmp_path, pi_host) -> None:
    stored = SessionManager.create(tmp_path / "work", tmp_path / "sessions", host=pi_host)
    stored.append_message(UserMessage(content="How high is the tide?"))
    stored.append_message(
        AssistantMessage(content=(TextContent("Two metres."),), api="scripted", provider="scripted", model="m")
    )
    stored.close()
    script.turn(text("At noon."))

    opened = shell.run(f"%pi_session {stored.file}")
    shell.run("%%pi\nWhen?")

    assert str(stored.file) in opened.printed
    assert [each.text for each in script.requests[0].messages] == ["How high is the tide?", "Two metres.", "When?"]


def test_loading_adds_the_magics_and_unloading_removes_them(shell) -> None:
    pi.load_ipython_extension(shell.shell)
    assert "pi" in shell.shell.magics_manager.magics["cell"]

    pi.unload_ipython_extension(shell.shell)

    assert shell.shell.magics_manager.magics["cell"].get("pi") is None
    assert "pi_model" not in shell.shell.magics_manager.magics["line"]
