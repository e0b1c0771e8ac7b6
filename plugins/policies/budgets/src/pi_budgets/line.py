"""Appends to the ledger: ``usage/ledger.jsonl`` in the agent directory, one line per request.

All of a user's processes write to it. Each line is one ``write`` to a file opened for appending, so that lines of
several processes do not mix. A line contains numbers and names, never prompts or answers. Every session writes lines,
most of them without any budget, so the code that reads the ledger is in a separate module.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["append_line", "check_is_file", "ledger_file", "today"]


def ledger_file(agent_dir: str | os.PathLike[str]) -> str:
    """Return the ledger's path."""
    return os.path.join(agent_dir, "usage", "ledger.jsonl")


def today() -> str:
    """Return today's date in local time, ISO 8601."""
    return datetime.now().astimezone().date().isoformat()


def append_line(file: str, line: Mapping[str, Any]) -> None:
    """Append a line, after terminating one that a killed process left unfinished.

    Args:
        file: The ledger.
        line: The fields of ``Line`` in ``ledger.py``.

    Raises:
        OSError: It cannot be written.
    """
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"
    check_is_file(file)
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            if os.read(descriptor, 1) != b"\n":
                text = b"\n" + text
        while text:
            text = text[os.write(descriptor, text) :]
    finally:
        os.close(descriptor)


def check_is_file(path: str) -> bool:
    """Return whether a file exists; opening a pipe or a device would wait, or never end.

    Raises:
        OSError: It is something else than a file.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is not a file. Move it away; a new ledger is then started")
    return True
