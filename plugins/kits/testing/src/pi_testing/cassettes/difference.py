"""The first difference between a request and the recorded one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pi_testing.cassettes.file import RecordedRequest

__all__ = ["Difference", "first_difference"]

_NOTHING: Any = object()
_SHOWN = 160
_BEFORE = 40


@frozen
class Difference:
    """Where two requests differ.

    Attributes:
        path: Such as ``body.messages[1].content[0].text``.
    """

    path: str
    recorded: str
    actual: str

    def __str__(self) -> str:
        return f"  at {self.path}\n    recorded: {self.recorded}\n    actual:   {self.actual}"


def first_difference(
    recorded: RecordedRequest, actual: RecordedRequest, ignored: Collection[str] = ()
) -> Difference | None:
    """Return it; None if the requests are the same. Headers do not count: most name the machine or the moment.

    Args:
        recorded: What the cassette has.
        actual: What was sent now, without its secrets.
        ignored: Paths of what may differ, ``[*]`` for every element of a list.
    """
    found = (each for each in _differences(_seen(recorded), _seen(actual)) if not _is_ignored(each[0], ignored))
    for path, one, other in found:
        return Difference(path, *_shown(one, other))
    return None


def _seen(request: RecordedRequest) -> dict[str, Any]:
    """Return a request as a tree, in the order in which it is compared."""
    url, _, query = request.url.partition("?")
    return {
        "method": request.method,
        "url": url,
        "query": dict(parse_qsl(query, keep_blank_values=True)),
        "body": request.body,
    }


def _differences(recorded: Any, actual: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(recorded, dict) and isinstance(actual, dict):
        for name in (*recorded, *(name for name in actual if name not in recorded)):
            below = f"{path}.{name}" if path else str(name)
            yield from _differences(recorded.get(name, _NOTHING), actual.get(name, _NOTHING), below)
    elif isinstance(recorded, list) and isinstance(actual, list):
        for number in range(max(len(recorded), len(actual))):
            one, other = (each[number] if number < len(each) else _NOTHING for each in (recorded, actual))
            yield from _differences(one, other, f"{path}[{number}]")
    elif type(recorded) is not type(actual) or recorded != actual:
        yield path, recorded, actual


def _is_ignored(path: str, ignored: Collection[str]) -> bool:
    """Whether a path, or what it is a part of, is one of those."""
    anywhere = re.sub(r"\[\d+\]", "[*]", path)
    return any(
        each == known or each.startswith((f"{known}.", f"{known}[")) for each in (path, anywhere) for known in ignored
    )


def _shown(recorded: Any, actual: Any) -> tuple[str, str]:
    """Return both values as JSON; of long texts the part around the first character that differs."""
    start = 0
    if isinstance(recorded, str) and isinstance(actual, str) and max(len(recorded), len(actual)) > _SHOWN:
        pairs = zip(recorded, actual, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(recorded), len(actual)))
        start = max(0, same - _BEFORE)
    return _said(recorded, start), _said(actual, start)


def _said(value: Any, start: int) -> str:
    if value is _NOTHING:
        return "(nothing)"
    if isinstance(value, str):
        before, value = "... " if start else "", value[start:]
    else:
        before = ""
    text = json.dumps(value, ensure_ascii=False)
    return before + (text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ...")
