"""``pi help [TOPIC]`` lists the pages, or shows one: its Markdown in a pipe, formatted at a terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from pi_help.pages import folder, mentioning, sections, topics
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["run"]

_USAGE = """\
Usage: pi help [TOPIC]
       pi help --man

Show a page of the documentation, or list the topics. The options of pi are
listed by 'pi --help', those of a subcommand by 'pi SUBCOMMAND --help'.

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
    if not arguments:
        sys.stdout.write("".join(f"{line}\n" for line in _listed(pages)))
        return 0
    if len(arguments) > 1:
        raise UserError(f"pi help shows one topic, not {len(arguments)}. pi help lists them")
    return _show(arguments[0].removesuffix(".md"), pages)


def _listed(pages: Path) -> Iterator[str]:
    yield "pi help TOPIC shows a page:"
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


def _show(name: str, pages: Path) -> int:
    known = topics(pages)
    if name in known:
        _print(known[name].file.read_text(encoding="utf-8"))
        return 0
    found = list(mentioning(name, pages))
    if not found:
        raise UnknownName("topic", name, known, "pi help lists them")
    sys.stdout.write(f"There is no topic {name!r}. These pages mention it:\n\n")
    for topic, line in found[:_MOST]:
        sys.stdout.write(f"  {topic.name:<{_COLUMN - 3}} {shorten(_plain(line), _WIDTH - _COLUMN, placeholder=' …')}\n")
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
