"""What went wrong with a request, in the words that a person reads.

The error message of an answer begins with what the server said, status and body, whole and on one line, because
programs parse it. Advice follows on a line of its own. A person wants the sentence in that body, and the advice.
"""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import frozen

from pi_hookspecs.values import Value

__all__ = ["ErrorText", "error_text"]

_STATUS = re.compile(r"(?:[^:\s][^:]*\bAPI error \(\d+\):|\b\d{3}:?)\s*$")
"""The status before a body, which means nothing to a person."""

_SENTENCES = ("message", "Message", "error_description", "detail", "msg", "description", "title", "error", "errors")
"""Where APIs put their sentence, the surest place first."""

_LONGEST = 600
"""Characters of a server's words that are displayed; some repeat the request."""

_DEPTH = 8


@frozen(kw_only=True, eq=False, repr=False)
class ErrorText(Value):
    """An error message, taken apart.

    Attributes:
        words: For people: the sentence in the server's answer, or the first line where that is no JSON.
        advice: What to do; empty where the message does not say.
        raw: The first line as it is: what the server said.
    """

    words: str
    advice: str = ""
    raw: str = ""

    @property
    def sentences(self) -> str:
        """Words and advice, one after the other."""
        ended = not self.advice[:1].isupper() or self.words.endswith((".", "!", "?", ":"))
        return f"{self.words}{'' if ended else '.'} {self.advice}".strip()

    @property
    def is_shortened(self) -> bool:
        """Whether the server said more than the words."""
        return self.words != self.raw


def error_text(message: str) -> ErrorText:
    """Return the words, the advice and the raw answer of an error message."""
    raw, _, advice = message.partition("\n")
    words = _words(raw)
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]}..."
    return ErrorText(words=words, advice=advice.strip(), raw=raw)


def _words(raw: str) -> str:
    """Return the line with the sentence of its JSON in place of that, and without the status before it."""
    for at in sorted(place for place in (raw.find("{"), raw.find("[")) if place >= 0):
        try:
            body, end = json.JSONDecoder().raw_decode(raw, at)
        except (ValueError, RecursionError):
            continue
        if sentence := _sentence(body):
            return f"{_STATUS.sub('', raw[:at]).lstrip()}{sentence}{raw[end:]}"
    return raw


def _sentence(body: Any, depth: int = 0) -> str:
    """Return the sentence that a body says; empty where it says none."""
    if depth > _DEPTH:
        return ""
    if isinstance(body, str):
        return _inner(body.strip(), depth)
    if isinstance(body, list):
        found = (_sentence(each, depth + 1) for each in body)
        return next(filter(None, found), "")
    if not isinstance(body, dict):
        return ""
    nested = body.get("error")
    if isinstance(nested, dict) and (sentence := _sentence(nested, depth + 1)):
        return sentence
    found = (_sentence(body[name], depth + 1) for name in _SENTENCES if name in body)
    return next(filter(None, found), "")


def _inner(text: str, depth: int) -> str:
    """Return the text, or the sentence of JSON that a gateway put into it."""
    if text[:1] not in ("{", "["):
        return text
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _sentence(body, depth + 1) or text
