"""Write docs/cli.md and docs/commands.md: the help of ``pi`` and its subcommands, and the slash commands.

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

DOCS = Path(__file__).resolve().parent.parent / "docs"

CLI_HEAD = """\
<!-- Made by tools/build_command_pages.py; change it there. -->

# The command line

What `pi --help` prints, and the help of each subcommand, with the extras installed. Installed plugins add options and
subcommands. [automation.md](automation.md) has exit codes and scripts.

"""

COMMANDS_HEAD = """\
<!-- Made by tools/build_command_pages.py; change it there. -->

# Slash commands

A line that begins with a slash is a command. `/help` lists those of a session: with them the skills (`/skill:NAME`),
prompt templates and commands of the plugins that are installed. An unknown one is not sent unless you insist.

"""


def cli_page(home: Path) -> str:
    """Return the page of the command line."""
    host = PluginHost(Settings.load(home, environ={"HOME": str(home)}))
    names = [name for record in host.records.values() for name in record.names("register_subcommands")]
    parts = [CLI_HEAD, "## pi\n\n", _block(_help(home))]
    for name in sorted({*names} - {"help"}):
        parts += [f"\n## pi {name}\n\n", _block(_help(home, name))]
    return "".join(parts)


def _help(home: Path, *words: str) -> str:
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-P", "-m", "pi_cli", *words, "--help"]
    return subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, check=True).stdout


def _block(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"


async def commands_page(home: Path) -> str:
    """Return the page of the slash commands."""
    lines = [COMMANDS_HEAD, "## Of the screen\n\n| command | what it does |\n| --- | --- |\n"]
    lines += [f"| `/{name}` | {_cell(command.description)} |\n" for name, command in own_commands().items()]
    lines.append("\nThose of the line mode are on [its page](line-mode.md#commands).\n\n")
    lines.append("## Of plugins\n\n| command | plugin | what it does |\n| --- | --- | --- |\n")
    async with create_agent_session(model="offline/rules", cwd=home, environ={"HOME": str(home)}) as session:
        for each in sorted(await session.get_commands(), key=lambda each: each.name):
            plugin = each.source_info.path if each.source_info is not None else ""
            description = _cell(each.description or "")
            lines.append(f"| `/{each.name}` | {plugin} | {description} |\n")
    return "".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write both pages, or check them."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        (home / ".git").mkdir()  # /rewind is there only in a repository
        pages = {"cli.md": cli_page(home), "commands.md": asyncio.run(commands_page(home))}
    return max(write_or_check(DOCS / name, text.replace(folder, "~")) for name, text in pages.items())


if __name__ == "__main__":
    sys.exit(main())
