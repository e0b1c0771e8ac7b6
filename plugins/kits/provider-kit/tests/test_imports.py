"""What the kit costs before it is used, and what it offers."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pi_provider_kit
from pi_provider_kit import user_agent


def in_a_fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_importing_the_kit_imports_nothing_heavy():
    heavy = "httpx httptools jiter orjson asyncio attr attrs ssl pi_hookspecs.messages".split()

    assert (
        in_a_fresh_interpreter(
            f"import sys, pi_provider_kit; print(*[name for name in {heavy} if name in sys.modules])"
        )
        == []
    )


def test_making_what_a_provider_owns_imports_no_client():
    assert (
        in_a_fresh_interpreter(
            "import sys; from pi_provider_kit import AnswerBuilder, Http, stream_events, transform_messages; Http();"
            "print(*[name for name in ('httpx', 'httptools', 'jiter', 'orjson') if name in sys.modules])"
        )
        == []
    )


def test_a_request_brings_neither_a_second_client_nor_a_command_line():
    code = """
import asyncio, sys
from pi_hookspecs import StreamOptions
from pi_provider_kit import Http, HttpRequest, stream_events

async def run():
    try:
        async for _ in stream_events(Http(), HttpRequest(url="http://localhost:9/", body={}), StreamOptions()):
            pass
    except Exception as error:
        print(type(error).__name__)

asyncio.run(run())
unwanted = "httpcore h11 anyio click rich pygments httpx._main jsonschema cattrs importlib_metadata".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["HttpFailed"]


def test_an_answer_is_read_without_httpx():
    code = """
import asyncio, sys
from pi_hookspecs import StreamOptions
from pi_provider_kit import Http, HttpRequest, stream_events

ANSWER = b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ncontent-length: 9\\r\\n\\r\\ndata: x\\n\\n"

async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(ANSWER)
    await writer.drain()
    writer.close()

async def run():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/messages"
    async for _, data in stream_events(Http(), HttpRequest(url=url, method="GET"), StreamOptions()):
        print(data.decode())
    server.close()

asyncio.run(run())
unwanted = "httpx urllib.request http.client email tempfile certifi".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["x"]


def test_a_request_leaves_before_the_parser_of_its_answer_is_imported():
    code = """
import asyncio, socket, sys
from pi_hookspecs import StreamOptions
from pi_provider_kit import Http, HttpRequest, stream_events

def sending(connection, data, send=socket.socket.send):
    if bytes(data).startswith(b"GET"):
        print("httptools" in sys.modules)
    return send(connection, data)

socket.socket.send = sending

async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ncontent-length: 0\\r\\n\\r\\n")
    writer.close()

async def run():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/messages"
    async for _ in stream_events(Http(), HttpRequest(url=url, method="GET"), StreamOptions()):
        pass

asyncio.run(run())
"""
    assert in_a_fresh_interpreter(code) == ["False"]


def test_httpx_s_command_line_can_still_be_imported_afterwards():
    code = """
import sys
from pi_provider_kit import import_httpx
assert import_httpx() is import_httpx() is sys.modules["httpx"]
print("httpx._main" in sys.modules)
"""
    assert in_a_fresh_interpreter(code) == ["False"]


def test_what_a_type_checker_sees_is_what_there_is():
    seen = set()
    for module in pi_provider_kit._HOMES:
        seen |= set(importlib.import_module(f"pi_provider_kit.{module}").__all__)

    assert seen == set(pi_provider_kit.__all__)
    assert all(hasattr(pi_provider_kit, name) for name in pi_provider_kit.__all__)
    source = Path(pi_provider_kit.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r"from pi_provider_kit\.(\w+) import \*", source)) == set(pi_provider_kit._HOMES)


def test_the_user_agent_has_the_version_of_the_distribution():
    version = importlib.metadata.version("pluggypi-provider-kit")

    assert re.fullmatch(rf"pi/{re.escape(version)} \(\w+; python/[\d.]+; \w+\)", user_agent())


def test_a_short_conversation_imports_nothing_that_keeps_it():
    code = """
import sys
from pi_hookspecs import Context, Model, StreamOptions, UserMessage
from pi_provider_kit import encode_messages, estimate_context_tokens
from pi_provider_kit.json_values import request_json

model = Model(id="m", name="M", api="acme", provider="acme", base_url="", input=("text",))
context = Context(messages=(UserMessage(content="hi"),))
sent = encode_messages(context, model, StreamOptions(), lambda sent, messages, _: sent.extend({} for _ in messages))
assert request_json({"messages": sent, "max": estimate_context_tokens(context)}) == b'{"messages":[{}],"max":1}'
print(*[name for name in ("pi_provider_kit.kept", "pi_hookspecs.unchanged") if name in sys.modules])
"""

    assert in_a_fresh_interpreter(code) == []
