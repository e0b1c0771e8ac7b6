"""``pi attach``: the screen here, the session in another process, which may run on another computer."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError, StartFacts, UserError
from pi_tui._mode import FullScreen
from pi_tui._run import make_app, run_app
from pi_tui.port.remote import RemotePort
from pi_tui.port.remote_ui import Asker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_client import PiClient
    from pi_core.host import PluginHost
    from pi_hookspecs import SettingsView
    from pi_tui._printed import Printed
    from pi_tui._terminal import Terminal

__all__ = ["attach", "run_attached"]

_HELP = """\
Usage: pi attach COMMAND...

Show the session of another pi: the screen is local; the session, its files and
its tools are where COMMAND runs. COMMAND starts pi; --mode rpc is added.

  pi attach ssh box pi              A session on another computer
  pi attach docker exec -i NAME pi  One in a container

Key bindings and the appearance of the screen come from your local settings, all
else from there. What the protocol does not cover, such as the tree and stored
sessions, is refused with a message.
"""


def attach(arguments: list[str], host: PluginHost) -> int:
    """Run until the user ends it; returns the exit code.

    Raises:
        UserError: The arguments are wrong, or the terminal cannot display it.
        PiError: The other program is no pi, or has ended.
    """
    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(_HELP)
        return 0
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        error = UserError("pi attach needs the command that starts the other pi. See pi attach --help")
        error.exit_code = 2
        raise error
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise UserError("pi attach needs a terminal. A program can drive the other pi itself, with --mode rpc")
    return asyncio.run(_attach(command, host.settings))


async def _attach(command: Sequence[str], settings: SettingsView) -> int:
    screen = FullScreen()
    theme = settings.get_str("theme", None)
    facts = StartFacts(cwd=Path.cwd(), agent_dir=settings.agent_dir, settings=settings, theme=theme, environ=os.environ)
    with screen.prepare(facts):
        return await screen.run_attached(command, settings)


async def run_attached(command: Sequence[str], settings: SettingsView, terminal: Terminal, printed: Printed) -> int:
    """Start the other pi and run the application for its session.

    Args:
        command: What starts it.
        settings: Those of the user here.
        terminal: The terminal, which is ours.
        printed: Where its warnings go.
    """
    from pi_client import PiClient

    asker = Asker()
    pipe = asyncio.subprocess.PIPE
    try:
        client = await PiClient.start(command=command, on_ui=asker.answer, stderr=pipe)
    except OSError as error:
        raise UserError(f"{command[0]!r} cannot be started: {error.strerror or error}") from error
    errors: list[str] = []
    warnings = asyncio.ensure_future(_warnings(client, printed, errors))
    port = RemotePort(client, settings, asker, place=" ".join(command))
    try:
        await port.begin()
        app = make_app(port, terminal, session_dir=None)
        return await run_app(app, terminal, printed, start=_nothing, stop=client.close)
    except PiError as error:
        last = f" It printed: {' '.join(errors[-3:])}" if errors else ""
        raise PiError(f"The session of {' '.join(command)!r} cannot be displayed: {error}.{last}") from error
    finally:
        await client.close()
        warnings.cancel()


async def _nothing() -> None:
    """The other pi starts its session itself."""


async def _warnings(client: PiClient, printed: Printed, errors: list[str]) -> None:
    """Pass on what the other program writes to its stderr."""
    stderr: Any = client.process.stderr if client.process is not None else None
    while stderr is not None and (line := await stderr.readline()):
        errors.append(line.decode(errors="replace").strip())
        printed.stream.write(line.decode(errors="replace"))
