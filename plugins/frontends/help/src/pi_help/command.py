"""``pi help [TOPIC]`` lists the pages, or shows one: its Markdown in a pipe, formatted at a terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from pi_help.pages import folder, mentioning, sections, text_of, topics
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["run"]

_USAGE = """\
Usage: pi help [TOPIC]
       pi help WORD...
       pi help --man

Show a page of the documentation, find the pages with some words, or list the
topics. The hooks (pi help tool_call), the plugins that come with pi
(pi help pluggypi-mcp) and the examples with their code (pi help
example:keep-trees) are topics, too. The options of pi are listed by
'pi --help', those of a subcommand by 'pi SUBCOMMAND --help'.

  --man   Print the man page of pi, for installers that link none:
          pi help --man > ~/.local/share/man/man1/pi.1; or pi help --man | man -l -
"""

_WIDTH = 79
_COLUMN = 22
_COMMENT = re.compile(r"^<!--.*?-->\n+", re.MULTILINE | re.DOTALL)
"""For tests and generators, not for readers."""

_MOST = 8
"""Pages that are suggested."""


def run(arguments: list[str]) -> int:
    """Print a page or the list of them; return the exit code.

    Raises:
        UserError: Several topics were given, or the pages are not installed.
        UnknownName: There is no such topic, and no page mentions it.
    """
    if {"-h", "--help"} & {*arguments}:
        sys.stdout.write(_USAGE)
        return 0
    if "--man" in arguments:
        if len(arguments) > 1:
            raise UserError("pi help --man takes nothing else")
        sys.stdout.write(Path(__file__).with_name("pi.1").read_text(encoding="utf-8"))
        return 0
    pages = folder()
    if not pages.is_dir():
        raise UserError(f"The pages of the documentation are not installed: there is no {str(pages)!r}. Reinstall pi")
    words = " ".join(arguments).split()  # the screen's /help passes several as one argument
    if not words:
        sys.stdout.write("".join(f"{line}\n" for line in _listed(pages)))
        return 0
    return _show(words, pages)


def _listed(pages: Path) -> Iterator[str]:
    yield "pi help TOPIC shows a page, pi help WORD... finds pages:"
    for heading, entries in sections(pages).items():
        yield ""
        yield heading
        for topic in entries:
            lines = wrap(_plain(topic.text), _WIDTH - _COLUMN)
            yield f"  {topic.name:<{_COLUMN - 3}} {lines[0]}"
            yield from (" " * _COLUMN + line for line in lines[1:])


def _plain(text: str) -> str:
    """Return Markdown of one line as plain text."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").rstrip(".")


def _show(words: list[str], pages: Path) -> int:
    known = topics(pages)
    if len(words) == 1 and (topic := known.get(words[0].removesuffix(".md"))) is not None:
        _print(text_of(topic, known))
        return 0
    found = list(mentioning(words, pages))
    if not found:
        raise UnknownName("topic", " ".join(words), known, "pi help lists them")
    what = (
        f"There is no topic {words[0]!r}. These pages mention it" if len(words) == 1 else "These pages have the words"
    )
    sys.stdout.write(f"{what}:\n\n")
    for topic, line in found[:_MOST]:
        text = shorten(_plain(line), _WIDTH - max(_COLUMN, len(topic.name) + 3), placeholder=" …")
        sys.stdout.write(f"  {topic.name:<{_COLUMN - 3}} {text}\n")
    if len(found) > _MOST:
        sys.stdout.write(f"  and {len(found) - _MOST} more\n")
    return 1


def _print(text: str) -> None:
    text = _COMMENT.sub("", text)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    import click
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=min(100, Console().width), force_terminal=True)
    with console.capture() as capture:
        console.print(Markdown(text, hyperlinks=False))
    click.echo_via_pager(capture.get())
