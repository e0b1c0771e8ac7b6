"""Converts an answer to the JSON object that a request asks for: numbers, lines or text, by the schema's types."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pi_provider_offline.conversation import SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FENCED = re.compile(r"```\n(.*?)\n?```", re.DOTALL)


def as_json(text: str, schema: Mapping[str, Any]) -> str:
    """Return a text as JSON of the schema's types; the schema's limits are not looked at."""
    return json.dumps(_value(text.removesuffix(SIGNATURE).strip(), schema, ""), ensure_ascii=False)


def _value(text: str, schema: Mapping[str, Any], name: str) -> Any:
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if choices:
        return _value(text, choices[0], name)
    if "enum" in schema:
        return next((each for each in schema["enum"] if str(each).lower() in text.lower()), schema["enum"][0])
    kind = schema.get("type")
    if kind == "object":
        return {each: _value(text, part, each) for each, part in schema.get("properties", {}).items()}
    if kind == "array":
        lines = "\n".join(_FENCED.findall(text)) or text
        return [_value(line, schema.get("items", {}), name) for line in lines.splitlines() if line.strip()]
    if kind in ("integer", "number"):
        named = re.search(rf"(-?\d+) {re.escape(name)}\b", text)  # "4 words"
        found = (named[1] if named else None) or next(iter(_NUMBER.findall(text)), "0")
        return int(float(found)) if kind == "integer" else float(found)
    return {"boolean": bool(text), "null": None}.get(str(kind), text)
