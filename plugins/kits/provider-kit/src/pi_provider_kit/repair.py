"""Repair of tool arguments that are almost JSON, where the intended value is unambiguous.

Repaired are: a fence around the object, an object written as a JSON string, an empty object before or brackets behind
the real one, trailing commas, keys without quotes, Python's ``True``, ``False``, ``None`` and single quotes, raw line
breaks and tabs inside strings, backslashes that begin no escape of JSON (LaTeX, patterns), ``<parameter=name>``
elements, an empty list or text in place of an empty object, and an object that was sent again from its beginning.
Missing data is never invented: an open string, object or list stays an error, because the rest of it is missing.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from pi_provider_kit.written_calls import xml_parameters

__all__ = ["repair_arguments"]

_DEPTH = 100

_FENCE = re.compile(r"\A```[a-zA-Z0-9]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_CODE_UNIT = re.compile(r"[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?")
_PLAIN = re.compile(r"""[^"'\\\x00-\x1f]+""")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_RAW = {"\n": "line breaks", "\r": "line breaks", "\t": "tabs"}


def repair_arguments(text: str) -> tuple[dict[str, Any], str] | None:
    """Return the repaired arguments and a note of the repairs, None if they are ambiguous.

    Only for the text of a call that the provider closed, in a message that did not stop for length; the
    ``AnswerBuilder`` of this kit does that.
    """
    notes: dict[str, None] = {}
    text = text.strip()
    fenced = _FENCE.match(text)
    if fenced:
        notes["a code fence"] = None
        text = fenced[1].strip()
    elements = xml_parameters(text)
    if elements is not None:
        notes["parameters written as XML elements"] = None
        return elements, _note(notes)
    text = _unquoted(text, notes)
    if text == "[]" or (notes and not text):
        notes["no object at all"] = None
        return {}, _note(notes)
    text = _sent_again(text, notes)
    try:
        value = _Reader(text, notes).arguments()
    except (_Ambiguous, ValueError):  # ValueError: a number of more digits than Python reads
        return None
    return value, _note(notes)


def _note(notes: dict[str, None]) -> str:
    return f"Repaired the arguments: {', '.join(notes)}" if notes else "Repaired the arguments"


def _unquoted(text: str, notes: dict[str, None]) -> str:
    """Return the object inside a JSON string, or the unchanged text."""
    if text[:1] == '"':
        try:
            inner = json.loads(text)
        except ValueError:
            return text
        if isinstance(inner, str):
            notes["an object inside a string"] = None
            return inner.strip()
    return text


def _sent_again(text: str, notes: dict[str, None]) -> str:
    """Return the complete object at the end of a text whose rest is beginnings of it, or the unchanged text.

    Some servers send the arguments once in pieces and then as a whole, or begin anew.
    """
    at = text.find("{", 1)
    while at > 0:
        whole = text[at:]
        if _are_beginnings(text[:at].rstrip(), whole) and _is_object(whole):
            notes["arguments that were sent again"] = None
            return whole
        at = text.find("{", at + 1)
    return text


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _are_beginnings(text: str, whole: str) -> bool:
    """Whether a text consists of beginnings of another, which may be all of it."""
    at = 0
    while at < len(text):
        same = 0
        while text[at + same : at + same + 1] == whole[same : same + 1] != "":
            same += 1
        if not same:
            return False
        at += same
        while text[at : at + 1].isspace():
            at += 1
    return True


class _Ambiguous(Exception):
    """The arguments are ambiguous."""


class _Reader:
    """Reads an object more leniently than JSON does and notes where it had to."""

    def __init__(self, text: str, notes: dict[str, None]) -> None:
        self._text = text
        self._notes = notes
        self._at = 0

    def arguments(self) -> dict[str, Any]:
        value = self._object(0)
        self._skip()
        if not value and self._peek() == "{":
            self._notes["an empty object before the arguments"] = None
            value = self._object(0)
            self._skip()
        rest = self._text[self._at :]
        if rest.strip(" \t\r\n}];,"):
            self._fail()
        if rest:
            self._notes["surplus brackets"] = None
        return value

    def _object(self, depth: int) -> dict[str, Any]:
        self._open("{", depth)
        found: dict[str, Any] = {}
        while not self._closed("}"):
            key = self._key()
            if key in found:
                self._fail()
            self._skip()
            self._expect(":")
            found[key] = self._value(depth + 1)
            self._separator("}")
        return found

    def _list(self, depth: int) -> list[Any]:
        self._open("[", depth)
        found: list[Any] = []
        while not self._closed("]"):
            found.append(self._value(depth + 1))
            self._separator("]")
        return found

    def _value(self, depth: int) -> Any:
        self._skip()
        character = self._peek()
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._list(depth)
        if character in ('"', "'"):
            return self._string()
        number = _NUMBER.match(self._text, self._at)
        if number:
            self._at = number.end()
            return json.loads(number[0])
        return self._word()

    def _word(self) -> Any:
        word = _WORD.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            self._fail()
        if word[0][0].isupper():
            self._notes["Python literals"] = None
        self._at = word.end()
        return _WORDS[word[0]]

    def _key(self) -> str:
        if self._peek() in ('"', "'"):
            return self._string()
        word = _WORD.match(self._text, self._at)
        if word is None:
            self._fail()
        self._notes["keys without quotes"] = None
        self._at = word.end()
        return word[0]

    def _string(self) -> str:
        quote = self._text[self._at]
        if quote == "'":
            self._notes["single quotes"] = None
        self._at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN.match(self._text, self._at)
            if plain:
                parts.append(plain[0])
                self._at = plain.end()
            character = self._peek()
            if not character:  # an open string: its end must not be invented
                self._fail()
            self._at += 1
            if character == quote:
                return "".join(parts)
            parts.append(self._special(character, quote))

    def _special(self, character: str, quote: str) -> str:
        if character == "\\":
            return self._escape(quote)
        if character in _RAW:
            self._notes[f"raw {_RAW[character]} in a string"] = None
        elif character < " ":
            self._notes["raw control characters in a string"] = None
        return character

    def _escape(self, quote: str) -> str:
        character = self._peek()
        if not character:
            self._fail()
        if character == "u" and _CODE_UNIT.match(self._text, self._at + 1):
            self._at += 1
            return self._unicode()
        if character not in _ESCAPES and quote == "'":  # Python has escapes that JSON has not
            self._fail()
        if character not in _ESCAPES:  # the model forgot to double it: \\usepackage, \\d, C:\\Windows
            self._notes["single backslashes"] = None
            return "\\"
        self._at += 1
        return _ESCAPES[character]

    def _unicode(self) -> str:
        """Read the four digits of a code unit; after the first half of a surrogate pair, also the second half."""
        found = _CODE_UNIT.match(self._text, self._at)
        if found is None:
            self._fail()
        digits = found[0] if found[0][:2].lower() in ("d8", "d9", "da", "db") else found[0][:4]
        self._at += len(digits)
        decoded: str = json.loads(f'"\\u{digits}"')
        return decoded

    def _open(self, bracket: str, depth: int) -> None:
        if depth > _DEPTH:
            self._fail()
        self._skip()
        self._expect(bracket)

    def _closed(self, bracket: str) -> bool:
        self._skip()
        if self._peek() != bracket:
            return False
        self._at += 1
        return True

    def _separator(self, bracket: str) -> None:
        self._skip()
        if self._peek() == bracket:
            return
        self._expect(",")
        self._skip()
        if self._peek() == bracket:
            self._notes["a trailing comma"] = None

    def _expect(self, character: str) -> None:
        if self._peek() != character:
            self._fail()
        self._at += 1

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        if space:
            self._at = space.end()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _fail(self) -> NoReturn:
        raise _Ambiguous
