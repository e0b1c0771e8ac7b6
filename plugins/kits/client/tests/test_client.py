"""The client against a scripted pi: streams in this process, and a process that ends as it likes."""

from __future__ import annotations

import asyncio
import inspect
import json
import signal
import subprocess
import sys

import attrs
import pytest
import pytest_asyncio

from pi_client import BlockingPiClient, CommandFailed, ConnectionLost, Image, PiClient, ProtocolError, commands
from pi_client.commands import COMMANDS
from pi_client.framing import LineSplitter
from pi_testing.patience import PATIENCE

STATE = {
    "thinkingLevel": "off",
    "isStreaming": False,
    "isCompacting": False,
    "steeringMode": "all",
    "followUpMode": "all",
    "sessionId": "s",
    "autoCompactionEnabled": True,
    "messageCount": 0,
    "pendingMessageCount": 0,
    "somethingNew": 1,
}


class FakePi:
    """The other end: keeps received lines, and sends those of the test."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    async def receive(self):
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self.reader.readline())

    def send(self, **line):
        self.writer.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    async def answer(self, **fields):
        asked = await self.receive()
        self.send(id=asked["id"], type="response", command=asked["type"], **fields)
        return asked


@pytest_asyncio.fixture
async def ends(tmp_path):
    """A client's streams and the pi at the other end."""
    met = asyncio.get_running_loop().create_future()
    server = await asyncio.start_unix_server(lambda *streams: met.set_result(FakePi(*streams)), tmp_path / "pi")
    streams = await asyncio.open_unix_connection(tmp_path / "pi")
    pi = await met
    yield streams, pi
    pi.writer.close()
    server.close()


@pytest_asyncio.fixture
async def client(ends):
    async with PiClient.over(*ends[0]) as client:
        yield client
        ends[1].writer.close()


@pytest.fixture
def pi(ends):
    return ends[1]


async def test_an_answer_becomes_a_value(client, pi):
    asking = asyncio.create_task(client.get_state())
    asked = await pi.answer(success=True, data=STATE)
    state = await asking

    assert asked == {"id": asked["id"], "type": "get_state"}
    assert (state.session_id, state.model, state.auto_compaction_enabled) == ("s", None, True)


async def test_answers_find_their_commands_in_any_order(client, pi):
    asking = [asyncio.create_task(client.bash(word)) for word in ("a", "b")]
    received = [await pi.receive(), await pi.receive()]
    for asked in reversed(received):
        data = {"output": asked["command"], "exitCode": 0, "cancelled": False, "truncated": False}
        pi.send(id=asked["id"], type="response", command="bash", success=True, data=data)

    assert [(await each).output for each in asking] == ["a", "b"]


async def test_what_has_its_default_is_left_out(client, pi):
    asking = asyncio.create_task(client.prompt("Hi", [Image(data="AAAA", mime_type="image/png")]))
    asked = await pi.answer(success=True, data={"disposition": "queued"})

    assert await asking == "queued"
    assert {**asked, "id": ""} == {
        "id": "",
        "type": "prompt",
        "message": "Hi",
        "images": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
    }


async def test_a_failure_raises_with_pi_s_own_words(client, pi):
    asking = asyncio.create_task(client.fork("x"))
    await pi.answer(success=False, error="Invalid entry ID for forking")

    with pytest.raises(CommandFailed, match="Invalid entry ID for forking") as raised:
        await asking
    assert raised.value.command == "fork"


async def test_an_answer_that_is_none_raises(client, pi):
    asking = asyncio.create_task(client.get_state())
    await pi.answer(success=True, data={**STATE, "messageCount": "many"})

    with pytest.raises(ProtocolError, match="'messageCount' must be an integer, not \"many\""):
        await asking


async def test_a_tree_too_deep_for_python_says_what_to_do(client, pi):
    asking = asyncio.create_task(client.get_tree())
    asked = await pi.receive()
    deep = '{"children":[' * 50_000 + "]}" * 50_000
    pi.writer.write(f'{{"id":"{asked["id"]}","type":"response","success":true,"data":{{"tree":[{deep}]}}}}\n'.encode())

    with pytest.raises(ProtocolError, match="get_entries"):
        await asking


async def test_null_is_none_where_it_may_be(client, pi):
    asking = asyncio.create_task(client.cycle_model())
    await pi.answer(success=True, data=None)

    assert await asking is None


async def test_events_come_until_the_prompt_has_settled(client, pi):
    async def collect():
        return [event async for event in client.stream("Hi")]

    asking = asyncio.create_task(collect())
    asked = await pi.receive()
    pi.send(type="queue_update", steering=[], followUp=[])
    pi.send(id=asked["id"], type="response", command="prompt", success=True, data={"disposition": "started"})
    pi.send(
        type="message_update",
        usage={},
        assistantMessageEvent={"type": "text_delta", "contentIndex": 0, "delta": "H\u2028"},
    )
    pi.send(type="agent_settled", aborted=False)
    pi.send(type="agent_start")

    events = await asking
    assert [event.type for event in events] == ["queue_update", "message_update", "agent_settled"]
    assert "".join(event.text for event in events) == "H\u2028"


async def test_what_a_command_of_a_plugin_handled_has_no_events(client, pi):
    async def collect():
        return [event async for event in client.stream("/x")]

    asking = asyncio.create_task(collect())
    await pi.answer(success=True, data={"disposition": "handled"})

    assert await asking == []


@pytest.mark.parametrize(
    ("method", "answer", "reply"),
    [
        ("select", "b", {"value": "b"}),
        ("confirm", True, {"confirmed": True}),
        ("confirm", None, {"cancelled": True}),
        ("input", "", {"value": ""}),
    ],
)
async def test_dialogs_are_answered(ends, method, answer, reply):
    streams, pi = ends
    asked = []

    async def on_ui(request):
        asked.append(request)
        return answer

    async with PiClient.over(*streams, on_ui):
        pi.send(
            type="extension_ui_request", id="u", method=method, title="T", options=["a", {"label": "B", "value": "b"}]
        )
        assert await pi.receive() == {"type": "extension_ui_response", "id": "u", **reply}
        pi.writer.close()
    assert (asked[0].title, asked[0].options) == ("T", ("a", "b"))


async def test_notices_are_not_answered_and_dialogs_without_a_user_are_dismissed(client, pi):
    pi.send(type="extension_ui_request", id="n", method="notify", message="Hello")
    pi.send(type="extension_ui_request", id="d", method="input", title="Name?")

    assert await pi.receive() == {"type": "extension_ui_response", "id": "d", "cancelled": True, "unanswered": True}


async def test_a_client_that_ends_answers_no_dialog(ends):
    streams, pi = ends
    opened = asyncio.Event()

    async def never(_request):
        opened.set()
        await asyncio.Event().wait()

    client = PiClient.over(*streams, never)
    pi.send(type="extension_ui_request", id="d", method="confirm", title="Sure?")
    await opened.wait()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        if "_ask_user" in repr(task.get_coro()):
            task.cancel()  # as asyncio.run does at the end of a program
    await asyncio.sleep(0)
    asking = asyncio.create_task(client.abort())

    assert (await pi.receive())["type"] == "abort"
    await asyncio.wait([asking], timeout=0)
    asking.cancel()
    pi.writer.close()
    await client.close()


async def test_noise_on_the_line_is_passed_over(client, pi):
    pi.writer.write(b"warning: something printed\n[1]\n\n")
    asking = asyncio.create_task(client.abort())
    await pi.answer(success=True)

    assert await asking is None


async def test_the_end_of_pi_ends_what_waits(client, pi):
    asking = asyncio.create_task(client.get_state())
    listening = asyncio.create_task(anext(client.events(), "over"))
    await pi.receive()
    pi.writer.close()

    with pytest.raises(ConnectionLost):
        await asking
    assert await listening == "over"
    with pytest.raises(ConnectionLost):
        await client.get_state()


async def test_a_finished_process_reports_its_exit_code():
    async with PiClient.start(command=(sys.executable, "-c", "raise SystemExit(3)")) as client:
        with pytest.raises(ConnectionLost, match=r"exit code 3"):
            await client.get_state()


async def test_a_pi_that_is_not_on_the_path_says_how_to_name_it(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        await PiClient.start(env={"PATH": str(tmp_path)})

    assert raised.value.__notes__ == ["Add 'pi' to PATH, or pass the command that starts pi as command=."]


def test_every_command_is_a_method_with_its_fields_and_description():
    for name, command in COMMANDS.items():
        method = getattr(PiClient, name)
        fields = [each.name for each in attrs.fields(command)]

        assert ["self", *fields] == [*inspect.signature(method).parameters]
        assert (method.__name__, method.__doc__) == (name, command.__doc__)


ANSWERS = f"""
import signal, sys
FIRST
sys.stdin.readline()
print({json.dumps({"id": "c1", "type": "response", "success": True, "data": STATE})!r}, flush=True)
sys.stdin.read()
LAST
"""


@pytest.mark.parametrize(
    ("first", "last", "code"),
    [
        ("", "raise SystemExit(3)", 3),
        ("", "signal.pause()", -signal.SIGTERM),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "while True: signal.pause()", -signal.SIGKILL),
    ],
    ids=["ends with stdin", "ends with SIGTERM", "does not end"],
)
async def test_a_pi_that_hangs_is_asked_twice_and_then_killed(monkeypatch, first, last, code):
    hangs = last != "raise SystemExit(3)"
    monkeypatch.setattr("pi_client.client._ORDERLY_SECONDS", 0.2 if hangs else 20)
    monkeypatch.setattr("pi_client.client._POLITE_SECONDS", 20 if code == -signal.SIGTERM else 0.2)
    monkeypatch.setattr("pi_client.client._LAST_SECONDS", 20)
    script = ANSWERS.replace("FIRST", first).replace("LAST", last)
    client = await PiClient.start(command=(sys.executable, "-c", script))
    await client.get_state()

    assert await client.close() == code
    assert await client.close() == code


def test_a_program_that_waits_gets_the_same(tmp_path):
    answer = json.dumps({"id": "c1", "type": "response", "command": "get_state", "success": True, "data": STATE})
    script = f"import sys; sys.stdin.readline(); print({answer!r}, flush=True); sys.stdin.read()"

    with BlockingPiClient(command=(sys.executable, "-c", script)) as client:
        state = client.call(commands.GetState())

    assert state.session_id == "s"
    assert client.close() is None


SETTLES = """
import json, sys
for line in sys.stdin:
    command = json.loads(line)
    answer = {"id": command["id"], "type": "response", "success": True, "data": {"disposition": "started"}}
    print(json.dumps(answer), '{"type":"agent_start"}', sep="\\n", flush=True)
"""


@pytest.mark.filterwarnings("error")
def test_a_client_that_was_closed_says_so():
    with BlockingPiClient(command=(sys.executable, "-c", SETTLES)) as client:
        events = client.stream("hello")
        first = next(events)
    with pytest.raises(ConnectionLost, match="This client was closed"):
        next(events)

    assert first.type == "agent_start"
    with pytest.raises(ConnectionLost, match="This client was closed"):
        client.ask("and now?")


def test_a_dialogs_answer_cannot_wait_for_pi_which_waits_for_it():
    asks = """print('{"type":"extension_ui_request","id":"d","method":"input"}', flush=True)\n"""
    met = []

    def on_ui(request):
        try:
            client.call(commands.GetState())
        except RuntimeError as problem:
            met.append(str(problem))

    command = (sys.executable, "-c", f"input()\n{asks}input()")  # it ends when the dialog is answered
    with BlockingPiClient(command=command, on_ui=on_ui) as client, pytest.raises(ConnectionLost):
        client.call(commands.GetState())

    assert met == ["on_ui cannot call pi and wait: pi waits for what on_ui returns"]


def test_lines_are_cut_at_line_feeds_alone():
    text = "a\u2028b\r\nc\x85\n\nlast".encode()

    for size in range(1, len(text)):
        splitter = LineSplitter()
        lines = [line for at in range(0, len(text), size) for line in splitter.feed(text[at : at + size])]
        assert [*lines, *splitter.end()] == ["a\u2028b".encode(), "c\x85".encode(), b"", b"last"]


def test_a_line_that_is_too_long_is_dropped():
    splitter = LineSplitter(4)

    assert splitter.feed(b"12345\n1234\n") == [None, b"1234"]
    assert splitter.feed(b"123") + splitter.feed(b"45") + splitter.end() == [None]


def test_a_line_for_which_there_is_no_memory_is_dropped_and_the_next_one_is_read():
    splitter = LineSplitter()
    splitter._held = [bytes(1 << 28)] * (1 << 20)  # together more than processors can address

    assert splitter.feed(b"\n34\n") == [None, b"34"]


def test_nothing_of_pi_is_imported():
    code = "import pi_client, sys; assert not {'pi_core', 'pi_hookspecs', 'orjson'} & set(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_reading_lines_does_not_load_the_protocol():
    code = "import pi_client.lines, sys; assert 'pi_client.commands' not in sys.modules; pi_client.commands"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
