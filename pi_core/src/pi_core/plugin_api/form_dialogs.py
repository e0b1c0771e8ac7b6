"""Forms for front ends without form support: one dialog per field, with the dialogs that every front end has."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pi_core.plugin_api.form_values import check_fields, problem_of, read_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from pi_hookspecs import AbortSignal, FormField, UserInterface

__all__ = ["ask_fields", "ask_form"]

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
                problem = problem_of(field, value) if value is not _LEFT_OUT and value is not _DISMISSED else None
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
