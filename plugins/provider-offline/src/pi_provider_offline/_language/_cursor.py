"""The reader's place in a request, and the phrases that need no file names: numbers, free text.

Every function here either takes a whole phrase or takes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from pi_provider_offline._language._tokens import Token, tokenize
from pi_provider_offline._requests import Names

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_provider_offline._requests import Request


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list separated by commas."""
    return frozenset(word.strip() for word in words.split(","))


class Phrases:
    """Word sequences, of which the longest one that fits counts: ``Phrases("in, inside of")``."""

    def __init__(self, phrases: str) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in phrases.split(","):
            words = tuple(phrase.split())
            self._by_first.setdefault(words[0], []).append(words)
        for same in self._by_first.values():
            same.sort(key=len, reverse=True)

    def starting_with(self, word: str) -> list[tuple[str, ...]]:
        """Return the phrases with this first word, longest first."""
        return self._by_first.get(word, [])


TAILS = Phrases(
    "please, for me, to me, for us, to us, now, too, also, as well, again, once more, thanks, thank you, if you can, "
    "if possible, right now, here, at once, afterwards, if you please, would you, will you, in full, completely, "
    "first, quickly, thank you very much"
)

_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "dozen": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "hundred": 100,
    "couple": 2,
    "few": 3,
    "several": 5,
}


@define(eq=False)
class Cursor:
    """A place among the tokens of a request.

    Attributes:
        names: What "it" means at this place.
        scope: The file of "in FILE, replace ...", which the request after it may leave out.
        probing: Set while the grammar only looks whether a request starts here; free text is then not followed to its
            end, which would look again, and so on without end.
        probed: What was found at each place that was looked at so.
        line_ends: For each place, where its line ends.
    """

    source: str
    names: Names = field(factory=Names)
    tokens: list[Token] = field(init=False)
    at: int = 0
    scope: str | None = None
    probing: bool = False
    probed: dict[int, bool] = field(factory=dict, repr=False)
    line_ends: list[int] = field(init=False, repr=False)
    opens_request: Callable[[Cursor], bool] = field(kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        self.tokens = tokenize(self.source)
        self.line_ends = [end := len(self.tokens) - 1] * len(self.tokens)
        for place in range(end, -1, -1):
            end = place if self.tokens[place].kind == "newline" else end
            self.line_ends[place] = end

    def peek(self, ahead: int = 0) -> Token:
        """Return the token at the place, or one further on; past the end it is the ``end`` token."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self, phrases: Phrases) -> str | None:
        """Take the longest phrase that stands here and return it in lower case."""
        for words in phrases.starting_with(self.peek().lower):
            if self.sequence(words):
                return " ".join(words)
        return None

    def sequence(self, words: tuple[str, ...]) -> bool:
        """Take these words if they stand here in this order."""
        found = all(self.peek(i).kind == "word" and self.peek(i).lower == word for i, word in enumerate(words))
        if found:
            self.at += len(words)
        return found

    def word(self, *words: str) -> bool:
        """Take one word if it is one of these."""
        token = self.peek()
        if token.kind == "word" and token.lower in words:
            self.at += 1
            return True
        return False

    def mark(self, *texts: str) -> bool:
        """Take one punctuation mark if it is one of these."""
        token = self.peek()
        if token.kind == "punctuation" and token.text in texts:
            self.at += 1
            return True
        return False

    def conjunction(self, *words: str) -> bool:
        """Take ``,``, ``and`` or ``, and`` between the parts of a list; ``words`` join as "and" does."""
        comma = self.mark(",")
        return self.word("and", "&", *words) or comma

    def skip(self, phrases: Phrases) -> list[str]:
        """Take phrases as long as there are some; return them."""
        taken = []
        while (phrase := self.take(phrases)) is not None:
            taken.append(phrase)
        return taken

    def next_is(self, phrases: Phrases) -> bool:
        """Tell whether one of the phrases stands here, without taking it."""
        start = self.at
        found = self.take(phrases) is not None
        self.at = start
        return found

    def at_boundary(self) -> bool:
        """Tell whether a clause may end here."""
        token = self.peek()
        if token.kind == "word":
            return token.lower in CONJUNCTIONS
        return token.kind in ("end", "newline", "punctuation")

    def ends_clause(self) -> bool:
        """Take words of courtesy and tell whether the clause ends after them."""
        self.skip(TAILS)
        return self.at_boundary()

    def slice(self, first: int, last: int) -> str:
        """Return the source text from one token up to, without, another."""
        return self.source[self.tokens[first].start : self.tokens[last - 1].end] if last > first else ""


CONJUNCTIONS = word_set("and, then, &, plus, but, or, before, after, while, because, so")


def number(cursor: Cursor) -> int | None:
    """Take a number from 1 on, in digits or as a word."""
    start = cursor.at
    cursor.word("a", "the")
    token = cursor.peek()
    if token.kind == "word":
        text = token.lower
        value = int(text) if text.isdecimal() and len(text) <= len("1000000000") else _NUMBERS.get(text, 0)
        if value > 0:
            cursor.at += 1
            cursor.word("of")  # a couple of lines
            return value
    cursor.at = start
    return None


def text_until(cursor: Cursor, *stops: str) -> str | None:
    """Take a quotation, or the words up to one of ``stops`` or to the end of the clause."""
    first = cursor.at
    token = cursor.peek()
    if token.kind in ("quoted", "fence"):
        cursor.at += 1
        return token.text
    while cursor.at == first or not cursor.at_boundary():
        token = cursor.peek()
        if token.kind not in ("word", "quoted") or (token.kind == "word" and token.lower in stops):
            break
        cursor.at += 1
    return cursor.slice(first, cursor.at) or None


def each_after_and(cursor: Cursor, clause: Callable[[Cursor], list[Request]]) -> list[Request]:
    """Take a phrase, and more of its kind behind "and": the verb is said once."""
    found = clause(cursor)
    while found:
        start = cursor.at
        cursor.names = cursor.names.after(found[-1])
        separated = cursor.conjunction()
        cursor.word("the", "its")
        more = clause(cursor) if separated else []
        if not more:
            cursor.at = start
            break
        found += more
    return found
