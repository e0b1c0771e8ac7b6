"""What each plugin's hooks cost in the last run: the file in the agent directory's cache that ``pi plugins`` reads."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_core import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pi_core import PluginHost
    from pi_hookspecs import HookCounters

__all__ = ["calls_text", "recall_calls", "remember_calls"]

_SUMS = ("calls", "totalMs", "failures", "timeouts")


def remember_calls(host: PluginHost, counters: Iterable[HookCounters]) -> None:
    """Write the counters of a run; a folder that cannot be written is not an error."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for each in counters:
        found.setdefault(each.plugin, {})[each.hook] = {
            "calls": each.calls,
            "totalMs": round(each.total_ms, 3),
            "longestMs": round(each.longest_ms, 3),
            "failures": each.failures,
            "timeouts": each.timeouts,
        }
    file = _file(host)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(found).encode(), durable=False)


def recall_calls(host: PluginHost) -> dict[str, dict[str, Any]]:
    """Return what each plugin's hooks cost in the last run, in total and by hook; empty if there was no run."""
    try:
        stored = json.loads(_file(host).read_bytes())
        return {plugin: _summed(hooks) for plugin, hooks in stored.items() if hooks}
    except (OSError, ValueError, AttributeError, TypeError, KeyError):  # missing, or with other content
        return {}


def calls_text(sums: dict[str, Any]) -> str:
    """Return the sums of a plugin as text: ``12 calls of its hooks, 3.4 ms (longest 2.1 ms), 1 failed``."""
    calls = sums["calls"]
    text = f"{calls} call{'' if calls == 1 else 's'} of its hooks, {sums['totalMs']:.1f} ms"
    text += f" (longest {sums['longestMs']:.1f} ms)" if calls > 1 else ""
    return f"{text}, {sums['failures']} failed" if sums["failures"] else text


def _summed(hooks: dict[str, dict[str, float]]) -> dict[str, Any]:
    sums: dict[str, Any] = {name: sum(each[name] for each in hooks.values()) for name in _SUMS}
    sums["totalMs"] = round(sums["totalMs"], 3)
    return {**sums, "longestMs": max(each["longestMs"] for each in hooks.values()), "hooks": hooks}


def _file(host: PluginHost) -> Path:
    return host.settings.agent_dir / "cache" / "hook-calls.json"
