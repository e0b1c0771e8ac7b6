"""``pi serve`` on the command line: becomes ``pi --mode serve`` with the options that were given."""

from __future__ import annotations

import os
import sys

from pi_hookspecs import WrongUse

__all__ = ["serve"]

_HELP = """\
Usage: pi serve [SESSION] [options]

Serve one session to several clients at once: pi attach, pi -p --attach and
programs that speak the RPC protocol. It prints its address and runs until
it gets SIGINT or SIGTERM. SESSION is a path or the beginning of an id;
without it, a new session is created, or -c continues the last one.

  --socket PATH      Path of the socket; <agent dir>/run/SESSION.sock by default
  --port N           Also serve a web page, on this port of 127.0.0.1; 0 is any
                     free one. The address is printed with its token
  --url URL          The address at which your own proxy or tunnel offers that
                     port; its name is allowed then, and a QR code is drawn
  --token-file PATH  File with the token; <agent dir>/run/token by default. It
                     is created if it does not exist
  --idle MINUTES     End after so many minutes without a client and without
                     work; without it, pi serve runs until a signal

All other options are those of pi, such as --model and --tools.
"""

_OWN = {f"--{name}": f"--serve-{name}" for name in ("socket", "port", "url", "token-file", "idle")}

"""What is written after ``pi serve``, and the options of ``--mode serve``."""


def serve(arguments: list[str]) -> int:
    """Replace this process by one that serves, or print help; returns the exit code.

    Raises:
        UserError: Two sessions are named.
    """
    if any(each in ("-h", "--help") for each in arguments):
        sys.stdout.write(_HELP)
        return 0
    before = sys.argv[1 : len(sys.argv) - len(arguments) - 1]  # options of pi may stand before the word, too
    command = [sys.executable, "-P", "-m", "pi_cli", *before, "--mode", "serve", *_options(arguments)]
    sys.stdout.flush()
    return os.execv(sys.executable, command)  # noqa: S606 - this program itself, with its own arguments


def _options(arguments: list[str]) -> list[str]:
    options: list[str] = []
    rest = list(arguments)
    if rest and not rest[0].startswith("-"):
        options += ["--session", rest.pop(0)]
        if rest and not rest[0].startswith("-"):
            raise WrongUse(f"'pi serve' takes one session, and {rest[0]!r} is a second one. See pi serve --help")
    for each in rest:
        name, equals, value = each.partition("=")
        options.append(_OWN.get(name, name) + equals + value)
    return options
