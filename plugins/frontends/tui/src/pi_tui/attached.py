"""``pi attach``: displays a session of another process, which already serves it or is started for this purpose."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pi_hookspecs import PiError, StartFacts, UserError
from pi_rpc_kit.remote_ui import Asker
from pi_tui.mode import FullScreen
from pi_tui.run import make_app, run_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_client import PiClient, ServedSession
    from pi_core import PluginHost
    from pi_hookspecs import SettingsView
    from pi_rpc_kit.remote import RemoteSession
    from pi_tui.printed import Printed
    from pi_tui.terminal import Terminal

__all__ = ["attach", "resume_hint", "run_attached"]

_HELP = """\
Usage: pi attach [SESSION]
       pi attach --ssh HOST [SESSION]
       pi attach [--] COMMAND...
       pi attach lines [SESSION]

Show the session of another pi: the screen is local; the session, its files and
its tools are on the other side.

  pi attach                         The session that pi serve serves in this
                                    folder
  pi attach 019aae4e                A served session: the beginning of its id,
                                    or the path of its socket
  pi attach --ssh box               A session that pi serve serves on another
                                    computer, over your ssh; SESSION names it if
                                    there are several
  pi attach lines                   The same in line mode, as with the setting
                                    tuiMode: regular
  pi attach ssh box pi              A session on another computer: COMMAND
                                    starts pi; --mode rpc is added
  pi attach docker exec -i NAME pi  One in a container

A served session continues when the screen is closed.

Key bindings and the appearance of the screen come from your local settings,
everything else from the other pi. What the protocol does not cover, such as the
tree and stored sessions, is refused with a message.
"""


def attach(arguments: list[str], host: PluginHost) -> int:
    """Run until the user quits; return the exit code.

    Raises:
        UserError: The arguments are wrong, nothing is served, or the terminal cannot display it.
        PiError: The other program is not pi or has ended.
    """
    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(_HELP)
        return 0
    lines = host.find("register_subcommands", "attach lines")
    in_lines = arguments[:1] == ["lines"] or host.settings.get_str("tuiMode", None) == "regular"
    if lines is not None and in_lines and (arguments[:1] in (["lines"], ["--ssh"]) or len(arguments) <= 1):
        return int(lines.thing.run(arguments[1:] if arguments[:1] == ["lines"] else arguments, host))
    if arguments[:1] == ["--ssh"]:
        return _attach_over_ssh(arguments[1:], host.settings)
    other = _other(arguments, host.settings)
    _need_terminal()
    return asyncio.run(_attach(other, host.settings))


def _need_terminal() -> None:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise UserError("pi attach needs a terminal. pi -p --attach sends one prompt to a served session without one")


def _attach_over_ssh(arguments: list[str], settings: SettingsView) -> int:
    """Display a session that another computer serves.

    Raises:
        UserError: No computer is named, it cannot be reached, or no matching session is served there.
    """
    from pi_client import PiClientError
    from pi_client.ssh import served_over_ssh

    if len(arguments) not in (1, 2):
        raise UserError("pi attach --ssh takes a computer and at most one session: pi attach --ssh HOST [SESSION]")
    host, name = arguments[0], arguments[1] if len(arguments) > 1 else None
    _need_terminal()
    try:
        with served_over_ssh(host, name) as served:
            return asyncio.run(_attach(Served(served, host), settings))
    except PiClientError as error:
        raise UserError(f"{error}. See pi attach --help") from error


def _other(arguments: list[str], settings: SettingsView) -> Other:
    """Return the other pi that the arguments specify.

    Raises:
        UserError: No matching session is being served.
    """
    from pi_client import PiClientError, find_served

    if arguments[:1] == ["--"] and len(arguments) > 1:
        return Started(arguments[1:])
    if len(arguments) > 1:
        return Started(arguments)
    try:
        return Served(find_served(settings.agent_dir, next(iter(arguments), None), Path.cwd()))
    except PiClientError as error:
        if arguments and shutil.which(arguments[0]) is not None:
            return Started(arguments)
        raise UserError(f"{error}. See pi attach --help") from error


class Other(Protocol):
    """Another pi process.

    Attributes:
        place: Its location, for the footer and messages.
        again: The command that attaches to it again; None to derive a command from its session.
        served_again: What to do about it instead once it has ended.
    """

    place: str
    again: str | None
    served_again: str | None

    async def client(self, asker: Asker) -> PiClient:
        """Connect to it."""
        ...


class Started:
    """A pi process that a command starts, and that ends with the screen.

    Args:
        command: The command without ``--mode rpc``.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self.place = " ".join(command)
        self.again: str | None = None
        self.served_again: str | None = None

    async def client(self, asker: Asker) -> PiClient:
        """Start the process."""
        from pi_client import PiClient

        try:
            return await PiClient.start(command=self._command, on_ui=asker.answer, stderr=asyncio.subprocess.PIPE)
        except OSError as error:
            raise UserError(f"{self._command[0]!r} cannot be started: {error.strerror or error}") from error


class Served:
    """A served session, which continues when the screen is closed.

    Args:
        served: The location of the session.
        computer: What ``ssh`` calls the other computer that serves it; None for this one.
    """

    def __init__(self, served: ServedSession, computer: str | None = None) -> None:
        name = served.session[:8]
        over = "" if computer is None else f"--ssh {computer} "
        self._socket = served.socket
        self.place = served.cwd or served.socket
        self.again: str | None = f"pi attach {over}{name or shlex.quote(served.socket)}"
        ended = f"Its server has ended.\npi serve {name}"
        if computer is not None:  # or ssh has
            ended = f"If its server has ended, first run on {computer}: pi serve {name}\n{self.again}"
        self.served_again: str | None = ended if name else None

    async def client(self, asker: Asker) -> PiClient:
        """Connect to its socket."""
        from pi_client import PiClient

        return await PiClient.connect(self._socket, client="pi attach", on_ui=asker.answer)


async def _attach(other: Other, settings: SettingsView) -> int:
    screen = FullScreen()
    theme = settings.get_str("theme", None)
    facts = StartFacts(cwd=Path.cwd(), agent_dir=settings.agent_dir, settings=settings, theme=theme, environ=os.environ)
    with screen.prepare(facts):
        return await screen.run_attached(other, settings)


async def run_attached(other: Other, settings: SettingsView, terminal: Terminal, printed: Printed) -> int:
    """Connect to the other pi and run the application for its session.

    Args:
        other: The other pi.
        settings: The local user's settings.
        terminal: The terminal, which is already taken over.
        printed: Receives the warnings of the other pi.
    """
    from pi_client import PiClientError
    from pi_rpc_kit.remote import RemoteSession

    asker = Asker()
    try:
        client = await other.client(asker)
    except PiClientError as error:
        raise PiError(f"The session of {other.place!r} cannot be displayed: {error}") from error
    errors: list[str] = []
    warnings = asyncio.ensure_future(_warnings(client, printed, errors))
    session = RemoteSession(client, settings, asker)
    try:
        await session.begin()
        app = make_app(session, terminal, session_dir=None)
        app.place = other.place
        app.resume_hint = lambda: resume_hint(session, other)

        async def start() -> None:
            app.load()  # load stored entries before new events
            session.follow()

        return await run_app(app, terminal, printed, start=start, stop=client.close)
    except PiError as error:
        last = f" It printed: {' '.join(errors[-3:])}" if errors else ""
        raise PiError(f"The session of {other.place!r} cannot be displayed: {error}.{last}") from error
    finally:
        await client.close()
        warnings.cancel()


def resume_hint(session: RemoteSession, other: Other) -> str | None:
    """Return the command that attaches to the session again, or what to do first if the other process has ended."""
    again = (other.served_again if session.ended else None) or other.again
    if again is not None:
        return again
    return f"pi --session {session.session_id}" if session.session_id else None


async def _warnings(client: PiClient, printed: Printed, errors: list[str]) -> None:
    """Forward the other program's stderr."""
    stderr: Any = client.process.stderr if client.process is not None else None
    while stderr is not None and (line := await stderr.readline()):
        errors.append(line.decode(errors="replace").strip())
        printed.stream.write(line.decode(errors="replace"))
