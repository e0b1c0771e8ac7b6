"""One test's cassette: servers in place of the real ones, which either forward and record, or replay."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from attrs import evolve

from pi_hookspecs import RequestFailed, UserError
from pi_testing.cassettes import file as _file
from pi_testing.cassettes.difference import first_difference
from pi_testing.cassettes.secret_values import REMOVED, Secrets
from pi_testing.fake_servers import FakeServer, json_answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from pathlib import Path

    from pi_hookspecs import Model
    from pi_testing.cassettes.file import Exchange, RecordedRequest
    from pi_testing.fake_servers import Answer, Request

__all__ = ["Cassette", "RecordMode"]

RecordMode: TypeAlias = Literal["none", "once", "all"]
"""``none`` only replays, ``once`` records missing cassettes, ``all`` records everything again."""


class Cassette:
    """Traffic of one test.

    Args:
        file: The cassette's file.
        mode: Whether it may be recorded.
        test: The argument with which pytest runs this test alone.
        ignored: Paths of requests that may differ, such as ``body.metadata`` or ``body.messages[*].id``.
        replace: Placeholders that the file has for texts of this run, such as the test's folder.
        environ: The environment that has the keys for recording.

    Attributes:
        recording: Whether requests go to the real server.
        problems: Messages about what went wrong.

    Raises:
        UserError: The cassette does not exist and may not be recorded, or the file is not a cassette.
    """

    def __init__(
        self,
        file: Path,
        mode: RecordMode = "none",
        *,
        test: str = "",
        ignored: Collection[str] = (),
        replace: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.file = file
        self.recording = mode == "all" or (mode == "once" and not file.exists())
        self.problems: list[str] = []
        self._test = test
        self._ignored = ignored
        self._replace = replace or {}
        self._environ = os.environ if environ is None else environ
        self._secrets = Secrets()
        self._servers: dict[str, _StandIn] = {}
        self._recorded: list[Exchange | None] = []
        self._left: list[Exchange] = []
        self._asked = 0
        if not self.recording:
            if not file.exists():
                raise UserError(f"There is no cassette {file}. Record it once, with a key: {self._command('once')}")
            self._left = _file.read(file, self._replace)
        self._total = len(self._left)

    async def url(self, upstream: str) -> str:
        """Return the local URL that replaces one of a real server; the path is the same."""
        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UserError(f"{upstream!r} is not a URL of a server: it must begin with http:// or https://")
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._servers:
            self._servers[origin] = await _StandIn(origin, self._answer).__aenter__()
        return f"{self._servers[origin].url}{parts.path}"

    async def model(self, model: Model) -> Model:
        """Return the model with a base URL that points to this cassette."""
        return evolve(model, base_url=await self.url(model.base_url))

    def key(self, variable: str) -> str:
        """Return the key for requests: the value of this environment variable while recording, otherwise a placeholder.

        Raises:
            UserError: The cassette is being recorded, and the variable is not set.
        """
        if not self.recording:
            return REMOVED
        key = self._environ.get(variable)
        if not key:
            raise UserError(f"{variable} is not set; it is needed to record {self.file.name}")
        self._secrets.know(key)
        return key

    async def close(self) -> None:
        """Stop the servers, and write what was recorded."""
        for server in self._servers.values():
            await server.__aexit__(None, None, None)
        recorded = [each for each in self._recorded if each is not None]
        if self.recording and recorded and not self.problems:
            _file.write(self.file, recorded, self._secrets, self._replace)

    def check(self) -> None:
        """Raise an ``AssertionError`` with the first difference from the recording."""
        if self.problems:
            raise AssertionError(self.problems[0])
        if self.recording and not self._recorded:
            raise AssertionError(f"Nothing was recorded in {self.file}: no request came to {self._addresses()}")
        if self._left:
            request = self._left[0].request
            raise AssertionError(
                f"{self.file} has {self._total} requests, and {self._total - len(self._left)} were made now."
                f" Missing is {request.method} {request.url}\n{self._advice()}"
            )

    async def _answer(self, origin: str, asked: Request) -> Answer:
        self._asked += 1
        request = _file.request_of(asked, origin, self._secrets)
        return await self._record(origin, asked, request) if self.recording else self._replay(request)

    async def _record(self, origin: str, asked: Request, request: RecordedRequest) -> Answer:
        from pi_testing.cassettes.upstream import ask

        number = len(self._recorded)
        self._recorded.append(None)  # in the order of the requests, whichever answer comes first
        try:
            answer = await asyncio.to_thread(ask, origin, asked)
        except RequestFailed as failure:
            return self._fail(502, f"Nothing is recorded: {failure}")
        self._recorded[number] = _file.exchange_of(request, answer, self._secrets)
        return answer

    def _replay(self, request: RecordedRequest) -> Answer:
        """Return the answer to the first request that is the same: requests at one time may come in any order."""
        if not self._left:
            return self._fail(
                400,
                f"Request {self._asked}, {request.method} {request.url}, is not in {self.file}: it has {self._total}"
                f" and all were made\n{self._advice()}",
            )
        differences = [first_difference(each.request, request, self._ignored) for each in self._left]
        if None in differences:
            return self._left.pop(differences.index(None)).answer
        return self._fail(
            400,
            f"Request {self._asked} is not the one in {self.file}\n{differences[0]}\n{self._advice()}",
        )

    def _fail(self, status: int, problem: str) -> Answer:
        """Keep a problem, and send it to the client, too: it ends the answer there."""
        self.problems.append(problem)
        return json_answer(status, {"error": {"type": "cassette", "message": problem}})

    def _advice(self) -> str:
        return f"If that is meant, record it again, with a key: {self._command('all')}"

    def _command(self, mode: RecordMode) -> str:
        return f"pytest {self._test} --pi-record={mode}"

    def _addresses(self) -> str:
        return ", ".join(f"{each.url} (for {origin})" for origin, each in self._servers.items()) or "cassette.url(...)"


class _StandIn(FakeServer):
    def __init__(self, origin: str, answer: Callable[[str, Request], Awaitable[Answer]]) -> None:
        super().__init__()
        self._origin = origin
        self._answer = answer

    async def answer_to(self, request: Request) -> Any:
        """Hand a request on, or replay its answer."""
        return await self._answer(self._origin, request)
