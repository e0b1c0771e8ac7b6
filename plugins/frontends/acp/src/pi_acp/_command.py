"""``pi acp`` on the command line: parses arguments, and greets the editor before heavy imports."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_acp._greeting import greet
from pi_core.base.process.streams import own_streams
from pi_hookspecs import UserError, WrongUse

if TYPE_CHECKING:
    from pi_core.host import PluginHost

__all__ = ["run"]

_HELP = """\
Usage: pi acp

Serve an editor: the Agent Client Protocol (ACP) as lines of JSON on stdin and
stdout, until stdin ends. The editor starts it; see pi help acp for the
settings of Zed, Neovim, JetBrains IDEs and Toad.

  pi acp auth login   Sign in, as 'pi auth login' does; editors start it in a terminal
"""


def run(arguments: list[str], host: PluginHost) -> int:
    """Serve until stdin ends; returns the exit code.

    Raises:
        UserError: The arguments are unknown.
    """
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(_HELP)
        return 0
    if arguments and arguments[0] == "auth":  # editors append the arguments of a sign-in to those that start the agent
        found = host.find("register_subcommands", "auth")
        if found is None:
            raise UserError("'pi acp auth' needs the plugin of the command line, which is disabled")
        return int(found.thing.run(arguments[1:], host))
    if arguments:
        raise WrongUse(f"'pi acp' takes no arguments, not {arguments[0]!r}. See pi acp --help")
    with own_streams() as (stdin, stdout):
        greeted = greet(stdin, stdout, _version(host))
        from pi_acp._serving import serve  # after the answer: an editor waits for it

        return serve(host, stdin, stdout, greeted)


def _version(host: PluginHost) -> str:
    """Return this plugin's version from the index, because distribution metadata is slow to read."""
    record = host.records.get("acp")
    return record.version if record is not None else "0"
