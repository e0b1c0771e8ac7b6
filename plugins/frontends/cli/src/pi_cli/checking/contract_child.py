"""Loads a plugin like pi, but without other plugins, and calls its event hooks with the documentation's samples."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_core import PluginHost, PluginRecord

__all__ = ["main"]


def main(request_file: str) -> None:
    """Write problems, registrations, calls and tokens of the plugins that a request names to its answer file."""
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    sys.path[:] = [*request["first"], *sys.path, *request["paths"]]
    from pi_core import PluginHost, Settings, find_plugins

    settings = Settings.in_memory({}, request["scratch"])
    others = {each.name for each in find_plugins()[0]} - {*request["plugins"]}
    host = PluginHost(settings, disabled=others)
    records = [record for name, record in host.records.items() if name in request["plugins"]]
    answer = {record.name: _described(record, host) for record in records}
    fired = asyncio.run(_fire(records, host))
    for name, calls in fired.items():
        answer[name]["calls"] = calls
    for record in records:
        seen = {each["message"] for each in answer[record.name]["problems"]}
        later = [each for each in host.problems if each.plugin == record.name and each.message not in seen]
        answer[record.name]["problems"] += [{"step": each.step, "message": each.message} for each in later]
    Path(request["answer"]).write_text(json.dumps(answer, default=repr), encoding="utf-8")
    os._exit(0)


def _described(record: PluginRecord, host: PluginHost) -> dict[str, Any]:
    return {
        "loads": record.loads,
        "problems": [{"step": each.step, "message": each.message} for each in record.problems],
        "registers": {hook: record.names(hook) for hook in record.registers},
        "tools": _tools(record, host),
        "calls": [],
    }


def _tools(record: PluginRecord, host: PluginHost) -> list[dict[str, Any]]:
    """Return each tool's name, the tokens of its declaration, and the parameters without a description."""
    from pi_core.agent.declarations import tool_declaration
    from pi_core.models.token_estimate import CHARS_PER_TOKEN

    found = []
    for name in record.names("register_tools"):
        registered = host.find("register_tools", name)
        if registered is None:
            continue
        tool = registered.thing
        properties = tool.parameters.get("properties", {})
        bare = [
            each for each, schema in properties.items() if isinstance(schema, dict) and not schema.get("description")
        ]
        tokens = -(-len(json.dumps(tool_declaration(tool))) // CHARS_PER_TOKEN)
        found.append({"name": name, "tokens": tokens, "described": bool(tool.description), "bare": bare})
    return found


async def _fire(records: list[PluginRecord], host: PluginHost) -> dict[str, list[dict[str, Any]]]:
    from pi_cli.extension_records import implemented
    from pi_cli.hooks_fire import fire
    from pi_cli.look import session_to_look_at
    from pi_cli.options import PromptOptions
    from pi_hookspecs import answers_of
    from pi_hookspecs.samples import sample_event
    from pi_hookspecs.specs import all_hookspecs

    found: dict[str, list[dict[str, Any]]] = {}
    specs = all_hookspecs()
    async with session_to_look_at(host, PromptOptions()) as session:
        for record in records:
            calls = found.setdefault(record.name, [])
            for hook in implemented(record.name, host, session.hooks):
                if answers_of(specs[hook]) is not None:
                    asked, _, _ = await fire(session, hook, sample_event(hook), record.name)
                    calls += [
                        {"hook": hook, "outcome": each.outcome, "ms": each.milliseconds, "failure": each.failure}
                        for each in asked
                    ]
    return found


if __name__ == "__main__":
    main(sys.argv[1])
