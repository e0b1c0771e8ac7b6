"""Runs a plugin in Python: imports it, announces what it implements, and answers pi's requests until they end."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import traceback
from copy import deepcopy
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import attrs

import pi_hookspecs
from pi_core import event_from_wire, from_wire, message_from_wire, to_wire
from pi_hookspecs import AbortController, Rule, ToolResult, answers_of
from pi_hookspecs.specs import all_hookspecs
from pi_isolated.child.collect import collect
from pi_isolated.child.context import RemoteContext
from pi_isolated.child.pipe import Pipe
from pi_isolated.events import changed_by, delta_of, grown_by
from pi_isolated.ready import CONTRACT, DELTA_HOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_isolated.child.collect import Implementations

__all__ = ["EventReader", "main"]


class EventReader:
    """Reads the events of one process, and remembers which part of the conversation it has."""

    def __init__(self) -> None:
        self._whole: dict[str, dict[str, Any]] = {}

    def read(self, hook: str, event: Mapping[str, Any]) -> Any:
        """Return an event.

        Raises:
            PiError: It cannot be read.
        """
        data = dict(event)
        if hook == "message_update":
            self._whole[hook] = message = grown_by(self._whole.get(hook, {}), data.pop("delta"))
            return event_from_wire(data, lambda: message_from_wire(deepcopy(message)))  # the next one builds on it
        if hook not in DELTA_HOOKS:
            return from_wire(data, getattr(pi_hookspecs, all_hookspecs()[hook].__annotations__["event"]))
        self._whole[hook] = whole = changed_by(self._whole.get(hook, {}), data.pop("delta"))
        if hook == "context":
            return pi_hookspecs.ContextEvent(messages=tuple(map(message_from_wire, whole["messages"])))
        read = from_wire({**data, "payload": None}, pi_hookspecs.BeforeProviderRequestEvent)
        return attrs.evolve(read, payload=whole)


def main(name: str, value: str) -> None:
    """Run a plugin until pi closes standard input.

    Args:
        name: The plugin's name.
        value: What to import, ``module`` or ``module:attribute``, as in an entry point.
    """
    pipe = Pipe()
    found = collect(EntryPoint(name, value, "pi").load(), name)
    for hook in found.left_out:
        sys.stderr.write(f"{hook} is left out: a process can register tools and commands\n")
    asyncio.run(_Serving(pipe, found).run())
    os._exit(0)  # threads that the plugin has started do not count


class _Serving:
    """Answers requests, each in a task of its own."""

    def __init__(self, pipe: Pipe, found: Implementations) -> None:
        self._pipe = pipe
        self._found = found
        self._running: dict[int, tuple[asyncio.Task[None], AbortController]] = {}
        self._events = EventReader()

    async def run(self) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        self._pipe.listen(
            lambda message: loop.call_soon_threadsafe(self._take, message),
            lambda: loop.call_soon_threadsafe(ended.set),
        )
        self._pipe.send(type="ready", contract=".".join(map(str, CONTRACT)), **self._found.ready())
        await ended.wait()

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "cancel":
            task, controller = self._running.get(message["id"], (None, None))
            if task is not None and controller is not None:
                controller.abort("Operation aborted")
                task.cancel()
        elif message["type"] in ("hook", "tool", "command"):
            controller = AbortController()
            # Deltas are applied in the order in which they come, before anything is awaited.
            event = self._events.read(message["hook"], message["event"]) if message["type"] == "hook" else None
            task = asyncio.get_running_loop().create_task(self._answer(message, event, controller))
            self._running[message["id"]] = task, controller

    async def _answer(self, message: Mapping[str, Any], event: Any, controller: AbortController) -> None:
        number = message["id"]
        try:
            value = await getattr(self, f"_run_{message['type']}")(message, event, controller)
            self._pipe.send(type="answer", id=number, answer=value)
        except BaseException as error:
            traceback.print_exc()
            self._pipe.send(type="answer", id=number, error=f"{type(error).__name__}: {error}")
            if not isinstance(error, Exception | asyncio.CancelledError):
                raise
        finally:
            self._running.pop(number, None)

    async def _run_hook(self, message: Mapping[str, Any], event: Any, controller: AbortController) -> Any:
        hook = message["hook"]
        ctx = RemoteContext(self._pipe, message["ctx"], controller.signal)
        answer = await _awaited(self._found.hooks[hook](event, ctx))
        answers = answers_of(all_hookspecs()[hook])
        if answer is None or answers is None or answers.whole is Rule.NOTIFY:
            return None
        if hook == "before_provider_request":
            return {"delta": delta_of(to_wire(event.payload), to_wire(answer))}
        wire = to_wire(answer)
        if hook == "context" and wire.get("messages") is not None:
            before = {"messages": [to_wire(each) for each in event.messages]}
            wire["delta"] = delta_of(before, {"messages": wire.pop("messages")})
        return wire

    async def _run_tool(self, message: Mapping[str, Any], _event: Any, controller: AbortController) -> Any:
        def update(partial: ToolResult) -> None:
            self._pipe.send(type="update", id=message["id"], update=to_wire(partial))

        ctx = RemoteContext(self._pipe, message["ctx"], controller.signal, update)
        tool = self._found.tools[message["tool"]]
        return to_wire(await tool.execute(message["callId"], message["params"], controller.signal, update, ctx))

    async def _run_command(self, message: Mapping[str, Any], _event: Any, controller: AbortController) -> None:
        handler, _ = self._found.commands[message["command"]]
        await _awaited(handler(message["args"], RemoteContext(self._pipe, message["ctx"], controller.signal)))


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
