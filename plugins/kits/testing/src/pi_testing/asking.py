"""Helpers for a provider's own tests: the events of an answer, the body of a request, the events read from given data.

Build fixtures in ``conftest.py`` from them:

```python
@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    forget_environment(monkeypatch, "ACME_")


async def test_the_question_is_sent(model, user):
    assert (await payload_of(AcmeProvider(), model, user("Hi")))["messages"][0]["content"] == "Hi"
```
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Context, StreamOptions
from pi_testing.stand_ins import make_tool

if TYPE_CHECKING:
    import pytest

    from pi_hookspecs import AssistantMessageEvent, Message, Model, Provider
    from pi_testing.contract_reader import Reader
    from pi_testing.stand_ins import FakeTool

__all__ = ["answer_events", "feed", "forget_environment", "payload_of", "read_tool"]


class _Sent(BaseException):
    """Ends the request. It is not an ``Exception``, because the provider would turn that into an answer."""


def forget_environment(monkeypatch: pytest.MonkeyPatch, *prefixes: str) -> None:
    """Unset the environment variables with these prefixes, pi's own (``PI_``), and the proxy variables."""
    for name in list(os.environ):
        if name.startswith((*prefixes, "PI_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def read_tool(
    name: str = "read", parameters: dict[str, Any] | None = None, description: str = "Reads a file."
) -> FakeTool:
    """Return a tool that takes a ``path``, or the arguments that a JSON schema describes."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return make_tool(name, parameters=parameters or schema, description=description)


async def answer_events(
    provider: Provider, model: Model, *messages: Message, system: str = "", tools: Any = (), **options: Any
) -> list[AssistantMessageEvent]:
    """Send a request to the provider and return the events of the answer; ``options`` are the request's options."""
    context = Context(system_prompt=system, messages=messages, tools=tuple(tools))
    return [event async for event in provider.stream(model, context, StreamOptions(**options))]


async def payload_of(provider: Provider, model: Model, *messages: Message, **given: Any) -> Any:
    """Return the JSON body of the request that ``answer_events`` would send, without sending it."""
    bodies = []

    async def on_payload(payload: Any, _: Model) -> None:
        bodies.append(json.loads(json.dumps(payload)))
        raise _Sent

    try:
        await answer_events(provider, model, *messages, on_payload=on_payload, **given)
    except _Sent:
        return bodies[0]
    raise AssertionError("the provider answered without a request body")


def feed(reader: Reader, *data: Any) -> list[AssistantMessageEvent]:
    """Return the events that a reader yields for these inputs and the end; inputs other than bytes become JSON."""
    from pi_testing.contract_reader import read_events  # which imports hypothesis

    return list(read_events(reader, (each if isinstance(each, bytes) else json.dumps(each).encode() for each in data)))
