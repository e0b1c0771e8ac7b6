"""Asking a provider without a session, as tests of providers do."""

from __future__ import annotations

import os

import pytest

from pi_hookspecs import Done, MessageBuilder
from pi_testing import ScriptedProvider, asking, text
from pi_testing import conversation as chat


class Sends(ScriptedProvider):
    """Shows its request body, as providers of an API do."""

    async def stream(self, model, context, options):
        tools = tuple(tool.name for tool in context.tools)
        await options.on_payload({"system": context.system_prompt, "tools": tools}, model)
        yield MessageBuilder(model).done()


class Silent(ScriptedProvider):
    async def stream(self, model, context, options):
        yield MessageBuilder(model).done()


class Repeats:
    """Reads a text from each event."""

    finished = False

    def __init__(self, model):
        self.builder = MessageBuilder(model)

    def feed(self, data):
        yield self.builder.text(self.builder.text_start().content_index, data.decode())

    def end(self):
        yield self.builder.done()


async def test_the_events_of_an_answer_are_returned():
    provider = ScriptedProvider()
    provider.turn(text("Hello"))

    events = await asking.answer_events(provider, provider.model, chat.user("Hi"), system="Be brief.")

    assert chat.final_message(events).text == "Hello"
    assert provider.requests[0].system_prompt == "Be brief."


async def test_the_body_of_a_request_is_returned_as_json_and_not_sent():
    provider = Sends()

    body = await asking.payload_of(provider, provider.model, system="Be brief.", tools=[asking.read_tool()])

    assert body == {"system": "Be brief.", "tools": ["read"]}


async def test_a_provider_that_shows_no_body_is_reported():
    provider = Silent()

    with pytest.raises(AssertionError, match="without a request body"):
        await asking.payload_of(provider, provider.model, chat.user("Hi"))


def test_a_reader_gets_plain_data_as_json_and_bytes_as_they_are():
    model = ScriptedProvider().model
    *deltas, end = asking.feed(Repeats(model), {"a": 1}, b"[DONE]")

    assert [event.delta for event in deltas] == ['{"a": 1}', "[DONE]"]
    assert isinstance(end, Done)


def test_variables_of_the_machine_are_unset(monkeypatch):
    for name in ("ACME_KEY", "PI_OFFLINE", "https_proxy", "NO_PROXY", "OTHER"):
        monkeypatch.setenv(name, "x")

    asking.forget_environment(monkeypatch, "ACME_")

    assert {"ACME_KEY", "PI_OFFLINE", "https_proxy", "NO_PROXY"} & {*os.environ} == set()
    assert os.environ["OTHER"] == "x"
