"""JSON as people write it by hand: with ``//`` comments, and a comma too many at the end of a list."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["read_json"]

_COMMENT = r'"(?:\\.|[^"\\])*"|//[^\n]*'
_LAST_COMMA = r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])'


def read_json(text: str) -> tuple[Any, str]:
    """Return what a text says, and the text as strict JSON of the same length: lines and columns stay what they are.

    Raises:
        ValueError: It is no JSON even so (``JSONDecodeError``), or has a number of too many digits.
        RecursionError: It is nested too deeply.
    """
    try:
        return json.loads(text), text
    except json.JSONDecodeError:
        strict = re.sub(_LAST_COMMA, _blank, re.sub(_COMMENT, _blank, text))
        return json.loads(strict), strict


def _blank(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else " " * len(found)
