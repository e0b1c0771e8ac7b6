"""The contract of providers holds for an API that answers in lines of JSON, as Ollama's own does."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache

import orjson
import pytest

from pi_hookspecs import Model
from pi_provider_kit import (
    AnswerBuilder,
    Http,
    HttpFailed,
    HttpRequest,
    WholeText,
    parse_json,
    read_answer,
    stream_lines,
)
from pi_testing import ProviderContract, ServerCase
from pi_testing.fake_servers import Answer, FakeServer


class LinesReader:
    """An ``AnswerReader`` of ``{"text": ...}`` and, at the end, ``{"done": true}``."""

    def __init__(self, model):
        self.builder = AnswerBuilder(model)
        self.finished = self._opened = False
        self._pieces = WholeText()

    def feed(self, line):
        try:
            parsed = parse_json(line)
        except ValueError as error:
            raise HttpFailed(f"the line is not JSON ({error})", kind="event") from error
        if not isinstance(parsed, dict):
            raise HttpFailed("the line is not an object", kind="event")
        if "error" in parsed:
            raise HttpFailed(str(parsed["error"]), kind="event")
        if not self._opened:
            self._opened = True
            yield self.builder.start()
            yield self.builder.text_start()
        if parsed.get("text") and (text := self._pieces.add(parsed["text"])):
            yield self.builder.text(0, text)
        self.finished = parsed.get("done") is True

    def end(self):
        if not self.finished:
            raise HttpFailed("the answer has no end", kind="incomplete")
        return [self.builder.text_end(0), self.builder.done()]


class LinesProvider:
    """Implements an API of text in lines of JSON."""

    api = "json-lines"

    def __init__(self, http):
        self._http = http

    def stream(self, model, context, options):
        reader = cache(lambda: LinesReader(model))

        async def lines():
            headers = {"x-api-key": options.api_key or "", **(model.headers or {})}
            request = HttpRequest(url=f"{model.base_url}/generate", body={"model": model.id}, headers=headers)
            async with aclosing(stream_lines(self._http, request, options)) as received:
                async for line in received:
                    yield line

        return read_answer(lines(), reader, options)


class LinesCase(ServerCase):
    supports = frozenset({"http", "failure_details", "bytes", "timeouts", "progress"})
    event_end = ping = b"\n"

    def __init__(self, server, http):
        self.server = server
        self.provider = LinesProvider(http)
        self.model = Model(id="m1", name="M1", api="json-lines", provider="lines", base_url=server.url)

    def written(self, blocks, *, usage=None, length=False):
        return lines_answer(*(orjson.dumps({"text": delta}) for block in blocks for delta in block.deltas), DONE)

    def written_without_end(self, blocks):
        return lines_answer(*(orjson.dumps({"text": delta}) for block in blocks for delta in block.deltas))

    def written_error(self, parsed):
        return orjson.dumps({"error": parsed}) + b"\n"


DONE = b'{"done":true}'


def lines_answer(*lines):
    headers = {"content-type": "application/x-ndjson"}
    return Answer(headers=headers, pieces=tuple(line + b"\n" for line in lines))


class TestJsonLines(ProviderContract):
    @pytest.fixture
    async def case(self):
        http = Http()
        async with FakeServer() as server:
            yield LinesCase(server, http)
        await http.aclose()
