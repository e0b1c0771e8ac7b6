"""``pi hooks fire``: what each plugin makes of an event, and what comes of it all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core.wire import to_wire
from pi_hookspecs import UserError
from pi_hookspecs.samples import sample_event, sampled_hooks

pytestmark = pytest.mark.slow  # each starts programs that take seconds

GUARD = """
from pi_hookspecs import ToolCallResult, hookimpl

@hookimpl(trylast=True)
def tool_call(event):
    if "rm -rf" in event.input["command"]:
        return ToolCallResult(block=True, reason="Not here.")
"""

CHANGER = """
from pi_hookspecs import hookimpl

@hookimpl
def activate(pi):
    @pi.on("tool_call")
    async def change(event, ctx):
        event.input["timeout"] = 5
"""

BROKEN = """
from pi_hookspecs import hookimpl

@hookimpl
def turn_end(event):
    raise RuntimeError("boom")

@hookimpl
def tool_result(event):
    return "nonsense"
"""

SAMPLES = Path(__file__).parents[4] / "docs" / "events"


@pytest.fixture
def pi(pi):
    """pi without an extra that may be there, and is asked about tool calls, too."""
    (pi.agent_dir / "settings.json").write_text('{"plugins": {"disabled": ["diagnostics"]}}')
    return pi


def fired(pi, *arguments):
    done = pi.run("hooks", "fire", *arguments, "--json")
    result = json.loads(done.stdout)
    return result, {call.pop("plugin"): call for call in result["calls"]}, done


def test_each_answer_and_the_combined_one_are_printed(pi):
    pi.install("guard", GUARD)
    pi.install("changer", CHANGER)

    result, calls, done = fired(pi, "tool_call", "--event", str(SAMPLES / "tool_call.json"))

    assert (done.returncode, done.stderr) == (0, "")
    assert [*calls] == ["changer", "guard"]
    assert calls["changer"]["outcome"] == "no answer"
    assert calls["changer"]["changed"] == {"input": {"command": "rm -rf build", "timeout": 5}}
    assert calls["guard"]["answer"] == {"block": True, "reason": "Not here.", "terminate": False}
    assert result["answer"] == calls["guard"]["answer"]
    assert all(call["ms"] >= 0 for call in calls.values())


def test_lines_match_the_reference(pi):
    pi.install("guard", GUARD)
    pi.install("changer", CHANGER)

    lines = pi.run("hooks", "fire", "tool_call").stdout.splitlines()

    assert lines[0] == "tool_call, called with the sample of docs/events"
    assert lines[2].split()[0] == "changer"
    assert lines[2].endswith(" ms  no answer")
    assert lines[3].strip() == 'changed event.input in place: {"command": "rm -rf build", "timeout": 5}'
    assert lines[4].endswith(' ms  ToolCallResult(block=true, reason="Not here.")')
    assert lines[-1] == '  answer: ToolCallResult(block=true, reason="Not here.")'


def test_a_file_of_ones_own_is_asked_with(pi):
    pi.install("guard", GUARD)
    (pi.cwd / "mine.json").write_text('{"toolCallId": "1", "toolName": "bash", "input": {"command": "ls"}}')

    result, calls, _ = fired(pi, "tool_call", "--event", "mine.json")

    assert calls["guard"]["outcome"] == "no answer"
    assert result["answer"] is None


def test_one_plugin_alone_is_asked(pi):
    pi.install("guard", GUARD)
    pi.install("changer", CHANGER)

    _, calls, _ = fired(pi, "tool_call", "--plugin", "changer")

    assert [*calls] == ["changer"]


def test_an_extension_of_one_file_is_asked_too(pi):
    pi.install("guard", GUARD)
    (pi.cwd / "mine.py").write_text(CHANGER)

    _, calls, _ = fired(pi, "tool_call", "-e", "mine.py")

    assert [*calls] == ["mine", "guard"]


def test_who_comes_after_a_refusal_is_not_asked(pi):
    pi.install("first", GUARD.replace("trylast", "tryfirst"))
    pi.install("second", GUARD)

    _, calls, _ = fired(pi, "tool_call")

    assert {name: call["outcome"] for name, call in calls.items()} == {"first": "answered", "second": "not asked"}


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("turn_end", "RuntimeError: boom"),
        ("tool_result", "returned 'nonsense', which is neither None nor of type ToolResultResult"),
    ],
)
def test_a_failure_is_reported_and_is_the_exit_code(pi, hook, message):
    pi.install("broken", BROKEN)

    _, calls, done = fired(pi, hook)

    assert done.returncode == 1
    assert calls["broken"]["outcome"] == "failed"
    assert message in calls["broken"]["failure"]


def test_a_guard_that_fails_refuses(pi):
    pi.install("guard", GUARD.replace("if ", "if 1 / 0 and "))

    result, _, done = fired(pi, "tool_call")

    assert done.returncode == 1
    assert "Extension failed, blocking execution: plugin 'guard' failed in tool_call" in result["refusal"]


FORGETFUL = """
from pi_hookspecs import ToolCallResult, hookimpl

@hookimpl
async def tool_call(event, ctx):
    if not ctx.ui.confirm("Run it?"):
        return ToolCallResult(block=True, reason="You said no")
"""


def test_a_guard_that_forgets_to_await_its_question_refuses_and_says_how_to_ask(pi):
    pi.install("forgetful", FORGETFUL)

    result, calls, done = fired(pi, "tool_call")

    assert done.returncode == 1
    assert "write await ctx.ui.confirm(...), in an async def (in " in calls["forgetful"]["failure"]
    assert "plugin 'forgetful' failed in tool_call" in result["refusal"]
    assert "never awaited" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fire"], "pi hooks fire takes the name of one hook, not 0"),
        (["fire", "tool_cal"], "Unknown hook: tool_cal. Did you mean tool_call"),
        (["fire", "register_tools"], "register_tools is not an event"),
        (["fire", "tool_call", "--plugin", "nobody"], "Unknown plugin: nobody"),
        (["fire", "tool_call", "--plugin", "cli"], "Plugin 'cli' does not implement tool_call"),
        (["fire", "tool_call", "--plugin", "memory", "--disable", "memory"], "Plugin 'memory' is disabled"),
        (["fire", "tool_call", "--event", "missing.json"], "The event file 'missing.json' cannot be read"),
        (["fire", "tool_call", "--event", "broken.json"], "broken.json is not JSON"),
        (["fire", "tool_call", "--event", "list.json"], "list.json contains list, not an event"),
        (
            ["fire", "tool_call", "--event", "other.json"],
            "other.json contains an event of type 'turn_end', not 'tool_call'",
        ),
        (["fire", "tool_call", "--event", "less.json"], "less.json contains no tool_call event"),
        (["fire", "tool_call", "--event", "more.json"], "it has a field 'tool_name'; its fields are type, toolCallId"),
        (["fire", "message_update", "--event", "update.json"], "assistantMessageEvent must be an object whose type"),
        (["tool_call", "--event", "x.json"], "--event is an option of pi hooks fire"),
    ],
    ids=lambda value: " ".join(value[1:]) or "nothing" if isinstance(value, list) else "",
)
def test_what_is_wrong_is_reported_in_one_line(pi, arguments, message):
    files = {
        "broken": "{",
        "list": "[]",
        "other": '{"type": "turn_end"}',
        "less": '{"toolName": "bash"}',
        "more": '{"tool_name": "bash"}',
        "update": '{"assistantMessageEvent": {"type": "words"}}',
    }
    for name, content in files.items():
        (pi.cwd / f"{name}.json").write_text(content)

    done = pi.run("hooks", *arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


@pytest.mark.parametrize("hook", sampled_hooks())
def test_every_sample_is_read_back_as_it_was(tmp_path, hook):
    from pi_cli.event_file import read_event

    written = to_wire(sample_event(hook))
    (tmp_path / "event.json").write_text(json.dumps(written))

    assert to_wire(read_event(hook, str(tmp_path / "event.json"))) == written


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data(), hook=st.sampled_from(sampled_hooks()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_file_holds_is_an_event_or_one_error(tmp_path, data, hook):
    from pi_cli.event_file import read_event

    sample = to_wire(sample_event(hook))
    name = data.draw(st.sampled_from([*sample]))
    inner = sample[name] if isinstance(sample[name], dict) and sample[name] and data.draw(st.booleans()) else sample
    inner[data.draw(st.sampled_from([*inner]))] = data.draw(JSON)
    (tmp_path / "event.json").write_text(json.dumps(sample))

    try:
        outcome = type(read_event(hook, str(tmp_path / "event.json")))
    except UserError as error:
        outcome = str(error)

    assert outcome is type(sample_event(hook)) or "event.json" in outcome


def test_the_message_of_an_update_may_follow_it(tmp_path):
    from pi_cli.event_file import read_event

    message = {
        "role": "assistant",
        "api": "a",
        "provider": "p",
        "model": "m",
        "content": [{"type": "text", "text": "Hi"}],
    }
    delta = {"type": "text_delta", "contentIndex": 0, "delta": "i"}
    (tmp_path / "event.json").write_text(json.dumps({"message": message, "assistantMessageEvent": delta}))

    event = read_event("message_update", str(tmp_path / "event.json"))

    assert event.message.text == "Hi"
