"""The settings of redaction, and the user's own patterns, which are tested before use."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs import UserError
from pi_redact.settings import ENABLED, PATTERNS, PROVIDER, STRICT

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["Options", "read_options"]

_PROBE = "key = " + "aA0_-/+=.:" * 400 + "!\n" + " " * 4000 + "a" * 4000 + "!"
_PROBE_SECONDS = 0.05


@frozen(kw_only=True)
class Options:
    """The settings in force.

    Attributes:
        provider: Whether the provider gets marks, too.
        strict: Whether values of key-like names are replaced, and invalid patterns prevent the start.
        patterns: The user's own patterns, by name.
        problems: Patterns that are not used, and why.
    """

    provider: bool = False
    strict: bool = False
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    problems: tuple[str, ...] = ()


def read_options(settings: SettingsView) -> Options | None:
    """Return the settings in force; None if redaction is off.

    Raises:
        UserError: A pattern cannot be used, and ``redact.strict`` is set.
    """
    if not ENABLED.read(settings):
        return None
    strict = STRICT.read(settings)
    patterns, problems = [], []
    for text in PATTERNS.read(settings):
        try:
            patterns.append(("custom", _tried(text)))
        except ValueError as error:
            problems.append(f"setting redact.patterns: {text!r:.200} is not used: {error}")
    if problems and strict:
        raise UserError(f"{problems[0]} ({settings.place(PATTERNS.name)})")
    provider = PROVIDER.read(settings)
    return Options(provider=provider, strict=strict, patterns=tuple(patterns), problems=tuple(problems))


def _tried(text: str) -> re.Pattern[str]:
    """Compile a pattern and check that it is fast enough.

    Raises:
        ValueError: It is not.
    """
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError) as error:
        raise ValueError(f"it is not a regular expression: {error}") from error
    except RecursionError as error:
        raise ValueError("its groups are nested too deeply") from error
    if pattern.match(""):
        raise ValueError("it matches the empty string")
    length = 8.0
    while length < len(_PROBE):
        begin = time.thread_time()
        pattern.search(_PROBE[-int(length) :])
        if time.thread_time() - begin > _PROBE_SECONDS:
            raise ValueError(f"it takes more than {_PROBE_SECONDS * 1000:g} ms for {int(length)} characters")
        length *= 1.2  # in small steps: a pattern that goes through all combinations never ends on a long text
    return pattern
