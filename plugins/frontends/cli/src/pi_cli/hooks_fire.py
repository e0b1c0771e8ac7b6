"""``pi hooks fire``: calls one hook with one event, and reports each plugin's answer, changes and time.

The session's own dispatcher makes the call, so that order, deadlines and the combination of answers are as in a real
run. A wrapper around each implementation records the single answers.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from attrs import define, fields, has

from pi_cli.look import session_to_look_at
from pi_cli.options import PromptOptions
from pi_cli.report import print_json, print_lines
from pi_cli.words import one_line, shorten
from pi_hookspecs import UnknownName, UserError, answers_of
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pi_core import PluginHost
    from pi_core.hooks.dispatcher import HookImplementation
    from pi_hookspecs import ExtensionErrorEvent

__all__ = ["Call", "fire", "run_fire"]

_LONGEST_ANSWER = 2000
"""Maximum characters of an answer in the table; ``--json`` prints all of it."""


@define(eq=False)
class Call:
    """Result of calling one plugin.

    Attributes:
        outcome: ``answered``, ``no answer``, ``failed``, ``not asked`` (an earlier plugin has decided).
        changed: The fields of the event that it changed in place, with their new values.
    """

    plugin: str
    deadline: float
    outcome: str = "not asked"
    milliseconds: float = 0.0
    answer: Any = None
    changed: dict[str, Any] | None = None
    failure: str | None = None


def run_fire(hook: str, host: PluginHost, *, event: str | None, plugin: str | None, as_json: bool) -> int:
    """Call a hook and print the results; return 1 when a plugin failed.

    Args:
        hook: Its name.
        host: The plugins.
        event: Path of the event as JSON; the sample of the documentation when None.
        plugin: Call only this one.
        as_json: Print an object.

    Raises:
        UnknownName: There is no such hook or plugin.
        UserError: The hook gets no event, or the file is not an event.
    """
    from pi_cli.event_file import read_event
    from pi_hookspecs.samples import sample_event

    _check(hook, host, plugin)
    asked = read_event(hook, event) if event is not None else sample_event(hook)
    calls, answer, refusal = asyncio.run(_ask(hook, asked, host, plugin))
    if as_json:
        print_json(_plain(hook, calls, answer, refusal))
    else:
        lines = _report(hook, event or "the sample of docs/events", calls, answer, refusal, plugin)
        print_lines(*lines)
    return 1 if any(call.outcome == "failed" for call in calls) else 0


def _check(hook: str, host: PluginHost, plugin: str | None) -> None:
    specs = all_hookspecs()
    if hook not in specs:
        raise UnknownName("hook", hook, specs, "pi hooks lists them")
    if answers_of(specs[hook]) is None:
        raise UserError(
            f"{hook} is not an event: it is called when plugins are loaded. pi plugins show NAME lists"
            " what one registered"
        )
    if plugin is not None and plugin in host.disabled:
        raise UserError(f"Plugin {plugin!r} is disabled")


async def _ask(hook: str, event: Any, host: PluginHost, plugin: str | None) -> tuple[list[Call], Any, str | None]:
    """Call the hook in a session started for it, so that ``activate`` takes effect."""
    async with session_to_look_at(host, PromptOptions()) as session:
        known = [each.plugin for each in session.hooks.implementations(hook)]
        if plugin is not None and plugin not in known:
            if not host.has(plugin):
                raise UnknownName("plugin", plugin, [*host.records, *host.added()], "pi plugins lists them")
            raise UserError(f"Plugin {plugin!r} does not implement {hook}. pi hooks {hook} lists those that do")
        return await fire(session, hook, event, plugin)


async def fire(session: Any, hook: str, event: Any, plugin: str | None = None) -> tuple[list[Call], Any, str | None]:
    """Call a hook; return the result of each plugin, the combined answer, and the reason of a refusal or None.

    Args:
        session: A started ``AgentSession``; its implementations of the hook are wrapped permanently.
        hook: An event hook's name.
        event: Its event.
        plugin: Call only this one.
    """
    from pi_core.hooks.dispatcher import HookRefused

    calls = [_record_calls(each, plugin) for each in session.hooks.implementations(hook)]
    watched = [call for call in calls if call is not None]
    unsubscribe = session.subscribe(lambda failure: _record_failure(watched, failure), "extension_error")
    try:
        answer, refusal = await session.hooks.call(all_hookspecs()[hook], event, session.ctx), None
    except HookRefused as error:
        answer, refusal = None, str(error)
    await session.runtime.events.settled()  # failures are reported in a separate task
    unsubscribe()
    return watched, answer, refusal


def _record_failure(calls: list[Call], failure: ExtensionErrorEvent) -> None:
    """Record a failure that the dispatcher reported: an exception, a wrong type, a missed deadline."""
    for call in calls:
        if call.plugin == failure.extension_path and call.outcome != "not asked":
            call.outcome = "failed"
            call.failure = failure.error.partition(": ")[2] or failure.error


def _record_calls(each: HookImplementation, plugin: str | None) -> Call | None:
    """Record the calls of an implementation; return None for one that is not to be called."""
    if plugin not in (None, each.plugin):
        each.call = lambda _event, _ctx: None
        return None
    call = Call(each.plugin, each.deadline)
    each.call = _recorder(each.call, call)
    return call


def _recorder(ask: Callable[[Any, Any], Any], call: Call) -> Callable[[Any, Any], Awaitable[Any]]:
    from pi_core import to_wire

    async def asked(event: Any, ctx: Any) -> Any:
        before, started = to_wire(event), time.perf_counter()
        call.outcome = "failed"
        try:
            answer = ask(event, ctx)
            if hasattr(answer, "__await__"):
                answer = await answer
        finally:
            call.milliseconds = (time.perf_counter() - started) * 1000
        after = to_wire(event)
        call.changed = {name: value for name, value in after.items() if before.get(name) != value} or None
        call.answer, call.outcome = answer, "no answer" if answer is None else "answered"
        return answer

    return asked


# What is printed


def _plain(hook: str, calls: list[Call], answer: Any, refusal: str | None) -> dict[str, Any]:
    from pi_core import to_wire

    return {
        "hook": hook,
        "calls": [
            {
                "plugin": call.plugin,
                "outcome": call.outcome,
                "ms": round(call.milliseconds, 2),
                "answer": to_wire(call.answer),
                "changed": call.changed,
                "failure": call.failure,
            }
            for call in calls
        ],
        "answer": to_wire(answer),
        "refusal": refusal,
    }


def _report(  # noqa: PLR0917 - everything that is printed
    hook: str, event: str, calls: list[Call], answer: Any, refusal: str | None, plugin: str | None
) -> Iterator[str]:
    yield f"{hook}, called with {event}" + (f", only in {plugin}" if plugin is not None else "")
    yield ""
    if not calls:
        yield "  No installed plugin implements it."
    width = max((len(call.plugin) for call in calls), default=0)
    for call in calls:
        time_taken = "" if call.outcome == "not asked" else f"{call.milliseconds:.2f} ms"
        yield f"  {call.plugin:<{width}}  {time_taken:>11}  {_outcome(call)}"
        for name, value in (call.changed or {}).items():
            yield f"  {'':<{width}}  {'':>11}  changed event.{name} in place: {_format(value)}"
    yield ""
    yield f"  answer: {refusal or _format(answer)}"


def _outcome(call: Call) -> str:
    if call.outcome == "failed":
        return f"failed: {one_line(call.failure or '')}"
    return _format(call.answer) if call.outcome == "answered" else call.outcome


def _format(value: Any) -> str:
    """Return a value as a line: the fields of a result that are set, any other value as JSON."""
    from pi_core import to_wire

    if value is None:
        return "none"
    if not has(type(value)):
        return shorten(one_line(json.dumps(to_wire(value), ensure_ascii=False)), _LONGEST_ANSWER)
    values = {each.name: getattr(value, each.name) for each in fields(type(value))}
    parts = (
        f"{each.name}={json.dumps(to_wire(values[each.name]), ensure_ascii=False)}"
        for each in fields(type(value))
        if values[each.name] != each.default and values[each.name] is not None
    )
    return shorten(one_line(f"{type(value).__name__}({', '.join(parts)})"), _LONGEST_ANSWER)
