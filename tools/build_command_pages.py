"""Write docs/cli.md, the man page and docs/commands.md: the help of ``pi`` and its subcommands, and the slash commands.

Run it with ``uv run --no-sync python tools/build_command_pages.py``; with ``--check`` it writes nothing and fails if
something would change. The plugins of the developers' environment are asked, extras among them.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from one_page import write_or_check

from pi_core import create_agent_session
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_tui.commands.table import own_commands

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MAN_PAGE = ROOT / "plugins" / "frontends" / "help" / "src" / "pi_help" / "pi.1"
"""In the wheel it is in ``share/man/man1``, too; ``pi help --man`` prints it."""

CLI_HEAD = """\
<!-- Made by tools/build_command_pages.py; change it there. -->

# The command line

What `pi --help` prints, and the help of each subcommand, with the extras installed. Installed plugins add options and
subcommands. [Scripts and CI](automation.md) has exit codes and scripts.

"""

COMMANDS_HEAD = """\
<!-- Made by tools/build_command_pages.py; change it there. -->

# Slash commands

A line that begins with a slash is a command. `/help` lists all commands of a session, including skills
(`/skill:NAME`), prompt templates and the commands of installed plugins. An unknown command is sent to the model
only if you send it a second time.

"""


MAN_HEAD = """\
.\\" Made by tools/build_command_pages.py; change it there.
.TH PI 1 "" "pi" "User Commands"
.SH NAME
pi \\- a coding agent made of plugins
.SH SYNOPSIS
.B pi
[OPTIONS] [@FILE ...] [MESSAGE ...]
.br
.B pi
SUBCOMMAND ...
.SH DESCRIPTION
pi talks with a language model, which reads, edits and runs what is in the working directory. Everything but its engine
is a plugin. The pages of the documentation are shown by
.BR "pi help" .
"""


def help_texts(home: Path) -> dict[str, str]:
    """Return the help of ``pi`` and of each subcommand, by the words before ``--help``."""
    host = PluginHost(Settings.load(home, environ={"HOME": str(home)}))
    names = [name for record in host.records.values() for name in record.names("register_subcommands")]
    return {"pi": _help(home), **{f"pi {name}": _help(home, *name.split()) for name in sorted({*names} - {"help"})}}


def cli_page(texts: dict[str, str]) -> str:
    """Return the page of the command line."""
    return CLI_HEAD + "\n".join(f"## {name}\n\n{_block(text)}" for name, text in texts.items())


def man_page(texts: dict[str, str]) -> str:
    """Return the man page: the same texts, as they are."""
    first, *others = texts.items()
    parts = [MAN_HEAD, ".SH OPTIONS AND SUBCOMMANDS\n", _literal(first[1]), ".SH HELP OF THE SUBCOMMANDS\n"]
    parts += [f'.SS "{_escaped(name)}"\n{_literal(text)}' for name, text in others]
    return "".join(parts)


def _literal(text: str) -> str:
    """Return lines that are not filled."""
    return ".nf\n" + "".join(f"{_escaped(line)}\n" for line in text.strip().splitlines()) + ".fi\n"


def _escaped(line: str) -> str:
    """Return a line in which no character is a command to troff."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _help(home: Path, *words: str) -> str:
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-P", "-m", "pi_cli", *words, "--help"]
    return subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, check=True).stdout


def _block(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"


async def commands_page(home: Path) -> str:
    """Return the page of the slash commands."""
    lines = [COMMANDS_HEAD, "## Commands of the screen\n\n| command | what it does |\n| --- | --- |\n"]
    lines += [f"| `/{name}` | {_cell(command.description)} |\n" for name, command in own_commands().items()]
    lines.append("\nThe line mode has [its own list](line-mode.md#commands).\n\n")
    lines.append("## Commands of plugins\n\n| command | plugin | what it does |\n| --- | --- | --- |\n")
    async with create_agent_session(model="offline/rules", cwd=home, environ={"HOME": str(home)}) as session:
        for each in sorted(await session.get_commands(), key=lambda each: each.name):
            plugin = each.source_info.path if each.source_info is not None else ""
            description = _cell(each.description or "")
            lines.append(f"| `/{each.name}` | {plugin} | {description} |\n")
    return "".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the pages, or check them."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        (home / ".git").mkdir()  # /rewind is there only in a repository
        texts = help_texts(home)
        pages = {
            DOCS / "cli.md": cli_page(texts),
            MAN_PAGE: man_page(texts),
            DOCS / "commands.md": asyncio.run(commands_page(home)),
        }
    return max([write_or_check(page, text.replace(folder, "~")) for page, text in pages.items()])


if __name__ == "__main__":
    sys.exit(main())
