"""Write docs/reference/sendable.md from the rules of ``pi_provider_kit.sendable``.

Run it with ``uv run python tools/build_sendable_page.py``; with ``--check`` it writes nothing and fails if something
would change.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from one_page import write_or_check

from pi_hookspecs import Model
from pi_provider_kit import RULES, SOURCES, NameRule, Rules, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "sendable.md"

HEAD = """\
<!-- Made by tools/build_sendable_page.py; change it there. -->

# What is sent to which API

A session keeps what was said: every answer, also one that was cut or came from another model, every result and every
image. APIs refuse some of it, and a request that is refused for its history would be refused for ever. So a copy is
made for each request in which everything is acceptable to the API of the model; the session is not changed, and another
model gets another copy. Names and arguments of calls in the answer are turned back to those of the tools.

How images are shrunk, and how many a request may have, is another table: `pi_core/base/images/limits.py`.

The rules are data, in `pi_provider_kit.sendable`. `transform_messages` applies those of messages, `SentTools` those of
tools, before a provider's codec. Tests send histories of every shape to fake servers that refuse what the vendors
refuse.

## Rules

| refused | by | in its words | sent instead | source |
| --- | --- | --- | --- | --- |
"""

VALUES = """
## Values

Those of `Rules` for each API. An API that is not listed has the defaults, with which nothing is refused but what no API
takes.

| API | """

NAMES = {
    "tools": "names of tools",
    "unique_ids": "ids unique in",
    "checks_own_ids": "checks own ids",
    "calls_last": "calls last",
    "thinking_last": "may end in thinking",
    "thinking_alone": "thinking alone",
    "signed_blanks": "signed blanks",
    "user_first": "user first",
    "user_last": "user last",
    "images": "images",
    "keys": "names of properties",
    "root_keywords": "root of schemas",
    "references": "`$ref`",
    "const": "`const`",
    "undeclared": "undeclared `required`",
}
"""Field of ``Rules`` to the head of its column."""


def page() -> str:
    """Return the text of the page."""
    return f"{HEAD}{''.join(rows())}{VALUES}{' | '.join(NAMES.values())} |\n|{' --- |' * (len(NAMES) + 1)}\n{values()}"


def rows() -> Iterator[str]:
    """Yield a row for each rule."""
    for each in SOURCES:
        cells = (each.what, each.apis, each.says, each.sent, each.source)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def values() -> str:
    """Return a row for each API."""
    nova = Model(id="amazon.nova", name="Nova", api="bedrock-converse-stream", provider="amazon-bedrock")
    claude = Model(id="claude", name="Claude", api="openai-completions", provider="gateway")
    rules = {f"`{api}`": each for api, each in RULES.items()}
    rules |= {"`bedrock-converse-stream`, Nova": rules_of(nova), "`openai-completions`, Claude": rules_of(claude)}
    return "".join(
        f"| {api} | {' | '.join(shown(getattr(each, name)) for name in NAMES)} |\n" for api, each in rules.items()
    )


def shown(value: Any) -> str:
    """Return a value of a rule in the words of the page."""
    if isinstance(value, NameRule):
        first = f", first `[{value.first}]`" if value.first else ""
        return f"`[{value.characters}]{{1,{value.longest}}}`{first}"
    if isinstance(value, tuple):
        return ", ".join(each.removeprefix("image/") for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)


if __name__ == "__main__":
    missing = set(Rules._fields) ^ set(NAMES)
    if missing:
        sys.exit(f"NAMES of this script and Rules differ: {missing}")
    sys.exit(write_or_check(PAGE, page()))
