"""Lines for people, on stderr: stdout is the protocol's."""

from __future__ import annotations

import sys

__all__ = ["warn"]


def warn(message: str) -> None:
    """Print a line for people; editors keep it in a log."""
    if sys.stderr is not None:
        print(f"Warning: {' '.join(message.split())}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is the protocol's
