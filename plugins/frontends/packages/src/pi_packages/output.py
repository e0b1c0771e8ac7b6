"""Output: results to stdout, progress to stderr, without control characters."""

from __future__ import annotations

import json
import sys

from pi_core import clean_text

__all__ = ["print_json", "print_lines", "say"]


def print_lines(*lines: str) -> None:
    """Write lines to stdout."""
    sys.stdout.writelines(f"{clean_text(line)}\n" for line in lines)


def print_json(value: object) -> None:
    """Write a value to stdout as indented JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def say(line: str) -> None:
    """Write a line to stderr."""
    if sys.stderr is not None:
        sys.stderr.write(f"{clean_text(line)}\n")
        sys.stderr.flush()
