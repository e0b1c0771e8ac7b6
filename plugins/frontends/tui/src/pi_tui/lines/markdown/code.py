"""Layout of code: rows of a fence, and syntax highlighting once it is complete."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.copying import PADDING
from pi_tui.lines.wrap import chop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Line
    from pi_tui.lines.markdown.inline import Ink

__all__ = ["MOST_HIGHLIGHTED", "code_rows", "fence_row", "highlighted"]

MOST_HIGHLIGHTED = 50_000
"""Maximum number of characters of highlighted code; highlighting a million takes a second."""

_INDENT = "  "

_ROLES = (
    ("Comment", "syntaxComment"),
    ("Keyword.Type", "syntaxType"),
    ("Keyword", "syntaxKeyword"),
    ("Name.Function", "syntaxFunction"),
    ("Name.Class", "syntaxType"),
    ("Name.Builtin", "syntaxFunction"),
    ("Name.Tag", "syntaxKeyword"),
    ("Name", "syntaxVariable"),
    ("Literal.String", "syntaxString"),
    ("Literal.Number", "syntaxNumber"),
    ("Operator.Word", "syntaxKeyword"),
    ("Operator", "syntaxOperator"),
    ("Punctuation", "syntaxPunctuation"),
    ("Generic.Deleted", "toolDiffRemoved"),
    ("Generic.Inserted", "toolDiffAdded"),
)


def fence_row(marks: str, ink: Ink, width: int) -> list[Line]:
    """Return the row of an opening or closing fence."""
    return chop([ink.run(marks, role="mdCodeBlockBorder")], width)


def code_rows(lines: Sequence[Sequence[Run]], width: int) -> list[list[Line]]:
    """Return a list of rows for each line of code."""
    return [chop(line, width, first=(Run(_INDENT, PADDING),)) for line in lines]


def highlighted(code: str, language: str, plain: Run) -> list[list[Run]]:
    """Return the runs of each line of highlighted code.

    Args:
        code: The code without the fence.
        language: The word after the opening fence, or a file's name.
        plain: The style of text without a role of its own, of unknown languages and of long code.
    """
    lexer = _lexer(language) if language and len(code) <= MOST_HIGHLIGHTED else None
    if lexer is None:
        return [[plain._replace(text=line)] for line in code.split("\n")]
    lines: list[list[Run]] = [[]]
    for kind, text in lexer.get_tokens(code):
        style = plain._replace(role=_role(kind) or plain.role)
        first, *others = text.split("\n")
        if first:
            lines[-1].append(style._replace(text=first))
        lines += [[style._replace(text=each)] if each else [] for each in others]
    count = code.count("\n") + 1  # the lexer may end the last line with a line break
    return (lines + [[]] * count)[:count]


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import (  # type: ignore[import-untyped]
        get_lexer_by_name,
        get_lexer_for_filename,
    )
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    for find in (get_lexer_by_name, get_lexer_for_filename):
        try:
            return find(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            continue
    return None


@lru_cache(maxsize=512)
def _role(kind: Any) -> str | None:
    name = str(kind).removeprefix("Token.")
    return next((role for prefix, role in _ROLES if name == prefix or name.startswith(f"{prefix}.")), None)
