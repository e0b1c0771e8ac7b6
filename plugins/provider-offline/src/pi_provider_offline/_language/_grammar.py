"""From the user's words to requests: clauses, one after another, each opened by a verb.

.. code-block:: text

    message  = { clause | unknown , separator } ;
    clause   = { courtesy } , [ "in" PATH "," ] , verb phrase , { courtesy } ;
    separator = "," | ";" | "." | line end | "and" | "then" | "and then" ... ;

What no clause fits is kept as ``Unknown``, up to where the next clause begins. No text is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_provider_offline._language._counting import count, length
from pi_provider_offline._language._cursor import CONJUNCTIONS, Cursor, Phrases
from pi_provider_offline._language._folders import list_files
from pi_provider_offline._language._looking import find, search
from pi_provider_offline._language._names import NoAntecedentError, path
from pi_provider_offline._language._reading import ask_help, head, read, show, summarise, summary_of, tail, what
from pi_provider_offline._language._writing import change, edit, replace, run, substitute, write
from pi_provider_offline._requests import Names, Unclear, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_provider_offline._requests import Request

_CLAUSES: tuple[tuple[str, Callable[[Cursor], list[Request]]], ...] = (
    ("list, ls, dir", list_files),
    ("read, open, cat", read),
    ("show, print, display, view, output, give, type, dump, get, see, look at, let me see, let us see", show),
    ("head", head),
    ("tail", tail),
    ("find, locate, where is, where are, where's", find),
    ("search, grep, rg, look for, scan, look up, search through", search),
    ("count, how many, wc, the number of, number of", count),
    ("how long is, how big is, how large is", length),
    ("run, execute, exec", run),
    ("write, create, make, save, put, store", write),
    ("replace, replacing", replace),
    ("change", change),
    ("substitute", substitute),
    ("edit, modify, update", edit),
    ("summarise, summarize, sum up, outline, tldr, tl;dr", summarise),
    ("summary, a summary, a short summary", summary_of),
    ("what, which, what's, whats", what),
    ("help", ask_help),
)
"""What may follow each verb. A clause function is called with the cursor behind the verb. It returns the requests, or
nothing where what follows does not fit; whether the clause ends where the function stopped is checked here."""

_VERBS = Phrases(",".join(verbs for verbs, _ in _CLAUSES))
_CLAUSE_OF = {verb.strip(): clause for verbs, clause in _CLAUSES for verb in verbs.split(",")}

_COURTESY = Phrases(
    "please, kindly, just, now, hey, hi, hello, ok, okay, so, well, pi, first, firstly, second, secondly, third, "
    "finally, lastly, next, then, also, and, but, plus, &, after that, afterwards, after this, and then, can you, "
    "could you, would you, will you, can we, could we, i want you to, i want to, i would like you to, i'd like you "
    "to, i would like to, i'd like to, i need you to, i need to, i need, i want, let's, let us, go ahead and, try to, "
    "you should, tell me, do you know, would you mind, thanks, thank you, dear, there, quickly, good, yes, once that "
    "is done, when done, when that is done, in addition, additionally, furthermore, help me to, help me, use the "
    "tools to, be so kind and, if you please, thank you very much, great, together with"
)
_BULLETS = frozenset("-*+\N{BULLET}\N{EN DASH}\N{EM DASH}")
_JOINTS = Phrases("and, then, &, plus, but, also, after that, and then, afterwards, finally, next")
_SENTENCE_ENDS = ".;!?"


def parse(text: str, names: Names | None = None) -> list[Request]:
    """Return what a message asks for, in its order.

    Args:
        text: The user's words.
        names: What "it" means at the start: the files of the conversation so far.
    """
    cursor = Cursor(text, evolve(names or Names(), group=()), opens_request=_opens_request)
    found: list[Request] = []
    while cursor.peek().kind != "end":
        if _skip_separator(cursor):
            continue
        requests = _clause(cursor) or _unknown(cursor)
        for request in requests:
            cursor.names = cursor.names.after(request)
        found += requests
    return found


def _skip_separator(cursor: Cursor) -> bool:
    token = cursor.peek()
    if token.kind in ("newline", "punctuation") or token.lower in CONJUNCTIONS:
        cursor.at += 1
        return True
    if cursor.at == 0 or cursor.peek(-1).kind == "newline":  # "- list ..." and "1. list ..."
        numbered = token.text.isdecimal() and cursor.peek(1).text in (".", ")")
        if token.kind == "word" and (numbered or token.text in _BULLETS):
            cursor.at += 1
            return True
    return False


def _clause(cursor: Cursor) -> list[Request]:
    """Take one clause that a rule fits, or nothing."""
    start, names = cursor.at, cursor.names
    cursor.skip(_COURTESY)
    if cursor.ends_clause():  # nothing but courtesy
        cursor.at = start
        return []
    opening = cursor.at
    try:
        cursor.scope = _scope(cursor)
        found = _verb_phrase(cursor)
    except NoAntecedentError:
        cursor.at = opening
        if not cursor.probing:
            _to_end_of_clause(cursor)
        found = [Unclear(cursor.slice(opening, cursor.at))]
    cursor.scope, cursor.names = None, names
    if not found:
        cursor.at = start
    return found


def _scope(cursor: Cursor) -> str | None:
    """Take ``in FILE,`` before a verb; the request may then leave the file out."""
    start = cursor.at
    if cursor.word("in", "inside", "within"):
        name = path(cursor, "without article")
        cursor.mark(",", ":")
        if name is not None and cursor.next_is(_VERBS):
            return name
    cursor.at = start
    return None


def _verb_phrase(cursor: Cursor) -> list[Request]:
    """Take a verb and what follows it; where the longest verb fits nothing, a shorter one may."""
    for words in _VERBS.starting_with(cursor.peek().lower):
        start = cursor.at
        found = _CLAUSE_OF[" ".join(words)](cursor) if cursor.sequence(words) else []
        if found and cursor.ends_clause():
            return found
        cursor.at = start
    return []


def _opens_request(cursor: Cursor) -> bool:
    """Tell whether a clause that a rule fits starts here; the cursor stays.

    Inside such a look ahead a verb is enough, so that one never starts another.
    """
    start, scope = cursor.at, cursor.scope
    if cursor.probing:
        cursor.skip(_COURTESY)
        found = cursor.next_is(_VERBS)
    elif start in cursor.probed:
        return cursor.probed[start]
    else:
        cursor.probing = True
        found = cursor.probed[start] = bool(_clause(cursor))
        cursor.probing = False
    cursor.at, cursor.scope = start, scope
    return found


def _to_end_of_clause(cursor: Cursor) -> None:
    """Go on to where a sentence or line ends, or another request begins."""
    first = cursor.at
    while True:
        token = cursor.peek()
        if token.kind in ("end", "newline") or (token.kind == "punctuation" and token.text in _SENTENCE_ENDS):
            return
        separated = cursor.at > first and (token.text == "," or cursor.next_is(_JOINTS))
        if separated and not cursor.probing:
            start = cursor.at
            cursor.mark(",")
            opens = _opens_request(cursor)
            cursor.at = start
            if opens:
                return
        cursor.at += 1


def _unknown(cursor: Cursor) -> list[Request]:
    """Take what no rule fits; courtesy alone is nothing."""
    start = cursor.at
    cursor.skip(_COURTESY)
    if cursor.ends_clause():
        return []
    cursor.at = start
    cursor.skip(_JOINTS)
    first = cursor.at
    _to_end_of_clause(cursor)
    text = cursor.slice(first, cursor.at)
    return [Unknown(text)] if text.strip() else []
