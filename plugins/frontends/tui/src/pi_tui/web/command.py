"""``pi web``: displays the screen of pi in a browser on this computer."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import PluginHost

__all__ = ["web"]

_HELP = """\
Usage: pi web [--port N] [OPTION or ARGUMENT of pi...]

Show the screen of pi in a browser of this computer. Each page that is opened
runs a pi of its own with the given options; it ends with the page. The address
is printed with its token.

  pi web                   A new session for each page
  pi web -c                The last session of this folder
  pi web attach            The session that pi serve serves: several pages, and
                           terminals, can show the same one
  --port N                 A port of 127.0.0.1; else any free one

It needs textual-serve: pip install 'pluggypi-tui[web]'. For a phone there is
the page of pi serve --port.
"""


def web(arguments: Sequence[str], host: PluginHost) -> int:
    """Serve the screen until a signal arrives; return the exit code.

    Raises:
        UserError: The port cannot be used, or textual-serve is not installed.
    """
    from pi_core import read_token
    from pi_tui.web.server import serve_screen

    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(_HELP)
        return 0
    if sys.platform == "win32":
        raise UserError("pi web needs pseudo-terminals, which this system does not have. Run it inside WSL")
    port, rest = _port(list(arguments))
    token = read_token(host.settings.agent_dir / "run" / "token")
    _let_pages_hang_up()
    return asyncio.run(serve_screen([sys.executable, "-P", "-m", "pi_cli", *rest], port, token))


def _let_pages_hang_up() -> None:
    """Let the pi of a page receive SIGHUP, although this process ignores it, as under ``nohup``.

    Programs inherit an ignored signal, but no handler. Without the signal, a closed page would have its pi killed.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def _port(arguments: list[str]) -> tuple[int, list[str]]:
    """Return the port and the arguments for pi.

    Raises:
        UserError: The value is not a valid port.
    """
    if not arguments or arguments[0].partition("=")[0] != "--port":
        return 0, arguments
    _, equals, text = arguments[0].partition("=")
    rest = arguments[1:] if equals else arguments[2:]
    text = text if equals else "".join(arguments[1:2])
    if not (text.isdecimal() and int(text) < 2**16):
        raise UserError(f"--port takes a number from 0 to 65535, not {text!r}; 0 is any free port")
    return int(text), rest
