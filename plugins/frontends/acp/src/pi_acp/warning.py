"""Log lines on stderr, because stdout belongs to the protocol."""

from __future__ import annotations

import sys

__all__ = ["warn"]


def warn(message: str) -> None:
    """Print a line to stderr, which editors log."""
    if sys.stderr is not None:
        print(f"Warning: {' '.join(message.split())}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is the protocol's
