"""Write docs/reference/failures.md from the table of failures and from the answers that tests check against it.

Run it with ``uv run python tools/build_failures_page.py``; with ``--check`` it writes nothing and fails if something
would change.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from one_page import write_or_check

from pi_hookspecs.failures import ACTIONS, FAILURE_RULES
from pi_hookspecs.overflow_words import OTHER_LIMITS, OTHER_TOKENS, OVERFLOW_SENTENCES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "failures.md"
ANSWERS = ROOT / "plugins" / "policies" / "retry" / "tests" / "answers.toml"

HEAD = """\
<!-- Made by tools/build_failures_page.py; change it there. -->

# Failures of model servers

A request to a model can fail in many ways, and hosts say the same thing in many words. This page lists what pi does
with an error, by host, status, headers and text. One table decides for the retry policy, for compaction and for the
advice that is displayed with an error: `pi_hookspecs.failures`.

- **wait**: the request is sent again after 2, 4 and 8 seconds, or when the server says so; then the models of
  `retry.failover` are next.
- **compact**: the conversation is too long. It is summarised, and the request is sent again.
- **sign in**: the key or the login was not accepted.
- **send without strict**: the tools are sent again without strict schemas, for the rest of the session.
- **give up**: waiting does not help. The error is displayed with advice.

A 4xx other than 408, 409, 425 and 429 is tried again only where a rule names its status and its words, and its host
unless any gateway may say it. Words count as whole words, and never where the status has decided.

## Answers

| host | status | headers | answer | pi does |
| --- | --- | --- | --- | --- |
"""

HINTS = """
## Delays that a server asks for

`retry-after-ms` and `retry-after` (seconds, a date, or a timestamp) come first, then the reset time of a limit with the
statuses 429, 503 and 529, then words such as `try again in 6s`. A hint is obeyed only if it can be true:

- A limit counts only if it is known to be used up: `...-remaining` is 0, or `r=0` in the IETF's `RateLimit`, or a limit
  of a subscription (`anthropic-ratelimit-unified-...`) has the status `rejected`. A missing `remaining` is no reason.
- A number above 1,000,000,000 is a time in seconds since 1970, above 1,000,000,000,000 in milliseconds.
- A delay of more than 31 days is a mistake.

## Rules

The first rule that matches decides. "no status" is an error within a stream, in a successful answer, or without an
answer.

| pi does | kind | status | server | words | source |
| --- | --- | --- | --- | --- | --- |
"""

OVERFLOW = """
## A conversation that is too long

An error means this if it has a known sentence, or if one of its sentences names what the model reads (input, prompt,
messages, tokens, context), how it is measured (length, size, window) and that a limit is exceeded, in any order.

| known sentence | host |
| --- | --- |
"""

OTHERS = """
Sentences about other limits are not meant. They name:

| words | kind of limit |
| --- | --- |
"""


def _text(words: str) -> str:
    return "`` " + words.replace("|", "\\|") + " ``" if "`" in words else "`" + words.replace("|", "\\|") + "`"


def _statuses(statuses: object) -> str:
    """Return statuses as text, consecutive ones as a range."""
    numbers = sorted(status for status in statuses if status is not None)  # type: ignore[attr-defined]
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    texts = [str(part[0]) if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts]
    return ", ".join([*(["no status"] if None in statuses else []), *texts])  # type: ignore[operator]


def _answers() -> str:
    rows = []
    for each in tomllib.loads(ANSWERS.read_text(encoding="utf-8"))["answer"]:
        headers = "<br>".join(f"`{name}: {value}`" for name, value in each.get("headers", {}).items())
        after = f" {each['after']:g} s" if "after" in each else ""
        rows.append(
            f"| {each['host']} | {each['status']} | {headers} | {_text(each['body'])} | {each['does']}{after} |\n"
        )
    return "".join(rows)


def _rules() -> str:
    rows = []
    for rule in FAILURE_RULES:
        words = (
            (rule.words.__doc__ or "").partition("\n")[0] if callable(rule.words) else rule.words and _text(rule.words)
        )
        places, statuses = ", ".join(rule.places), _statuses(rule.statuses)
        rows.append(f"| {ACTIONS[rule.kind]} | {rule.kind} | {statuses} | {places} | {words} | {rule.source} |\n")
    return "".join(rows)


def main() -> int:
    """Write the page, or compare it."""
    known = "".join(f"| {_text(words)} | {host} |\n" for words, host in OVERFLOW_SENTENCES)
    others = "".join(f"| {_text(words)} | {what} |\n" for words, what in (*OTHER_LIMITS, *OTHER_TOKENS))
    page = HEAD + _answers() + HINTS + _rules() + OVERFLOW + known + OTHERS + others
    return write_or_check(PAGE, page)


if __name__ == "__main__":
    sys.exit(main())
