"""The chain as session entries: each entry holds only what changed since the previous one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cache_lint.chain import Chain
from pi_cache_lint.first import own_entries
from pi_cache_lint.line import Line, Section
from pi_hookspecs import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import SessionEntry

__all__ = ["stored_line", "to_record"]


def to_record(line: Line) -> dict[str, Any]:
    """Return the last request of the conversation as JSON."""
    chain, usage = line.chain, line.usage
    return {
        "parameters": dict(chain.parameters),
        "tools": [[name, digest, line.owners.get(name)] for name, digest in chain.tools],
        "system": chain.system,
        "prompt": line.prompt,
        "sections": [list(each) for each in line.sections],
        "messages": list(chain.messages),
        "markers": list(chain.markers),
        "lifetime": chain.lifetime,
        "usage": [usage.input, usage.cache_read, usage.cache_write],
        "started": round(line.started, 3),
        "leaf": line.leaf,
        "level": line.level,
    }


def stored_line(entries: Iterable[SessionEntry]) -> tuple[Line | None, dict[str, Any]]:
    """Return the last request recorded in a branch's entries, and its record; None if there is none.

    A record that another version wrote, or that was edited by hand, is ignored.
    """
    record: dict[str, Any] = {}
    for each in own_entries(entries):
        data = getattr(each, "data", None)
        news = data.get("chain") if isinstance(data, dict) else None
        if isinstance(news, dict):
            try:
                record = _joined(record, news)
            except (TypeError, KeyError):
                record = {}
    try:
        return (_line(record), record) if record else (None, {})
    except (TypeError, ValueError, KeyError):
        return None, {}


def _joined(record: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
    joined = {**record, **{name: value for name, value in news.items() if name != "keep"}}
    if "messages" in news:
        joined["messages"] = [*record.get("messages", [])[: news["keep"]], *news["messages"]]
    return joined


def _line(record: dict[str, Any]) -> Line:
    read, cached, written = record["usage"]
    return Line(
        chain=Chain(
            parameters=dict(record["parameters"]),
            tools=tuple((name, digest) for name, digest, _ in record["tools"]),
            system=record["system"],
            messages=tuple(record["messages"]),
            markers=tuple(record["markers"]),
            lifetime=float(record["lifetime"]),
        ),
        usage=Usage(input=read, cache_read=cached, cache_write=written),
        started=float(record["started"]),
        leaf=record["leaf"],
        level=record["level"],
        prompt=record["prompt"],
        sections=tuple(Section(*each) for each in record["sections"]),
        owners={name: plugin for name, _, plugin in record["tools"]},
        caches=cached + written > 0,
    )
