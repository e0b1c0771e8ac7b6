"""``pi cache SESSION``: what broke the cache in a stored session."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pi_cache_lint.report import last_use, lines_of, summary_of
from pi_core import ModelRegistry, clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_core import PluginHost
    from pi_hookspecs import SessionEntry

__all__ = ["run_subcommand"]

_USAGE = """Usage: pi cache SESSION [--json]

Show what broke the provider's prompt cache in a stored session: how much of
the input was read from the cache, each break with plugin and hook, and what
it cost. SESSION is a file, an id, or the beginning of an id.
"""


def run_subcommand(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi cache`` and return the exit code.

    Raises:
        UserError: There is no such session, or it cannot be read.
    """
    if not arguments or {"-h", "--help"} & {*arguments}:
        (sys.stdout if arguments else sys.stderr).write(_USAGE)
        return 0 if arguments else 2
    as_json = "--json" in arguments
    match [each for each in arguments if each != "--json"]:
        case [session] if not session.startswith("-"):
            entries = asyncio.run(_entries(session, host))
            summary = summary_of(entries)
        case _:
            sys.stderr.write(f"Unknown arguments: {' '.join(arguments)}\n\n{_USAGE}")
            return 2
    lines = [*lines_of(summary), *_lifetime(entries, host)]
    sys.stdout.write(json.dumps(summary, indent=2) if as_json else clean_text("\n".join(lines)))
    sys.stdout.write("\n")
    return 0


def _lifetime(entries: Iterable[SessionEntry], host: PluginHost) -> list[str]:
    """Return a line on how long the provider keeps the last prompt; none where that is not known, or in the past."""
    used = last_use(entries)
    model = ModelRegistry.create(host=host).get_model(used.provider, used.model) if used is not None else None
    if used is None or model is None or model.prompt_cache is None:
        return []
    ends = used.at + model.prompt_cache.get(os.environ.get("PI_CACHE_RETENTION") or "short", 0)
    if ends <= time.time():
        return []
    return [f"{model.reference} keeps the last prompt until {time.strftime('%H:%M:%S', time.localtime(ends))}"]


async def _entries(session: str, host: PluginHost) -> Sequence[SessionEntry]:
    from pi_core import StoredSessions, resolve_store

    opened = await StoredSessions(lambda: resolve_store(host=host), Path.cwd()).open(session)
    return opened.entries()
