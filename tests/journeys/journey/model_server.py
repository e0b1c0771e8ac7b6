"""A model that does what a prompt says: it calls tools, fails, stalls or answers; it speaks Completions on loopback."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from typing import TYPE_CHECKING, Any, Self

from pi_testing.fake_servers.openai import Answer, FakeOpenAI, Request, call, completion, error, text

if TYPE_CHECKING:
    from collections.abc import Mapping

MODELS = ("tide-large", "tide-small")
"""The models of the server; the first is the one that sessions begin with."""

_CALL = re.compile(r"call (?P<tool>\w+) (?P<arguments>\{.*\})", re.DOTALL)
_PING = re.compile(r"ping (?P<word>\w+)")


class _Rules(FakeOpenAI):
    """Answers by the latest message.

    ``call TOOL {JSON}`` calls a tool, ``ping WORD`` is answered with ``pong WORD``, and ``fail`` with an error that
    no retry changes. A tool's result, and everything else, gets a short text.
    """

    async def answer_to(self, request: Request) -> Answer:
        return self.refusal(request) or self._answer(request.json["messages"][-1])

    def _answer(self, latest: Mapping[str, Any]) -> Answer:
        said = text_of(latest)
        if latest["role"] == "tool":
            return completion(text("The tool", " has answered."))
        if (wanted := _CALL.search(said)) is not None:
            number = len(self.requests)
            return completion(call(f"call_{number}", wanted["tool"], **json.loads(wanted["arguments"])))
        if (pinged := _PING.search(said)) is not None:
            return completion(text("pong ", pinged["word"]))
        return error(400, "The tide is out") if said == "fail" else completion(text("High water ", "is at noon."))


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message of Completions."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


class ModelServer:
    """The server, in a thread of its own while its ``with`` runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._server = _Rules(models=MODELS, check=False)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.__aexit__(None, None, None), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def models_file(self) -> dict[str, Any]:
        """Return the content of a ``models.json`` that leads to this server."""
        cost = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
        shared = {"contextWindow": 400_000, "maxTokens": 8000, "reasoning": True, "cost": cost}
        models = [{"id": name, **shared} for name in MODELS]
        provider = {"baseUrl": self._server.base_url, "api": "openai-completions", "apiKey": "k", "models": models}
        return {"providers": {"harbour": provider}}

    def tools(self) -> set[str]:
        """Return the names of all tools that a request offered."""
        bodies = (request.json for request in self._server.requests if request.body)
        return {tool["function"]["name"] for body in bodies for tool in body.get("tools", ())}

    def prompts(self) -> list[str]:
        """Return the latest message of the user in each request, in order."""
        return [
            next((text_of(each) for each in reversed(request.json["messages"]) if each["role"] == "user"), "")
            for request in self._server.requests
            if request.body
        ]
