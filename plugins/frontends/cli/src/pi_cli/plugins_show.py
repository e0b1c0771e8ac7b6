"""``pi plugins show``: details of one plugin: its origin, its registrations, and conflicts with other plugins."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pi_cli.extension_records import extension_record, implemented, left_out_records
from pi_cli.report import print_json, print_lines, warn
from pi_cli.words import one_line
from pi_core.host.conditions import describe_condition
from pi_core.host.discovery import find_origin
from pi_core.host.kinds import KINDS
from pi_core.plugin_api.activation import registered_in_activation
from pi_core.settings.values import leaves, name_of
from pi_hookspecs import UnknownName, UserError, answers_of
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import HookDispatcher, PluginHost, PluginRecord

__all__ = ["show_plugin"]

_TIMING = "pi plugins show NAME --time calls each once, including those of pi.on"


def show_plugin(name: str, host: PluginHost, *, timed: bool, as_json: bool) -> int:
    """Print the details of a plugin; return 1 when it has problems.

    Args:
        name: The plugin.
        host: The plugins.
        timed: Call each of its event hooks once, with a sample event, and print the time.
        as_json: Print an object.

    Raises:
        UserError: It is a local extension that could not be loaded; the message says why.
        UnknownName: There is no such plugin.
    """
    left_out = {record.name: record for record in left_out_records(host)}
    if not host.has(name) and name not in left_out:
        failed = [str(each) for each in host.problems if each.plugin == name]
        if failed:
            raise UserError("\n".join(failed))
        raise UnknownName("plugin", name, [*host.records, *host.added(), *left_out], "pi plugins lists them")
    host.load_listeners()
    record = host.records.get(name) or left_out.get(name) or extension_record(name, host)
    details = _details(record, host)
    if timed and details["enabled"]:
        asyncio.run(_measure(details, host))
    if as_json:
        print_json(details)
    else:
        print_lines(*_lines(details, timed=timed))
    return 1 if details["problems"] else 0


# As data


def _details(record: PluginRecord, host: PluginHost) -> dict[str, Any]:
    enabled = record.name not in host.disabled
    activated = registered_in_activation(host, record.name) if enabled else []
    dispatcher = host.dispatcher(warn)
    problems = dict.fromkeys([*record.problems, *(each for each in host.problems if each.plugin == record.name)])
    return {
        "name": record.name,
        "version": record.version,
        "distribution": record.distribution,
        "module": record.value,
        "file": find_origin(record.value) or record.value,
        "enabled": enabled,
        "loads": record.loads,
        "waitsFor": describe_condition(record.when) if not host.is_wanted(record) else None,
        "place": host.rank(record.name) + 1,
        "of": len(host.records) + len(host.added()),
        "loadMs": record.load_ms if record.indexed else None,
        "hooks": [_hook(hook, record.name, host, dispatcher) for hook in record.hooks] if enabled else [],
        "registers": [each for hook in record.registers for each in _registered(hook, record, host)],
        "activates": [{"kind": kind, "name": name} for kind, name in activated],
        "settings": list(_settings(record, host)),
        "problems": [{"step": each.step, "message": each.message} for each in problems],
    }


def _hook(hook: str, plugin: str, host: PluginHost, dispatcher: HookDispatcher) -> dict[str, Any]:
    """Return how a hook's answers combine, and this plugin's position in the order of calls."""
    declared = answers_of(all_hookspecs()[hook])
    if declared is None:
        row = [name for name, _ in host.activations()]
        return {"name": hook, "answers": "notify", "place": _place(plugin, row), "asked": row}
    implementations = dispatcher.implementations(hook)
    row = [each.plugin for each in implementations]
    deadline = next((each.deadline for each in implementations if each.plugin == plugin), declared.deadline.value)
    return {
        "name": hook,
        "answers": str(declared),
        "onFailure": declared.on_failure.value,
        "deadlineSeconds": deadline,
        "place": _place(plugin, row),
        "asked": row,
    }


def _place(plugin: str, row: list[str]) -> int | None:
    return row.index(plugin) + 1 if plugin in row else None


def _registered(hook: str, record: PluginRecord, host: PluginHost) -> Iterator[dict[str, Any]]:
    """Yield its registrations under one hook, with other plugins that register the same name."""
    prefer = host.settings.get_object("plugins.prefer")
    for described in record.registers[hook]:
        name = described["name"]
        indexed = [each.name for each in host.registering(hook, name)]
        added = [each.plugin for each in host.registrations(hook) if each.name == name and each.plugin not in indexed]
        others = [each for each in (*indexed, *added) if each != record.name]
        found = host.find(hook, name) if others else None
        winner = found.plugin if found is not None else record.name
        row = {
            "kind": KINDS[hook].name,
            "name": name,
            "description": described.get("description", ""),
            "alsoBy": others,
            "wins": winner == record.name,
        }
        if others:
            row["winner"] = winner
            preferred = f"{KINDS[hook].name}:{name}" in prefer
            row["because"] = "plugins.prefer" if preferred else "load order: the later one"
        yield row


def _settings(record: PluginRecord, host: PluginHost) -> Iterator[dict[str, Any]]:
    """Yield the settings that name this plugin, or a hook that it implements."""
    for steps, value in leaves(host.settings.all()):
        if _concerns(steps, value, record):
            yield {"name": name_of(steps), "value": value, "origin": host.settings.place(steps)}


def _concerns(steps: tuple[str, ...], value: Any, record: PluginRecord) -> bool:
    if steps[0] == record.name:
        return True
    if steps[:2] in (("plugins", "disabled"), ("plugins", "order")):
        return isinstance(value, list) and record.name in value
    if steps[:2] == ("plugins", "prefer"):
        return bool(value == record.name)
    if steps[:2] == ("hooks", "plugins"):
        return record.name in steps[2:3]
    return steps[:2] == ("hooks", "specs") and bool({*steps[2:3]} & {*record.hooks})


async def _measure(details: dict[str, Any], host: PluginHost) -> None:
    """Add ``ms`` to each event hook: its time with the documentation's sample event, in a new session.

    Handlers that the plugin registers with ``pi.on`` when activated there are included.
    """
    from pi_cli.hooks_fire import fire
    from pi_cli.look import session_to_look_at
    from pi_cli.options import PromptOptions
    from pi_hookspecs.samples import sample_event

    async with session_to_look_at(host, PromptOptions()) as session:
        hooks = implemented(details["name"], host, session.hooks)
        details["hooks"] = [_hook(hook, details["name"], host, session.hooks) for hook in hooks]
        for hook in details["hooks"]:
            if answers_of(all_hookspecs()[hook["name"]]) is not None:
                calls, _, _ = await fire(session, hook["name"], sample_event(hook["name"]), details["name"])
                hook["ms"] = round(sum(call.milliseconds for call in calls), 2)


# As lines


def _lines(details: dict[str, Any], *, timed: bool) -> Iterator[str]:
    yield one_line(f"{details['name']} {details['version']}").rstrip() + ("" if details["enabled"] else ", disabled")
    yield f"  from      {one_line(details['distribution'])}" + (f", {details['module']}" if details["version"] else "")
    if details["file"]:
        yield f"  file      {one_line(details['file'])}"
    yield f"  order     {details['place']} of {details['of']}"
    if details["enabled"] and details["loadMs"] is not None:
        yield f"  start-up  {details['loadMs']:.0f} ms"
    if details["waitsFor"]:
        yield f"  waits     its hooks are not loaded: there is no {one_line(details['waitsFor'])}"
    for problem in details["problems"]:
        yield f"! {problem['step']}: {one_line(problem['message'])}"
    if details["registers"]:
        yield from ("", "  Registers")
        yield from _columns(
            [(each["kind"], each["name"], _resolution(each, details["name"])) for each in details["registers"]]
        )
    if details["activates"]:
        yield from ("", "  Registers in activate(pi)")
        yield from _columns([(each["kind"], one_line(each["name"]), "") for each in details["activates"]])
    if details["hooks"]:
        yield from ("", "  Hooks" if timed else f"  Hooks ({_TIMING})")
        yield from _columns([(each["name"], each["answers"], _row(each)) for each in details["hooks"]])
    if details["settings"]:
        yield from ("", "  Settings")
        values = [(each["name"], _written(each["value"]), str(each["origin"])) for each in details["settings"]]
        yield from _columns(values)


def _written(value: Any) -> str:
    return one_line(json.dumps(value, ensure_ascii=False, default=repr))


def _resolution(each: dict[str, Any], plugin: str) -> str:
    """Return an object's description, and which plugin's registration its name refers to."""
    text = [one_line(each["description"]).partition(". ")[0]] if each["description"] else []
    if each["alsoBy"] and each["wins"]:
        text.append(f"wins over {', '.join(each['alsoBy'])} ({each['because']})")
    elif each["alsoBy"]:
        text.append(f"hidden by {each['winner']} ({each['because']}); reachable as {plugin}:{each['name']}")
    return ". ".join(part.removesuffix(".") for part in text)


def _row(hook: dict[str, Any]) -> str:
    row, place = hook["asked"], hook["place"]
    text = f"{place} of {len(row)}" if place else "not asked"
    if place and place > 1:
        text += f", after {row[place - 2]}"
    if place and place < len(row):
        text += f", before {row[place]}"
    if "deadlineSeconds" in hook:
        text += f"; {hook['deadlineSeconds']:g} s at most"
    if "ms" in hook:
        text += f"; took {hook['ms']:g} ms"
    return text


def _columns(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    first, second = (min(max(len(row[number]) for row in rows), 40) for number in (0, 1))
    yield from (f"    {a:<{first}}  {b:<{second}}  {c}".rstrip() for a, b, c in rows)
