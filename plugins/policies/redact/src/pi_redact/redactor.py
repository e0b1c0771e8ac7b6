"""Replaces secrets in texts with marks: ``[secret:github:3f9a]``, always the same mark for the same secret."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pi_redact.assignments import assigned_values, named_values
from pi_redact.formats import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["LEAST", "MARK", "Redactor"]

LEAST = 8
"""Minimum length of a known value that is replaced: shorter ones occur by chance."""
MARK = re.compile(r"\[secret:[a-z0-9_.-]+:[0-9a-f]{6}\]")
_NAME = re.compile(r"[^a-z0-9_.-]+")


class Redactor:
    """Replaces known secrets, and everything that looks like a key.

    Args:
        key: Key of the hashes in the marks, so that a secret cannot be found by trying candidates against a mark.
        patterns: Further patterns, each with its name.
        strict: Whether random-looking values of key-like names are replaced.
    """

    def __init__(
        self, key: bytes, *, patterns: Sequence[tuple[str, re.Pattern[str]]] = (), strict: bool = False
    ) -> None:
        self._key = key
        self._patterns = patterns
        self._strict = strict
        self._known: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._secrets: dict[str, str] = {}

    def know(self, values: Iterable[tuple[str, str]]) -> None:
        """Add secrets: the source and value of each."""
        fresh = {value: source for source, value in values if len(value) >= LEAST and value not in self._known}
        if fresh:
            self._known |= fresh
            self._written |= {form: value for value in fresh for form in _forms(value)}
            longest_first = sorted({*self._known, *self._written}, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def redact(self, text: str) -> str:
        """Return the text with marks for secrets; the same object if it has none."""
        spans = self._spans(text)
        if not spans:
            return text
        parts, at = [], 0
        for begin, end, name in spans:
            found = text[begin:end]
            parts += [text[at:begin], self.mark(name, self._written.get(found, found))]
            at = end
        return "".join((*parts, text[at:]))

    def restore(self, text: str) -> str:
        """Return the text with the secrets in place of the marks that this redactor made."""
        return MARK.sub(lambda match: self._secrets.get(match[0], match[0]), text) if "[secret:" in text else text

    def mark(self, name: str, secret: str) -> str:
        """Return the mark of a secret."""
        import hashlib  # most runs have nothing to mark
        import hmac

        digest = hmac.new(self._key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        mark = f"[secret:{_NAME.sub('-', name.lower()).strip('-') or 'value'}:{digest[:6]}]"
        self._secrets[mark] = secret
        return mark

    def _spans(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Return the secrets in order; overlapping ones are merged, and a known or else the first one names them."""
        found = [(match.start(), 0, match.end(), self._source(match[0])) for match in self._known_in(text)]
        found += [(begin, rank, end, name) for rank, (begin, end, name) in enumerate(self._guesses(text), 1)]
        spans: list[tuple[int, int, str]] = []
        for begin, _, end, name in sorted(found):
            if spans and begin < spans[-1][1]:
                first, last, other = spans[-1]
                spans[-1] = (first, max(last, end), other)
            else:
                spans.append((begin, end, name))
        return spans

    def _known_in(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every occurrence of a known secret, also one that begins inside of another."""
        match = self._pattern.search(text) if self._pattern is not None else None
        while match is not None and self._pattern is not None:
            yield match
            match = self._pattern.search(text, match.start() + 1)

    def _source(self, found: str) -> str:
        return self._known.get(found) or self._known[self._written[found]]

    def _guesses(self, text: str) -> Iterator[tuple[int, int, str]]:
        yield from matches(text)
        yield from assigned_values(text)
        for name, pattern in self._patterns:
            yield from ((*match.span(), name) for match in pattern.finditer(text) if match[0])
        if self._strict:
            yield from named_values(text)


def _forms(value: str) -> Iterator[str]:
    """Yield the forms of a value in JSON and HTML, where they differ."""
    forms = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], _in_html(value))
    yield from (form for form in forms if form != value)


def _in_html(value: str) -> str:
    if not any(each in value for each in "&<>\"'"):
        return value
    import html  # has tables that take a millisecond to import, and few keys have such characters

    return html.escape(value)
