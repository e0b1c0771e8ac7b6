"""Says at the first start with files of the original pi what of them has no effect here, each thing once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pi_packages.checks import object_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pi_hookspecs import PiAPI, PiContext

__all__ = ["say_what_has_no_effect"]

_TOLD = "original.json"
"""A file in the cache: ``{"files": ..., "told": [...]}``, the files as they were, and all that was said of them."""

_FILES = ("settings.json", "auth.json", "mcp.json", "models.json")
_SHOWN = 6
"""Things that are named; of more, the number is."""

_FOR_PROGRAMS = ("rpc", "acp")
"""Front ends where a notice is for the program that drives pi, and not for a person."""


def say_what_has_no_effect(pi: PiAPI) -> None:
    """Say it when a session starts and the files are not those of which everything was said."""

    def on_session_start(ctx: PiContext) -> None:
        if ctx.mode not in _FOR_PROGRAMS:
            news = _news(ctx.settings.agent_dir, ctx.cwd)
            if news:
                ctx.ui.notify(_block(news))

    pi.on("session_start", on_session_start)


def _news(agent_dir: Path, cwd: Path) -> list[str]:
    """Return what was not said before; nothing if it cannot be stored that it was said."""
    marker = agent_dir / "cache" / _TOLD
    files = [*_sizes_and_times(agent_dir)]
    before = object_in(marker)
    if before.get("files") == files:
        return []
    from pi_core import PluginHost, make_cache, replace_file
    from pi_core.settings import Settings
    from pi_packages.original import unnoticed

    host = PluginHost(Settings.load(cwd, agent_dir))  # of the user alone: a project's settings are not asked for
    told = [each for each in before.get("told", ()) if isinstance(each, str)]
    news = [f"{row['check']}: {row['message']}" for row in unnoticed(host)]
    news = [each for each in news if each not in told]
    try:
        make_cache(marker.parent)
        replace_file(marker, json.dumps({"files": files, "told": [*told, *news]}).encode(), durable=False)
    except OSError:
        return []
    return news


def _sizes_and_times(agent_dir: Path) -> Iterator[list[int]]:
    for name in _FILES:
        try:
            found = (agent_dir / name).stat()
        except OSError:
            yield []
        else:
            yield [found.st_size, found.st_mtime_ns]


def _block(news: Sequence[str]) -> str:
    more = len(news) - _SHOWN
    return "\n".join(
        [
            "These parts of your files for the original pi have no effect here:",
            *(f"- {each}" for each in news[:_SHOWN]),
            *([f"- ... and {more} more"] if more > 0 else []),
            "pi doctor --original says what to do, also about packages and extensions. This is said once.",
        ]
    )
