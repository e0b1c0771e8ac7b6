"""``pi acp`` on the command line: parses arguments, and greets the editor before heavy imports."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_acp.greeting import greet
from pi_core import own_streams
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_core import PluginHost

__all__ = ["run"]

_HELP = """\
Usage: pi acp [OPTIONS]

Serve an editor: the Agent Client Protocol (ACP) as lines of JSON on stdin and
stdout, until stdin ends. The editor starts it; see pi help acp for the
settings of Zed, Neovim, JetBrains IDEs and Toad.

  --model ID, --provider NAME, --thinking LEVEL
                      What new sessions use, unless the editor selects another
  --tools A,B, --exclude-tools A,B
                      The tools of all sessions
  --sandbox MODE      Options of plugins, as pi --help lists them

  pi acp auth login   Sign in, as 'pi auth login' does; editors start it in a terminal

Options can be given before the word acp as well.
"""


def run(arguments: list[str], host: PluginHost) -> int:
    """Serve until stdin ends; returns the exit code.

    Raises:
        UserError: The arguments are unknown.
    """
    if {"-h", "--help"} & {*arguments}:
        sys.stdout.write(_HELP)
        return 0
    if "auth" in arguments:  # editors append the arguments of a sign-in to those that start the agent
        found = host.find("register_subcommands", "auth")
        if found is None:
            raise UserError("'pi acp auth' needs the plugin of the command line, which is disabled")
        return int(found.thing.run(arguments[arguments.index("auth") + 1 :], host))
    options = None
    if arguments:
        from pi_acp.start_options import read_options

        options = read_options(arguments, host)
    with own_streams() as (stdin, stdout):
        greeted = greet(stdin, stdout, _version(host))
        from pi_acp.serving import serve  # after the answer: an editor waits for it

        return serve(host, stdin, stdout, greeted, options)


def _version(host: PluginHost) -> str:
    """Return this plugin's version from the index, because distribution metadata is slow to read."""
    record = host.records.get("acp")
    return record.version if record is not None else "0"
