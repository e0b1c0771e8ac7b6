"""Environment variables that set plugins' settings: what their texts mean, by the schema of the setting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_core.settings.sources import Layer
from pi_core.settings.values import nested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pi_core.settings.declared import DeclaredSetting

__all__ = ["layers_of_variables"]


def layers_of_variables(
    declared: Iterable[DeclaredSetting], read: Callable[[str], str | None], report: Callable[[str], None]
) -> Iterator[Layer]:
    """Yield a layer for each variable that is set. Of several declarations of one setting, the first counts.

    Args:
        declared: The settings of plugins.
        read: Returns the text of a variable; None if it is not set.
        report: Called with a sentence about a variable whose text is not a value of its setting.
    """
    seen = set()
    for each in declared:
        if each.steps in seen:
            continue
        seen.add(each.steps)
        text = read(each.variable) if each.variable is not None else None
        if each.variable is None or text is None:
            continue
        words = _words(each.schema)
        if words is not None and text not in words:
            *others, last = words
            report(f"{each.variable} must be {', '.join(others)} or {last}, not {text!r}; it is ignored.")
            continue
        try:
            value = words[text] if words is not None else _value(text, each.schema)
        except ValueError:
            report(f"{each.variable} must be a JSON value, not {text!r}; it is ignored.")
            continue
        yield Layer(each.variable, nested(each.steps, value))


def _words(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the texts that a variable may have, with their values; None if it may have others."""
    values = schema.get("enum") or ([True, False] if schema.get("type") == "boolean" else [])
    words = {str(int(each)) if isinstance(each, bool) else str(each): each for each in values if each is not None}
    return words or None


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "string")
    return text if kind == "string" or "string" in kind else json.loads(text)
