"""The limits in settings and command line options, read strictly.

A limit that silently does not apply would be worse than none, so an invalid value is an error.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from pi_budgets.amounts import MEASURES, SCOPES, SHARED
from pi_budgets.settings import GUARDED, GUARDED_SCOPES, UNKNOWN_PRICE
from pi_hookspecs import UserError, WrongUse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_hookspecs import SettingsView

__all__ = ["Budgets", "Limit", "read_budgets"]

_TIME = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


@frozen(kw_only=True)
class Limit:
    """One limit.

    Attributes:
        setting: The setting or option that it comes from.
        scope: One of ``SCOPES``, or ``start``: since pi was started.
        measure: One of ``MEASURES``, or ``turns``.
        amount: The allowed amount.
        who: The plugin or ``agent:NAME`` that it applies to; None for the total.
    """

    setting: str
    scope: str
    measure: str
    amount: float
    who: str | None = None

    @property
    def is_shared(self) -> bool:
        """Whether the usage of other processes counts, too."""
        return self.scope in SHARED


@frozen(kw_only=True)
class Budgets:
    """All limits of a session.

    Attributes:
        unknown_price: What to do with requests to models without known prices while dollars are limited.
    """

    limits: tuple[Limit, ...] = ()
    unknown_price: str = UNKNOWN_PRICE.default

    @property
    def are_shared(self) -> bool:
        """Whether any limit counts the usage of other processes."""
        return any(limit.is_shared for limit in self.limits)


def read_budgets(settings: SettingsView, option: Callable[[str], bool | str | None]) -> Budgets:
    """Return the limits in force.

    Args:
        settings: With ``budgets`` and, where the guard is enabled, ``guardrails.limits``.
        option: Returns the value of a command line option.

    Raises:
        UserError: A limit is invalid; the message names its place, setting and value.
    """
    if (why := settings.unread("budgets")) is not None:
        raise UserError(f"{why}, in a file that may set budgets")
    merged = _Merged()
    for origin, value in settings.each("budgets"):
        merged.add(_Layer(settings, origin), value)
    limits = (*merged.limits.values(), *_of_guardrails(settings), *_of_options(option))
    return Budgets(limits=limits, unknown_price=merged.unknown_price)


@define
class _Merged:
    """The merged budgets of all settings files."""

    limits: dict[tuple[str | None, str, str], Limit] = field(factory=dict)
    unknown_price: str = UNKNOWN_PRICE.default

    def add(self, layer: _Layer, value: Any) -> None:
        """Merge one file's budgets."""
        for limit, amount in layer.limits(value):
            key = (limit.who, limit.scope, limit.measure)
            if amount is None:
                self.limits.pop(key, None)
            else:
                self.limits[key] = limit
        price = layer.unknown_price(value)
        if price is not None:
            self.unknown_price = price


@frozen
class _Layer:
    """The budgets of one file."""

    settings: SettingsView
    origin: str

    def limits(self, value: Any) -> Iterator[tuple[Limit, float | None]]:
        """Yield each limit with its amount; None removes it."""
        for name, inside in self._object(("budgets",), value, ("by", "unknownPrice", *SCOPES)):
            if name == "by":
                for who, scopes in self._object(("budgets", "by"), inside):
                    for scope, measures in self._object(("budgets", "by", who), scopes, SCOPES):
                        yield from self._scope(("budgets", "by", who, scope), measures, who)
            elif name != "unknownPrice":
                yield from self._scope(("budgets", name), inside, None)

    def unknown_price(self, value: Any) -> str | None:
        """Return ``budgets.unknownPrice``; None if it is not set."""
        given: str | None = value.get("unknownPrice") if isinstance(value, dict) else None
        known = UNKNOWN_PRICE.schema["enum"]
        if given is not None and given not in known:
            raise self._error(("budgets", "unknownPrice"), _must_be(f"one of {', '.join(reversed(known))}", given))
        return given

    def _scope(self, steps: tuple[str, ...], measures: Any, who: str | None) -> Iterator[tuple[Limit, float | None]]:
        for measure, amount in self._object(steps, measures, MEASURES):
            if amount is not None and not _is_amount(amount):
                raise self._error((*steps, measure), _must_be("a number of at least 0", amount))
            setting = ".".join((*steps, measure))
            yield Limit(setting=setting, scope=steps[-1], measure=measure, amount=amount or 0, who=who), amount

    def _object(
        self, steps: tuple[str, ...], value: Any, known: tuple[str, ...] | None = None
    ) -> list[tuple[str, Any]]:
        if value is None:
            return []
        if not isinstance(value, dict):
            raise self._error(steps, _must_be("an object", value))
        for name, inside in value.items():
            if known is not None and name not in known:
                what = f"does not exist (it is set to {inside!r:.60}); use one of {', '.join(known)}"
                raise self._error((*steps, name), what)
        return [*value.items()]

    def _error(self, steps: tuple[str, ...], what: str) -> UserError:
        place = self.settings.place(steps)
        origin = place if place is not None and place.startswith(self.origin) else self.origin
        return UserError(f"setting {'.'.join(steps)} {what} ({origin})")


def _must_be(wanted: str, value: object) -> str:
    return f"must be {wanted}, not {value!r:.60}"


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0 and (isinstance(value, int) or math.isfinite(value))


def _of_guardrails(settings: SettingsView) -> Iterator[Limit]:
    """Yield ``guardrails.limits`` while the guard is enabled; if they are invalid, the guard refuses everything."""
    if settings.get("guardrails.enabled") is not True:
        return
    for scope in GUARDED_SCOPES:
        amounts = settings.get(("guardrails", "limits", scope))
        for measure, amount in amounts.items() if isinstance(amounts, dict) else ():
            if measure in GUARDED and _is_amount(amount):
                setting = f"guardrails.limits.{scope}.{measure}"
                yield Limit(setting=setting, scope=scope, measure=measure, amount=amount)


def _of_options(option: Callable[[str], bool | str | None]) -> Iterator[Limit]:
    """Yield the limits set by options, which count from the start of pi."""
    readers = {"max-cost": ("dollars", _dollars), "max-time": ("seconds", _seconds), "max-turns": ("turns", _turns)}
    for name, (measure, read) in readers.items():
        given = option(name)
        if given is not None:
            yield Limit(setting=f"--{name}", scope="start", measure=measure, amount=read(str(given)))


def _dollars(text: str) -> float:
    try:
        dollars = float(text.removeprefix("$"))
    except ValueError:
        dollars = math.nan
    if not _is_amount(dollars):
        raise WrongUse(f"--max-cost must be dollars, such as 2.50, not {text!r:.60}")
    return dollars


def _seconds(text: str) -> float:
    match = _TIME.fullmatch(text) if text else None
    if match is None:
        raise WrongUse(f"--max-time must be a time, such as 90s, 10m or 1h30m, not {text!r:.60}")
    hours, minutes, seconds = (float(each or 0) for each in match.groups())
    return 3600 * hours + 60 * minutes + seconds


def _turns(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not int(text):
        raise WrongUse(f"--max-turns must be a whole number of at least 1, not {text!r:.60}")
    return int(text)
