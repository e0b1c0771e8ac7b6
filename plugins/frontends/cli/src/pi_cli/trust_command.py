"""``pi trust``: stores whether a folder's own files may be used, and lists the decisions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.report import print_lines, say
from pi_core import ProjectTrust, TrustStore, clean_text, expand_home
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import PluginHost

__all__ = ["run_trust"]

_USAGE = """\
Usage: pi trust [PATH]
       pi trust --deny [PATH]
       pi trust --forget [PATH]
       pi trust --list

Use the files of a folder that can run code or instruct the model: in .pi,
settings.json, mcp.json, hooks.json, extensions, skills, prompts, themes,
SYSTEM.md and APPEND_SYSTEM.md; the servers in .mcp.json, and the skills in
.agents/skills. PATH is this folder by default. A decision applies to all
folders below, unless one of them has its own; another git repository with such
files below a trusted folder needs its own.

  --deny       Use none of these files
  --forget     Remove the decision
  --list       List the decisions
  -h, --help   Print this help and exit

Without a decision, the setting defaultProjectTrust applies: ask, always or
never. --approve and --no-approve decide for one run. See 'pi help security'.
"""


def run_trust(arguments: Sequence[str], host: PluginHost) -> int:
    """Run the command and return the exit code.

    Raises:
        PiError: It failed.
    """
    params = parse_strictly(_command(), arguments)
    if params["help"]:
        sys.stdout.write(_USAGE)
        return 0
    given = [name for name in ("deny", "forget", "list") if params[name]]
    words: tuple[str, ...] = params["words"]
    if len(given) > 1:
        raise UserError(f"--{given[0]} and --{given[1]} cannot be used together. Give one of them")
    if len(words) > (0 if params["list"] else 1):
        raise UserError(f"pi trust takes one folder, not {' '.join(words)!r}")
    store = TrustStore(host.settings.agent_dir)
    if params["list"]:
        _list(store)
        return 0
    _decide(store, words[0] if words else ".", params)
    return 0


def _list(store: TrustStore) -> None:
    try:
        decisions = sorted(store.decisions().items())
    except UserError as error:
        raise UserError(f"{error}. Repair or remove the file: until then it applies to no folder") from error
    for folder, trusted in decisions:
        name = clean_text(folder).replace("\n", "\\n")  # also in a pipe: the name is that of a stranger's folder
        print_lines(f"{'trusted' if trusted else 'denied '}  {name}")
    if not decisions:
        say("No decision is stored yet.")


def _decide(store: TrustStore, path: str, params: dict[str, Any]) -> None:
    folder = expand_home(path)
    if not folder.is_dir():
        raise UserError(f"{path!r} is not a folder")
    trusted = None if params["forget"] else not params["deny"]
    store.remember(folder, trusted=trusted)
    trust = ProjectTrust.decide(folder, store.file.parent)
    word = "trusted" if trust.is_trusted else "not trusted"
    say(f"{trust.cwd} is {word} ({trust.why}). Files concerned: {trust.named_resources or 'none yet'}")


def _command() -> click.Command:
    return click.Command(
        "pi trust",
        params=[
            click.Option(["--deny"], is_flag=True),
            click.Option(["--forget"], is_flag=True),
            click.Option(["--list"], is_flag=True),
            *common_options(),
            click.Argument(["words"], nargs=-1),
        ],
        add_help_option=False,
    )
