"""Fetches what is known of models once a day, in a process of its own, if the user has turned that on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core import is_offline
from pi_core.models.registry import FETCHED_MODELS
from pi_packages.settings import UPDATE_MODELS

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import PiAPI, PiContext

__all__ = ["follow_models", "is_due"]

_DAY_SECONDS = 86_400.0
_TRIED = "tried"
"""Its time of change is the last try: a registry that does not answer is not asked at each start."""


def follow_models(pi: PiAPI) -> None:
    """Fetch models when a session starts and a day has passed."""

    def on_session_start(ctx: PiContext) -> None:
        folder = ctx.settings.agent_dir / FETCHED_MODELS
        if UPDATE_MODELS.read(ctx.settings) and not is_offline(os.environ) and is_due(folder, time.time()):
            _start(folder)

    pi.on("session_start", on_session_start)


def is_due(folder: Path, now: float) -> bool:
    """Whether no session has fetched models within a day; one that finds so is the one that does."""
    tried = folder / _TRIED
    with suppress(OSError):
        if 0 <= now - tried.stat().st_mtime < _DAY_SECONDS:
            return False
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tried.touch()
    except OSError:  # a read-only folder, where nothing could be stored
        return False
    return True


def _start(folder: Path) -> None:
    """Start ``pi update --models``; it outlives this process, and its result counts from the next start."""
    command = [sys.executable, "-P", "-m", "pi_cli", "update", "--models", "--in-background"]
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603 - this very program
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
