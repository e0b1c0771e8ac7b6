"""The provider and the login in the README work as they stand."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import orjson

from pi_hookspecs import Context, Login, Provider, StreamOptions
from pi_provider_kit import AnswerBuilder
from pi_testing.fake_servers.oauth import FakeAuthorization, browse
from pi_testing.fake_ui import FakeUI

README = Path(__file__).parents[1] / "README.md"


def to_payload(model, context, options):
    return {"model": model.id}


class AcmeReader:
    def __init__(self, model):
        self.builder = AnswerBuilder(model)
        self.finished = False

    def feed(self, event):
        name, data = event
        if name == "end":
            self.finished = True
            return [self.builder.text_end(0)]
        return [self.builder.text_start(), self.builder.text(0, orjson.loads(data)["text"])]

    def end(self):
        return [self.builder.done()]


def example(number, **names):
    code = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[number]
    exec(code, names)  # noqa: S102 - it is our own page
    return names


async def events_of(model, options):
    provider = example(0, to_payload=to_payload, AcmeReader=AcmeReader)["AcmeMessages"]()
    assert isinstance(provider, Provider)
    return [event async for event in provider.stream(model, Context(), options)]


async def test_the_example_answers(serve, model):
    stream = b'data: {"text":"Hi"}\n\nevent: end\ndata: {}\n\n'
    async with serve(lambda wire: wire.whole(b"200 OK", stream, b"content-type: text/event-stream")) as server:
        model = type(model)(id="m1", name="M1", api="acme", provider="acme", base_url=server.url)
        events = await events_of(model, StreamOptions(api_key="k1"))

    assert [event.type for event in events] == ["text_start", "text_delta", "text_end", "done"]
    assert events[-1].message.text == "Hi"
    assert server.headers()["x-api-key"] == "k1"


async def test_the_example_says_what_to_do_without_an_answer(model):
    model = type(model)(id="m1", name="M1", api="acme", provider="acme", base_url="http://localhost:9")
    (event,) = await events_of(model, StreamOptions())

    assert event.error.error_message == (
        "Connection error. Nothing answers at localhost:9 (connection refused)\n"
        "Start the server, or check the base URL of provider 'acme'."
    )


async def test_the_login_signs_in_and_renews(monkeypatch):
    class BrowserUI(FakeUI):
        def open_url(self, url):
            self.visit = asyncio.ensure_future(browse(url))
            return True

    login = example(1)["AcmeLogin"]()
    async with FakeAuthorization() as server:
        monkeypatch.setenv("PI_OAUTH_URL_ACME", server.url)
        monkeypatch.setenv("PI_OAUTH_PORT_ACME", "0")
        credential = await login.login(BrowserUI().never_answers("Paste"))
        fresh = await login.refresh(credential)

    assert isinstance(login, Login)
    assert (login.api_key(credential), login.api_key(fresh)) == ("fake-access-1", "fake-access-2")
