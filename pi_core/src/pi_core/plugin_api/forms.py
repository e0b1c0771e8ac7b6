"""Forms: their values, parsed and validated, and one dialog per field for front ends without form support."""

from __future__ import annotations

import math
import re
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from pi_hookspecs import AbortSignal, FormField, UserInterface

__all__ = ["ask_fields", "ask_form", "check_fields", "entered_values", "field_problem", "read_text"]


def check_fields(fields: Sequence[FormField]) -> None:
    """Check that a form can be answered.

    Raises:
        TypeError: An item is not a field.
        ValueError: There are no fields, or two fields have the same name.
    """
    from pi_hookspecs import FormField

    for each in fields:
        if not isinstance(each, FormField):
            raise TypeError(
                f"a form takes FormField values, such as ctx.ui.form([FormField('name')]), not {each!r:.60}"
            )
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
        raise ValueError(f"{field.label} must be {_KINDS[field.type]}, not {text!r:.60}") from None


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
            problem = field_problem(field, value)
        except ValueError as error:
            problem = str(error)
        if problem is None:
            values[field.name] = value
        else:
            problems[field.name] = problem
    return values, problems


def field_problem(field: FormField, value: Any) -> str | None:
    """Return what is wrong with a value, as a sentence for the user; None if nothing is."""
    if not _has_type(field, value):
        return f"{field.label} must be {_KINDS[field.type]}, not {value!r:.60}"
    if field.type in ("choice", "choices"):
        known = {each.value for each in field.options}
        unknown = [each for each in (value if field.type == "choices" else [value]) if each not in known]
        if unknown:
            return f"{field.label}: {unknown[0]!r:.60} is not one of {', '.join(map(repr, sorted(known)))}"
    problem = _size_problem(field, value)
    if problem is not None:
        return problem
    if field.pattern is not None and isinstance(value, str) and re.search(field.pattern, value) is None:
        wrong = f": {field.description}" if field.description else f" does not match {field.pattern}"
        return field.label + wrong
    return field.check(value) if field.check is not None else None


_TYPED = ("text", "number", "integer")

_KINDS = {
    "text": "text",
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


_TRIES = 3
"""How many attempts a user has to give a valid value for a field."""

_DONE = "Done"

_LEFT_OUT: Any = object()
_DISMISSED: Any = object()


async def ask_form(ui: Any, fields: Sequence[FormField], **how: Any) -> dict[str, Any] | None:
    """Return the answer to a form, from the front end's own ``form`` if it has one, else from ``ask_fields``.

    Raises:
        ValueError: The form cannot be answered: it has no fields, or two fields with the same name.
    """
    fields = tuple(fields)
    check_fields(fields)
    asks = getattr(ui, "form", None)
    answer: dict[str, Any] | None = await (asks(fields, **how) if asks is not None else ask_fields(ui, fields, **how))
    return answer


async def ask_fields(
    ui: UserInterface,
    fields: Sequence[FormField],
    *,
    title: str = "",
    message: str = "",
    signal: AbortSignal | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - as of the other dialogs
    select: Callable[..., Awaitable[str | None]] | None = None,
) -> dict[str, Any] | None:
    """Return the values by field name; None if a dialog is dismissed. See ``FullUserInterface.form``.

    Args:
        ui: The user interface whose dialogs are used.
        fields: The fields of the form.
        title: The title of the form.
        message: An explanation for the user.
        signal: An abort signal that dismisses the form.
        timeout: Seconds for the whole form.
        select: A replacement for ``ui.select`` that also accepts ``default=``, the option that the user chooses by
            entering nothing.
    """
    asking = _Asking(ui, title, signal, timeout, select)
    if message:
        ui.notify(f"{title}: {message}" if title else message)
    answer = {}
    for field in fields:
        value = await asking.value_of(field)
        if value is _DISMISSED:
            return None
        if value is not _LEFT_OUT:
            answer[field.name] = value
    return answer


class _Asking:
    """The dialogs of one form; ``seconds`` is the limit for all of them together."""

    def __init__(
        self,
        ui: UserInterface,
        title: str,
        signal: AbortSignal | None,
        seconds: float | None,
        select: Callable[..., Awaitable[str | None]] | None,
    ) -> None:
        self._ui = ui
        self._select_or_default = select
        self._title = title
        self._signal = signal
        self._end = None if seconds is None else time.monotonic() + seconds

    async def value_of(self, field: FormField) -> Any:
        """Return a valid value, ``_LEFT_OUT`` or ``_DISMISSED``."""
        ask = {"boolean": self._choose, "choice": self._choose, "choices": self._choose_several}.get(
            field.type, self._type
        )
        for _ in range(_TRIES):
            try:
                value = await ask(field)
                problem = field_problem(field, value) if value is not _LEFT_OUT and value is not _DISMISSED else None
            except ValueError as error:
                problem = str(error)
            if problem is None:
                return value
            self._ui.notify(problem, "warning")
        return _DISMISSED

    async def _type(self, field: FormField) -> Any:
        default = f"default: {field.default}" if field.default is not None else ""
        optional = "" if field.required or default else "may be left empty"
        hint = ", ".join(filter(None, [field.description, default, optional]))
        text = await self._ui.input(self._title_of(field), hint or None, **self._limits())
        if text is None:
            return _DISMISSED
        if text:
            return read_text(field, text)
        if field.default is not None:
            return field.default
        if field.required:
            raise ValueError(f"{field.label} is required")
        return _LEFT_OUT

    async def _choose(self, field: FormField) -> Any:
        values: dict[str, Any] = dict(_labelled(field)) if field.type == "choice" else {"Yes": True, "No": False}
        choices = {_with_default(label, value == field.default): value for label, value in values.items()}
        if not field.required and field.default is None:
            choices["(leave out)"] = _LEFT_OUT
        default = next((label for label, value in choices.items() if value in (field.default, _LEFT_OUT)), None)
        chosen = await self._select(self._title_of(field, field.description), list(choices), default)
        return _DISMISSED if chosen is None else choices.get(chosen, _DISMISSED)

    async def _choose_several(self, field: FormField) -> Any:
        """Let the user mark options one by one, until they choose ``Done``."""
        marked = set(field.default or ())
        labels = dict(_labelled(field))
        title = self._title_of(field, field.description)
        while True:
            rows = {f"[{'x' if value in marked else ' '}] {label}": value for label, value in labels.items()}
            chosen = await self._select(title, [*rows, _DONE], _DONE)
            if chosen == _DONE:
                break
            if chosen not in rows:
                return _DISMISSED
            marked ^= {rows[chosen]}
        if not marked and not field.required and field.default is None:
            return _LEFT_OUT
        if not marked and field.required:
            raise ValueError(f"{field.label} is required")
        return [each.value for each in field.options if each.value in marked]

    async def _select(self, title: str, options: list[str], default: str | None) -> str | None:
        if self._select_or_default is None:
            return await self._ui.select(title, options, **self._limits())
        return await self._select_or_default(title, options, default=default, **self._limits())

    def _title_of(self, field: FormField, description: str = "") -> str:
        title = f"{self._title}: {field.label}" if self._title else field.label
        return f"{title} ({description})" if description else title

    def _limits(self) -> dict[str, Any]:
        left = None if self._end is None else max(self._end - time.monotonic(), 0.0)
        return {"signal": self._signal, "timeout": left}


def _labelled(field: FormField) -> Iterator[tuple[str, str]]:
    """Yield each option's label, which is unique, with its value."""
    labels = [each.label for each in field.options]
    for option in field.options:
        is_unique = labels.count(option.label) == 1
        yield (option.label if is_unique else f"{option.label} ({option.value})"), option.value


def _with_default(label: str, is_default: bool) -> str:  # noqa: FBT001 - one of two states
    return f"{label} (default)" if is_default else label
