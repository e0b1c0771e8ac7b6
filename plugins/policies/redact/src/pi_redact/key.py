"""The key of the marks: generated once, stored in pi's directory, readable only by the user."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["mark_key"]

_BYTES = 32


def mark_key(agent_dir: Path) -> bytes:
    """Return the key; a new one for this process alone if it cannot be stored."""
    file = Path(agent_dir, "redact.key")
    with suppress(OSError):
        key = file.read_bytes()
        if len(key) == _BYTES:
            return key
    key = os.urandom(_BYTES)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            target.write(key)
        return key
    with suppress(OSError):  # another process made it meanwhile
        other = file.read_bytes()
        return other if len(other) == _BYTES else key
    return key
