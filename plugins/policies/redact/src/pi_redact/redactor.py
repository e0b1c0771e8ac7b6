"""Replaces secrets in texts with marks: ``[secret:github:3f9a]``, always the same mark for the same secret."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pi_redact.assignments import assigned_values, named_values
from pi_redact.formats import is_too_short, matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from hmac import HMAC

    from pi_redact.prefilter import Prefilter, Searcher

__all__ = ["LEAST", "MARK", "Redactor"]

LEAST = 8
"""Minimum length of a known value that is replaced: shorter ones occur by chance."""
MARK = re.compile(r"\[secret:[a-z0-9_.-]+:[0-9a-f]{6}\]")
_NAME = re.compile(r"[^a-z0-9_.-]+")
_LONG = 1 << 14
"""Bytes of a text in which known secrets are searched with hyperscan, too."""


class Redactor:
    """Replaces known secrets, and everything that looks like a key.

    Args:
        key: Key of the hashes in the marks, so that a secret cannot be found by trying candidates against a mark.
        patterns: Further patterns, each with its name.
        strict: Whether random-looking values of key-like names are replaced.
        prefilter: Tells which patterns can match in a text; None to try all.
    """

    def __init__(
        self,
        key: bytes,
        *,
        patterns: Sequence[tuple[str, re.Pattern[str]]] = (),
        strict: bool = False,
        prefilter: Prefilter | None = None,
    ) -> None:
        self._key = key
        self._hash: HMAC | None = None
        self._patterns = patterns
        self._strict = strict
        self._known: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._secrets: dict[str, str] = {}
        self._prefilter = prefilter
        self._searcher: tuple[re.Pattern[str], Searcher] | None = None

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
        if self._hash is None:
            import hmac  # most runs have nothing to mark

            self._hash = hmac.new(self._key, digestmod="sha256")
        keyed = self._hash.copy()  # with the key in it: a log may have a secret in each of its lines
        keyed.update(secret.encode("utf-8", "surrogatepass"))
        mark = f"[secret:{_written_name(name)}:{keyed.digest()[:3].hex()}]"
        self._secrets[mark] = secret
        return mark

    def _spans(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Return the secrets in order; overlapping ones are merged, and a known or else the first one names them."""
        data = self._prefilter.data_of(text) if self._prefilter is not None else None
        found = [(match.start(), 0, match.end(), self._source(match[0])) for match in self._known_in(text, data)]
        found += [(begin, rank, end, name) for rank, (begin, end, name) in enumerate(self._guesses(text, data), 1)]
        spans: list[tuple[int, int, str]] = []
        for begin, _, end, name in sorted(found):
            if spans and begin < spans[-1][1]:
                first, last, other = spans[-1]
                spans[-1] = (first, max(last, end), other)
            else:
                spans.append((begin, end, name))
        return spans

    def _known_in(self, text: str, data: bytes | None) -> Iterator[re.Match[str]]:
        """Yield every occurrence of a known secret, also one that begins inside of another."""
        pattern = self._pattern
        if pattern is None or (data is not None and len(data) >= _LONG and self._is_unknown(data, pattern)):
            return
        match = pattern.search(text)
        while match is not None:
            yield match
            match = pattern.search(text, match.start() + 1)

    def _is_unknown(self, data: bytes, pattern: re.Pattern[str]) -> bool:
        """Return whether it is certain that a text contains no known secret."""
        if self._prefilter is None:
            return False
        if self._searcher is None or self._searcher[0] is not pattern:
            made = self._prefilter.of_texts((*self._known, *self._written))
            self._searcher = None if made is None else (pattern, made)
        if self._searcher is None:
            return False
        try:
            return not self._searcher[1].numbers_in(data)
        except Exception:  # noqa: BLE001 - of a library in C: the pattern decides
            return False

    def _source(self, found: str) -> str:
        return self._known.get(found) or self._known[self._written[found]]

    def _guesses(self, text: str, data: bytes | None) -> Iterator[tuple[int, int, str]]:
        found = None
        if self._prefilter is not None and data is not None:
            found = self._prefilter.find(data, len(text))
        if found is not None or not is_too_short(text):  # most texts in the details of a compaction are names
            yield from matches(text, None if found is None else found.formats)
        yield from assigned_values(text, None if found is None else found.assigned)
        for name, pattern in self._patterns:
            yield from ((*match.span(), name) for match in pattern.finditer(text) if match[0])
        if self._strict and (found is None or found.is_named):
            yield from named_values(text)


@lru_cache
def _written_name(name: str) -> str:
    """Return the name of a secret as it is written in marks."""
    return _NAME.sub("-", name.lower()).strip("-") or "value"


def _forms(value: str) -> Iterator[str]:
    """Yield the forms of a value in JSON and HTML, where they differ."""
    forms = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], _in_html(value))
    yield from (form for form in forms if form != value)


def _in_html(value: str) -> str:
    if not any(each in value for each in "&<>\"'"):
        return value
    import html  # has tables that take a millisecond to import, and few keys have such characters

    return html.escape(value)
