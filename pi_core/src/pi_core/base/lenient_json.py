"""JSON as people write it by hand: with ``//`` and ``/* */`` comments and trailing commas."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["read_json"]

_COMMENT = r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*[\s\S]*?\*/'
_LAST_COMMA = r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])'


def read_json(text: str) -> tuple[Any, str]:
    """Return the value of a text, and the text as strict JSON with the same lines and columns.

    Raises:
        ValueError: The text is not JSON even so (``JSONDecodeError``), or contains a number with too many digits.
        RecursionError: The text is nested too deeply.
    """
    try:
        return json.loads(text), text
    except json.JSONDecodeError:
        strict = re.sub(_LAST_COMMA, _blank, re.sub(_COMMENT, _blank, text))
        return json.loads(strict), strict


def _blank(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
