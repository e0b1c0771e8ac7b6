"""``--html``: the outcomes of replays as one page without scripts, links or anything from the network."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from pi_replay.show import difference, matrix_rows, percent, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_replay.matrix import Outcome

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.7rem 0; }
th, td { border-bottom: 1px solid #8884; padding: 0.2rem 0.9rem 0.2rem 0; text-align: left; vertical-align: top; }
pre { overflow-x: auto; border-left: 3px solid #c33; padding-left: 0.8rem; white-space: pre-wrap; }
summary { cursor: pointer; }
.equal::before { content: "= "; color: #282; } .other::before { content: "\\2260  "; color: #c33; }
"""
_TURNS = ("turn", "calls", "arguments", "text", "dollars", "cache", "prompt")


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the page: the table of all replays, then the prompts and the divergence of each."""
    names = [*dict.fromkeys(each.name for each in outcomes)]
    title = f"Replay of {names[0]}" if len(names) == 1 else f"Replay of {len(names)} sessions"
    head, *rows = matrix_rows(outcomes)
    parts = [f"<h1>{_text(title)}</h1>", f"<p>{_text(verdict(outcomes))}</p>", *_table(head, rows)]
    parts += [line for each in outcomes for line in _details(each)]
    before = ['<!doctype html><html lang="en"><meta charset="utf-8">', f"<title>{_text(title)}</title>"]
    return "\n".join([*before, f"<style>{_STYLE}</style><body>", *parts, "</body></html>", ""])


def _details(outcome: Outcome) -> Iterator[str]:
    name = " x ".join(outcome.cell.names)
    state, opened = ("equal", "") if outcome.is_equal else ("other", " open")
    yield f'<details{opened}><summary class="{state}">{_text(f"{outcome.name}: {name}")}</summary>'
    report = outcome.report or {"turns": [], "divergence": None, "error": None, "notes": [], "file": None}
    yield from _table(_TURNS, map(_turn, report["turns"]))
    if (found := report["divergence"]) is not None:
        recorded = "no more calls" if found["recorded"] is None else _call(found["recorded"])
        yield f"<p>It diverges at prompt {found['turn']} (entry {_text(found['entry'])}):</p>"
        yield f"<pre>recorded: {_text(recorded)}\nreplayed: {_text(_call(found['call']))}</pre>"
    for line in (outcome.error, report["error"], *report["notes"]):
        if line is not None:
            yield f"<p>{_text(line)}</p>"
    if report["file"] is not None:
        yield f"<p>The new session: <code>{_text(report['file'])}</code></p>"
    yield "</details>"


def _turn(turn: dict[str, Any]) -> tuple[str, ...]:
    was, now = turn["recorded"], turn["replayed"]
    old, new, changed = len(was["calls"]), len(now["calls"]), turn["changedArguments"]
    return (
        str(turn["turn"]),
        f"{old} equal" if turn["equalCalls"] else f"{old} -> {new}",
        f"{changed} changed" if changed else "equal",
        difference(turn["textDistance"]),
        f"{was['dollars']:.4f} -> {now['dollars']:.4f}",
        " -> ".join(map(percent, (was["cacheRate"], now["cacheRate"]))),
        turn["prompt"],
    )


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"<table><tr>{''.join(f'<th>{_text(each)}</th>' for each in head)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_text(each)}</td>' for each in row)}</tr>"
    yield "</table>"


def _call(call: dict[str, Any]) -> str:
    return f"{call['name']} {json.dumps(call['arguments'], sort_keys=True, ensure_ascii=False)}"


def _text(text: str) -> str:
    """Return a text as HTML; lone surrogates, which no encoding has, become question marks."""
    return escape(text.encode("utf-8", "replace").decode())
