"""Parses and validates the values of a form's fields, for front ends and for the dialogs that replace a form."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import FormField

__all__ = ["check_fields", "entered_values", "problem_of", "read_text"]


def check_fields(fields: Sequence[FormField]) -> None:
    """Check that a form can be answered.

    Raises:
        TypeError: An item is not a field.
        ValueError: There are no fields, or two fields have the same name.
    """
    from pi_hookspecs import FormField

    for each in fields:
        if not isinstance(each, FormField):
            raise TypeError(f"a form takes FormField values, as in ctx.ui.form([FormField('name')]), not {each!r:.60}")
    names = [each.name for each in fields]
    if not names:
        raise ValueError("a form needs at least one field, as in ctx.ui.form([FormField('name')])")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two fields of the form are called {name!r}; the answer has one value for each name")


def read_text(field: FormField, text: str) -> Any:
    """Return the value of a ``text``, ``number`` or ``integer`` field from the typed text.

    Raises:
        ValueError: The text is not such a number; the message is written for the user.
    """
    if field.type == "text":
        return text
    try:
        return int(text) if field.type == "integer" else float(text)
    except ValueError:
        raise ValueError(f"{field.label} is {_KINDS[field.type]}, not {text!r:.60}") from None


def entered_values(fields: Sequence[FormField], entered: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Parse the input of all fields of a form.

    Args:
        fields: The fields of the form.
        entered: The input by field name: the text of a field that is typed, the value of any other field; None, an
            empty text or an empty list if nothing was entered.

    Returns:
        Two dicts by field name: the valid values, without fields that were left empty, and the problems of the others.
    """
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for field in fields:
        value = entered.get(field.name)
        if value in (None, "", []) and field.default is not None and field.type != "choices":
            value = field.default
        elif value in (None, "", []):
            if field.required:
                problems[field.name] = f"{field.label} is required"
            continue
        try:
            value = read_text(field, value) if field.type in _TYPED and isinstance(value, str) else value
            problem = problem_of(field, value)
        except ValueError as error:
            problem = str(error)
        if problem is None:
            values[field.name] = value
        else:
            problems[field.name] = problem
    return values, problems


def problem_of(field: FormField, value: Any) -> str | None:
    """Return what is wrong with a value, as a sentence for the user; None if nothing is."""
    if not _has_type(field, value):
        return f"{field.label} is {_KINDS[field.type]}, not {value!r:.60}"
    if field.type in ("choice", "choices"):
        known = {each.value for each in field.options}
        unknown = [each for each in (value if field.type == "choices" else [value]) if each not in known]
        if unknown:
            return f"{field.label}: {unknown[0]!r:.60} is none of {', '.join(map(repr, sorted(known)))}"
    problem = _size_problem(field, value)
    if problem is not None:
        return problem
    if field.pattern is not None and isinstance(value, str) and re.search(field.pattern, value) is None:
        return f"{field.label} does not fit {field.pattern}"
    return field.check(value) if field.check is not None else None


_TYPED = ("text", "number", "integer")

_KINDS = {
    "text": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "yes or no",
    "choice": "one of its options",
    "choices": "a list of its options",
}


def _has_type(field: FormField, value: Any) -> bool:
    if field.type == "boolean":
        return isinstance(value, bool)
    if field.type in ("number", "integer"):
        allowed = int if field.type == "integer" else int | float
        return isinstance(value, allowed) and not isinstance(value, bool) and math.isfinite(value)
    if field.type == "choices":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, str)


def _size_problem(field: FormField, value: Any) -> str | None:
    if field.type in ("boolean", "choice"):
        return None
    counted = {"text": " characters", "choices": " of its options"}.get(field.type, "")
    size, verb = (len(value), "have") if counted else (value, "be")
    if field.minimum is not None and size < field.minimum:
        return f"{field.label} must {verb} at least {field.minimum:g}{counted}"
    if field.maximum is not None and size > field.maximum:
        return f"{field.label} must {verb} at most {field.maximum:g}{counted}"
    return None
