"""Extracts readable text from the error messages of requests.

The first line of an answer's error message is the server's status and body, complete and unchanged, because
programs parse it. Advice follows on the next line. Users need only the sentence in that body and the advice.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pi_hookspecs.deferred import frozen
from pi_hookspecs.errors import PiError
from pi_hookspecs.values import Value

__all__ = ["ErrorText", "error_sentence", "error_text"]

_STATUS = r"(?:[^:\s][^:]*\bAPI error \(\d+\):|\b\d{3}:?)\s*$"
"""The status before a body, which is removed from the text for users."""

_SENTENCES = ("message", "Message", "error_description", "detail", "msg", "description", "title", "error", "errors")
"""Keys under which APIs put their error message, in order of preference."""

_LONGEST = 600
"""Maximum length of the text in characters; some servers repeat the request in their errors."""

_DEPTH = 8


@frozen(kw_only=True, eq=False, repr=False)
class ErrorText(Value):
    """The parts of an error message.

    Attributes:
        words: Text for users: the sentence in the server's answer, or the first line if it is not JSON.
        advice: What to do; empty if the message has none.
        raw: The first line unchanged: the server's status and body.
    """

    words: str
    advice: str = ""
    raw: str = ""

    @property
    def sentences(self) -> str:
        """``words`` and ``advice`` as one text."""
        ended = not self.advice[:1].isupper() or self.words.endswith((".", "!", "?", ":"))
        return f"{self.words}{'' if ended else '.'} {self.advice}".strip()

    @property
    def is_shortened(self) -> bool:
        """Whether ``raw`` contains more than ``words``."""
        return self.words != self.raw


def error_text(message: str) -> ErrorText:
    """Split an error message into readable words, advice and the server's raw answer."""
    raw, _, advice = message.partition("\n")
    words = _words(raw)
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]}..."
    return ErrorText(words=words, advice=advice.strip(), raw=raw)


def _words(raw: str) -> str:
    """Return the line with its JSON replaced by the sentence in the JSON, and without the status before it."""
    for at in sorted(place for place in (raw.find("{"), raw.find("[")) if place >= 0):
        try:
            body, end = json.JSONDecoder().raw_decode(raw, at)
        except (ValueError, RecursionError):
            continue
        if sentence := _sentence(body):
            return f"{re.sub(_STATUS, '', raw[:at]).lstrip()}{sentence}{raw[end:]}"
    return raw


def _sentence(body: Any, depth: int = 0) -> str:
    """Return the error message in a body; empty if there is none."""
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
    """Return the text. If it is JSON of a nested error, as gateways send it, return the error message in the JSON."""
    if text[:1] not in ("{", "["):
        return text
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _sentence(body, depth + 1) or text


def error_sentence(error: BaseException) -> str:
    """Return an exception as a sentence; one that is not pi's own begins with the name of its class."""
    return str(error) if isinstance(error, PiError) and str(error) else f"{type(error).__name__}: {error}"
