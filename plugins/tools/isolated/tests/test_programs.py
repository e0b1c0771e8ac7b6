"""Programs as plugins: hooks, tools, commands and calls of real processes, in a session of the scripted model."""

from __future__ import annotations

import json

import pytest

import pi_isolated
from pi_hookspecs import InputResult, PiError, hookimpl
from pi_isolated.plugin import granted
from pi_isolated.ready import parse_ready
from pi_testing import FakeLauncher, steps

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated"])]

BLOCK_RM = """
ready(hooks={"tool_call": {"tools": ["bash"]}})
for message in messages():
    if message["type"] == "hook":
        is_bad = "rm" in message["event"]["input"]["command"]
        answer(message, {"block": True, "reason": "not here"} if is_bad else None)
"""


async def run_bash(session, script, command: str) -> str:
    """Let the model call bash; return what it is told."""
    script.turn(steps.tool_call("bash", command=command)).turn(steps.text("done"))
    await session.prompt("Go")
    return script.requests[-1].tool_results[-1].text


@pytest.mark.program(BLOCK_RM)
async def test_a_guard_in_a_process_decides_about_calls(pi_session, script, fake_tools):
    assert await run_bash(pi_session, script, "rm -rf build") == "not here"
    assert fake_tools["bash"].calls == []

    await run_bash(pi_session, script, "ls")

    assert len(fake_tools["bash"].calls) == 1


LISTENER = """
ready(hooks={"tool_call": FILTERS})
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "hook":
        has_tool, spaces = "tool" in message["event"], len(line) - len(line.lstrip(b" "))
        time.sleep(SECONDS)
        answer(message, {"block": True, "reason": f"{has_tool} {spaces}"})
"""


def _listening(filters: str = "{}", seconds: float = 0.0) -> pytest.MarkDecorator:
    return pytest.mark.program(LISTENER.replace("FILTERS", filters).replace("SECONDS", str(seconds)))


@pytest.mark.parametrize(
    "has_tool",
    [
        pytest.param("True", marks=_listening()),
        pytest.param("False", marks=_listening('{"tool": False}')),
        pytest.param("True", marks=_listening('{"tool": True}', seconds=0.01), id="answers late"),
    ],
)
async def test_a_program_is_woken_with_a_space_and_gets_the_tool_unless_it_is_not_wanted(
    pi_session, script, fake_tools, has_tool
):
    await run_bash(pi_session, script, "ls")

    assert await run_bash(pi_session, script, "ls") == f"{has_tool} 1"


READER = """
send(type="ready", contract="1.1", hooks={"tool_call": {}}, state=PARTS)
leaf, seen = None, []
for message in messages():
    if message["type"] == "hook":
        state = message.get("state", {})
        leaf = state.get("session", {}).get("leafId", leaf)
        seen.append("entries" in state)
        answer(message, {"block": True, "reason": f"{seen} {leaf}"})
"""


@pytest.mark.parametrize(
    ("is_new", "entries"),
    [
        pytest.param(False, "False", marks=pytest.mark.program(READER.replace("PARTS", "[]"))),
        pytest.param(True, "True", marks=pytest.mark.program(READER.replace("PARTS", "['entries']"))),
    ],
)
async def test_a_program_gets_the_latest_leaf_with_the_entries_that_it_reads(
    pi_session, script, fake_tools, is_new, entries
):
    first = await run_bash(pi_session, script, "ls")
    second = await run_bash(pi_session, script, "ls")

    assert (first.split()[0], second.split("]")[0]) == (f"[{entries}]", f"[{entries}, {entries}")
    assert (first.split()[-1] != second.split()[-1]) == is_new


@pytest.mark.parametrize(
    "hooks",
    [
        {"tool_call": {"tool": "bash"}},
        {"tool_result": {"tool": False}},
        {"tool_call": {"tools": "bash"}},
        {"tool_call": {"delta": True}},
        {"tool_call": {"bash": True}},
    ],
)
def test_a_filter_that_pi_does_not_know_is_an_error(hooks):
    with pytest.raises(PiError, match=r"the filter .* of the hook tool_\w+ is not one that pi knows"):
        parse_ready({"hooks": hooks}, pytest.fail)


GUARD = "ready(hooks={'tool_call': {}}); "
ALWAYS = "\nfor message in messages(): "

FAILURES = {
    "dies": GUARD + "next(messages()); os._exit(3)",
    "writes garbage": GUARD + "next(messages()); print('Traceback: oops', flush=True); time.sleep(60)",
    "answers a wrong type": GUARD + ALWAYS + "answer(message, {'block': 'yes'})",
    "answers an unknown field": GUARD + ALWAYS + "answer(message, {'blocked': 1})",
    "answers with a text": GUARD + ALWAYS + "answer(message, 'no')",
    "answers an error": GUARD + ALWAYS + "send(type='answer', id=message['id'], error={'message': 'I am lost'})",
    "answers another question": GUARD + ALWAYS + "send(type='answer', id=99, answer=None)",
    "writes a line without an end": GUARD
    + "next(messages())\nwhile True: sys.stdout.write('x' * 1000000); sys.stdout.flush()",
    "closes its output": GUARD + "next(messages()); os.close(1); time.sleep(60)",
}


@pytest.mark.parametrize(
    "how",
    [pytest.param(source, id=name, marks=pytest.mark.program(source)) for name, source in FAILURES.items()],
)
async def test_a_guard_that_fails_refuses(pi_session, script, fake_tools, how):
    said = await run_bash(pi_session, script, "ls")

    assert said.startswith("Extension failed, blocking execution: plugin 'program' failed in tool_call")
    assert fake_tools["bash"].calls == []


@pytest.mark.program(
    "ready(hooks={'tool_call': {}})\nfor message in messages():\n    if message['type'] == 'hook': time.sleep(60)"
)
@pytest.mark.pi(settings={"hooks": {"specs": {"tool_call": {"timeout": 1}}}})
async def test_a_guard_that_hangs_refuses(pi_session, script, fake_tools):
    said = await run_bash(pi_session, script, "ls")

    assert "blocking execution" in said
    assert fake_tools["bash"].calls == []


@pytest.mark.program("sys.exit('cannot find my module')", grants={"hooks": ["tool_call"]})
async def test_a_guard_that_never_started_refuses_by_what_it_states(pi_session, script, fake_tools):
    said = await run_bash(pi_session, script, "ls")

    assert "blocking execution" in said
    assert fake_tools["bash"].calls == []


MORTAL = """
with open("starts", "a") as file:
    file.write("x")
ready(hooks={"tool_call": {}})
for message in messages():
    if message["type"] == "hook":
        if message["event"]["input"]["command"] == "die":
            os._exit(1)
        answer(message)
"""


@pytest.mark.program(MORTAL)
async def test_a_program_that_died_is_started_again_once(pi_session, script, fake_tools, pi_extensions):
    errors = []
    pi_session.subscribe(errors.append, "extension_error")

    for command in ("die", "ls", "die", "ls"):
        await run_bash(pi_session, script, command)

    assert [call["command"] for call in fake_tools["bash"].calls] == ["ls"]
    assert "has died twice" in errors[-1].error
    assert (pi_extensions[0] / "starts").read_text() == "xx"


TOOL = """
ready(tools=["shout"], commands=["greet"])
for message in messages():
    if message["type"] == "tool":
        send(type="update", id=message["id"], update={"content": [{"type": "text", "text": "half"}]})
        text = message["params"]["text"].upper()
        answer(message, {"content": [{"type": "text", "text": text}], "details": {"n": 1}})
    if message["type"] == "command":
        greeting = {"message": "Hello " + message["args"]}
        send(type="call", id="a", ctx=message["ctx"], method="ui.notify", params=greeting)
        result = next(messages())
        answer(message)
"""


@pytest.mark.program(TOOL)
async def test_a_tool_of_a_program_is_called_and_tells_what_it_has_so_far(pi_session, script, recorder):
    pi_session.subscribe(recorder)
    script.turn(steps.tool_call("shout", text="hi")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[0].text == "HI"
    updates = [each for each in recorder.events if each.type == "tool_execution_update"]
    assert updates[0].partial_result.content[0].text == "half"


@pytest.mark.program(TOOL, grants={"ctx": ["ui"], "tools": ["shout"]})
async def test_a_command_of_a_program_calls_ctx(pi_session, fake_ui):
    await pi_session.prompt("/greet Ada")

    assert "Hello Ada" in str(fake_ui.notices)


CALLER = """
ready(hooks={"input": {}})
for message in messages():
    if message["type"] == "hook":
        send(type="call", id=1, ctx=message["ctx"], **CALL)
        result = next(messages())
        answer(message, {"text": json.dumps(result.get("value", result.get("error")))})
"""


def call(method: str, **params: object) -> str:
    """Return a program that calls a member of ctx at each input, and replaces the input by the result."""
    return f"CALL = { ({'method': method, 'params': params})!r}\n" + CALLER


FEW = {"grants": {"hooks": ["input"], "ctx": ["ui"]}}
MCP = {"name": "m", "config": {"command": "x", "env": {"A": "!touch escaped"}}}


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        pytest.param(method, expected, id=method, marks=pytest.mark.program(call(method, **params), **grants))
        for method, params, expected, grants in [
            ("is_idle", {}, "", {}),
            ("exec", {"command": "echo", "args": ["a b"]}, '"stdout": "a b\\n"', {}),
            ("exec", {"command": "echo"}, "does not name 'exec'", {"grants": {"hooks": ["input"], "ctx": ["ui"]}}),
            ("settings.get", {"key": "hooks", "default": 7}, "7", {}),
            ("settings.get", {"key": "hooks", "default": 7}, "7", FEW),
            ("settings.set", {"key": "theme", "value": "x"}, "does not name 'settings'", FEW),
            ("pi.set_model", {"model": "a/b"}, "does not name 'set_model'", FEW),
            ("pi.register_mcp_server", {"name": "m", "config": {}}, "does not name 'register_mcp_server'", FEW),
            ("pi.register_mcp_server", MCP, "config.env.A is a value that runs a command", {}),
            ("pi.append_entry", {"customType": "x", "data": "x" * 1_100_000}, "at most 1000 kB", {}),
            ("exec", {"comand": "echo"}, "exec takes command, args, cwd", {}),
            ("_session", {}, "unknown", {}),
            ("session.__class__", {}, "unknown", {}),
            ("create_session", {}, "unknown", {}),
        ]
    ],
)
async def test_ctx_does_what_is_granted_and_no_more(pi_session, script, method, expected):
    script.turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert expected.lower() in script.requests[0].messages[-1].content[0].text.lower()


PROVIDER = """
send(type="ready", contract="1.1", registers={"providers": [{"id": "p", "config": CONFIG}], "commands": [
    {"name": f"c{number}"} for number in range(COMMANDS)
]})
for message in messages():
    pass
"""


def provider(config: object, commands: int = 0) -> str:
    return f"CONFIG, COMMANDS = {config!r}, {commands}\n" + PROVIDER


@pytest.mark.parametrize(
    ("config", "grants", "why"),
    [
        ({"apiKey": "!touch escaped; echo k"}, None, "config.apiKey is a value that runs a command"),
        ({"headers": {"X": "!touch escaped"}}, None, "config.headers.X is a value that runs a command"),
        ({"models": [{"id": "m", "headers": {"X": "!x"}}]}, {"ctx": True}, "config.models.0.headers.X is a value"),
        ({"apiKey": "k"}, {"ctx": ["ui"]}, "does not name 'register_provider'"),
    ],
)
def test_a_provider_of_a_program_runs_no_command_and_needs_a_grant(config, grants, why):
    ready = parse_ready({"registers": {"providers": [{"id": "p", "config": config}]}}, print)
    problems = []

    assert granted(ready, grants, problems.append).of("providers") == {}
    assert why in problems[0]


def test_a_provider_with_plain_values_is_registered():
    config = {"apiKey": "$KEY", "headers": {"X": "wow!"}}
    ready = parse_ready({"registers": {"providers": [{"id": "p", "config": config}]}}, print)

    assert granted(ready, None, pytest.fail).of("providers")["p"]["config"] == config


@pytest.mark.program(provider({}, commands=1500))
async def test_a_program_that_registers_too_much_is_held_to_a_thousand_of_a_kind(pi_session, script):
    script.turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert sum(each.name.startswith("c") for each in await pi_session.get_commands()) in range(1000, 1020)


@pytest.mark.program(BLOCK_RM, grants={"hooks": []})
async def test_a_hook_that_is_not_granted_does_not_count(pi_session, script, fake_tools):
    await run_bash(pi_session, script, "rm x")

    assert len(fake_tools["bash"].calls) == 1


SLOW_TOOL = """
ready(tools=["wait"])
for message in messages():
    if message["type"] == "tool":
        send(type="update", id=message["id"], update={"content": []})
    if message["type"] == "cancel":
        with open("cancelled", "w") as file:
            file.write("yes")
        send(type="answer", id=message["id"], error="stopped")
"""


@pytest.mark.program(SLOW_TOOL)
async def test_a_tool_is_told_that_the_run_was_aborted(pi_session, script, pi_extensions):
    script.turn(steps.tool_call("wait"))
    pi_session.subscribe(lambda _event: pi_session.abort(), "tool_execution_update")

    await pi_session.prompt("Go")

    assert (pi_extensions[0] / "cancelled").read_text() == "yes"


OUT_OF_ORDER = """
ready(tools=["first", "second"])
held = None
for message in messages():
    if message["type"] == "tool":
        if held is None:
            held = message
            continue
        for each in (message, held):
            answer(each, {"content": [{"type": "text", "text": each["tool"]}]})
"""


@pytest.mark.program(OUT_OF_ORDER)
async def test_answers_may_come_in_any_order(pi_session, script):
    script.turn(steps.tool_call("first"), steps.tool_call("second")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert [each.text for each in script.requests[1].tool_results] == ["first", "second"]


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(each, marks=pytest.mark.program(f"ready(tools=['odd']){ALWAYS}answer(message, {each})"))
        for each in ("'text'", "None", "{'content': 'text'}", "{'text': 'text'}")
    ],
)
async def test_a_result_that_is_none_is_a_failed_call(pi_session, script, result):
    script.turn(steps.tool_call("odd")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[0].is_error


@pytest.mark.program(MORTAL)
async def test_after_a_reload_it_is_a_new_process(pi_session, script, fake_tools, pi_extensions):
    await run_bash(pi_session, script, "ls")
    await pi_session.reload()
    await run_bash(pi_session, script, "ls")
    await pi_session.dispose()

    assert (pi_extensions[0] / "starts").read_text() == "xx"
    assert len(fake_tools["bash"].calls) == 2


class Loud:
    """Rewrites inputs."""

    @hookimpl
    async def input(self, event):
        return InputResult(text=event.text + "!")


APPEND = """
ready(hooks={"input": {}})
for message in messages():
    if message["type"] == "hook":
        answer(message, {"text": message["event"]["text"] + "?"})
"""


@pytest.mark.pi(plugins={"isolated": pi_isolated, "loud": Loud()})
@pytest.mark.program(APPEND, name="second")
@pytest.mark.program(APPEND.replace("?", "1"), name="first")
async def test_programs_and_modules_are_asked_in_load_order(pi_session, script):
    script.turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[0].user_text == "Go!1?"


CONTEXT = """
ready(hooks={"context": {"delta": True}})
for message in messages():
    if message["type"] == "hook":
        delta = message["event"]["delta"]
        with open("deltas", "a") as file:
            file.write(json.dumps([delta["keep"], len(delta["set"]["messages"])]) + "\\n")
        added = {"role": "user", "content": "Be brief.", "timestamp": 1}
        answer(message, {"delta": {"keep": {"messages": 1}, "set": {"messages": [added]}}})
"""


@pytest.mark.program(CONTEXT)
async def test_the_conversation_is_sent_as_what_is_new(pi_session, script, pi_extensions):
    for prompt in ("One", "Two"):
        script.turn(steps.text("fine"))
        await pi_session.prompt(prompt)

    assert (pi_extensions[0] / "deltas").read_text() == '[{}, 1]\n[{"messages": 1}, 2]\n'
    assert [each.content for each in script.requests[1].messages][1] == "Be brief."


UPDATES = """
ready(hooks={"message_update": {}, "agent_end": {}})
seen = 0
for message in messages():
    if message["type"] == "hook":
        if message["hook"] == "message_update":
            seen += 1
            assert message["event"]["message"]["role"] == "assistant"
        elif message["hook"] == "agent_end":
            with open("seen", "w") as file:
                file.write(str(seen))
        answer(message)
"""


@pytest.mark.program(UPDATES)
async def test_of_a_stream_only_some_updates_are_sent(pi_session, script, pi_extensions):
    script.turn(steps.text("word " * 200, chunks=200))

    await pi_session.prompt("Go")

    assert 1 <= int((pi_extensions[0] / "seen").read_text()) < 100


GROWING = """
ready(hooks={"message_update": {"delta": True}, "agent_end": {}})
content = []
for message in messages():
    if message["type"] == "hook":
        if message["hook"] == "message_update":
            assert "message" not in message["event"]
            delta = message["event"]["delta"]
            if "content" in delta["set"]:
                content = content[:delta["keep"].get("content", 0)] + delta["set"]["content"]
            for name, text in delta.get("append", {}).get("content", {}).items():
                content[delta["keep"]["content"] - 1][name] += text
        else:
            with open("seen", "w") as file:
                file.write(json.dumps(content))
        answer(message)
"""


@pytest.mark.program(GROWING)
async def test_a_program_may_ask_for_what_is_new_of_an_answer(pi_session, script, pi_extensions):
    script.turn(steps.text("High water"), steps.delay(0.6), steps.text("at noon"), steps.delay(0.6))

    await pi_session.prompt("Go")

    seen = [each["text"] for each in json.loads((pi_extensions[0] / "seen").read_text())]
    assert seen[0] == "High water"
    assert "at noon".startswith(seen[1])


AT_ONCE = """
ready(hooks={"tool_call": {}})
for message in messages():
    if message["type"] == "hook":
        event = {"type": "event", "channel": "c", "data": "before"}
        reply = {"type": "answer", "id": message["id"], "answer": {"block": True, "reason": "no"}}
        sys.stdout.write("".join(json.dumps(each) + "\\n" for each in (event, reply, {**event, "data": "after"})))
        sys.stdout.flush()
"""


class Notes:
    """Notes what a program emits, and the refusal that follows it."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def activate(self, pi):
        pi.events.on("c", self.seen.append)
        pi.on("tool_execution_end", lambda event: self.seen.append(event.result.content[0].text))


NOTES = Notes()


@pytest.mark.pi(plugins={"isolated": pi_isolated, "notes": NOTES})
@pytest.mark.program(AT_ONCE)
async def test_what_a_program_sends_before_an_answer_is_taken_before_it(pi_session, script):
    await run_bash(pi_session, script, "ls")

    assert NOTES.seen[0] == "before"
    assert "after" in NOTES.seen
    assert "no" in NOTES.seen[-1]


STREAMS = """
model = {"id": "one", "name": "One", "contextWindow": 1000, "maxTokens": 100}
config = {"baseUrl": "http://127.0.0.1:9", "apiKey": "k", "api": "sea-api", "models": [model]}
provider = {"id": "sea", "streams": True, "config": config}
send(type="ready", contract="1.1", hooks={}, registers={"providers": [provider]})
for message in messages():
    if message["type"] == "stream":
        said = {"role": "assistant", "api": "sea-api", "provider": "sea", "model": "one", "stopReason": "stop",
                "timestamp": 0, "content": [{"type": "text", "text": f"pid {os.getpid()}"}]}
        event = {"event": {"type": "done", "reason": "stop", "message": said}}
        last = [{"type": "update", "id": message["id"], "update": event},
                {"type": "answer", "id": message["id"], "answer": None}]
        sys.stdout.write("".join(json.dumps(each) + "\\n" for each in last))
        sys.stdout.flush()
"""


@pytest.mark.program(STREAMS)
async def test_a_stream_whose_answer_came_with_its_last_event_is_not_waited_for(pi_session, monkeypatch):
    monkeypatch.setattr("pi_isolated.process.CANCEL_GRACE", 0)
    await pi_session.start()
    await pi_session.set_model(pi_session.models.find("sea/one"))

    answers = set()
    for prompt in ("One", "Two"):
        await pi_session.prompt(prompt)
        answers.add(pi_session.last_answer().text)

    assert len(answers) == 1


class Box:
    """Is asked before programs are started."""

    launcher = FakeLauncher()

    @hookimpl
    def register_services(self):
        return [self.launcher]


@pytest.mark.pi(plugins={"isolated": pi_isolated, "box": Box()})
@pytest.mark.program(BLOCK_RM)
async def test_a_program_is_started_as_the_launcher_says(pi_session, script):
    await run_bash(pi_session, script, "rm x")

    assert [each.purpose for each in Box.launcher.requests] == ["plugin"]


@pytest.mark.program("print('this is a secret plan', file=sys.stderr)\n" + BLOCK_RM)
async def test_standard_error_goes_to_a_log_of_the_user_alone(pi_session, script, pi_agent_dir):
    await run_bash(pi_session, script, "rm x")
    await pi_session.dispose()

    log = pi_agent_dir / "isolated.log"
    assert log.read_text().endswith(" program: this is a secret plan\n")
    assert log.stat().st_mode & 0o077 == 0
