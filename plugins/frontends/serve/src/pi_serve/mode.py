"""Runs ``--mode serve``: its sockets, its signals, and the lines that print its addresses."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pi_core import OrderlyEnd, expand_home, read_token
from pi_hookspecs import UserError
from pi_serve.announcement import Announcement
from pi_serve.server import SessionServer
from pi_serve.unix_socket import fits_socket, listening
from pi_serve.web import web_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import AgentSession

__all__ = ["run_serve"]


async def run_serve(session: AgentSession, options: Any) -> int:
    """Serve the session until a signal; returns the exit code.

    Raises:
        UserError: The session is already being served, or the socket cannot be created.
        PiError: The session could not start.
    """
    for problem in session.problems():
        _say(f"Warning: {' '.join(problem.split())}")
    if options.prompts:
        _say("Warning: messages on the command line are not sent by pi serve; send them with pi -p --attach")
    server = SessionServer(session, idle_seconds=_idle_seconds(session.flags.get("serve-idle")))
    session.ui, session.has_ui = server.ui, True

    def stop() -> bool:
        server.end(signals.exit_code or 0)
        return True

    folder = session.settings.agent_dir / "run"
    async with AsyncExitStack() as stack:
        path = stack.enter_context(_socket_path(session, folder))
        announcement = stack.enter_context(
            Announcement(folder, session=session.session_id, cwd=str(session.cwd), socket=str(path))
        )
        session.subscribe(partial(_rename, announcement, session), "session_start")
        await stack.enter_async_context(listening(server, path))
        lines = [f"session {session.session_id}", f"socket {path}"]
        if (port := session.flags.get("serve-port")) is not None:
            public = _public_url(session.flags.get("serve-url"))
            token = read_token(_token_file(session, folder))
            url = await stack.enter_async_context(
                web_server(server, _port(port), token, session.settings.agent_dir, public_url=public)
            )
            announcement.add(url=url, public=public)
            lines.append(f"web {url}?token={token}")
            if public is not None:
                lines.append(f"url {public}?token={token}")
                _show_code(f"{public}?token={token}")
        with OrderlyEnd(stop) as signals:
            sys.stdout.write("".join(f"{line}\n" for line in lines))
            sys.stdout.flush()
            return await server.serve()


def _rename(announcement: Announcement, session: AgentSession, _event: object) -> None:
    """Announce the session that replaced the previous one."""
    try:
        announcement.rename(session.session_id)
    except UserError as error:
        session.report_plugin_error("serve", "session_start", f"pi attach finds this session by its former id: {error}")


@contextmanager
def _socket_path(session: AgentSession, folder: Path) -> Iterator[Path]:
    """Choose the socket's path; if it would be too long, use a temporary directory."""
    given = session.flags.get("serve-socket")
    path = Path(str(given)).absolute() if given else folder / f"{session.session_id}.sock"
    if given or fits_socket(path):
        yield path
    else:
        with TemporaryDirectory(prefix="pi-serve-") as short:
            yield Path(short) / "socket"


def _token_file(session: AgentSession, folder: Path) -> Path:
    given = session.flags.get("serve-token-file")
    return expand_home(str(given)).absolute() if given else folder / "token"


def _port(text: object) -> int:
    try:
        port = int(str(text))
    except ValueError:
        port = -1
    if not 0 <= port < 2**16:
        raise UserError(f"--port takes a number from 0 to 65535, not {text!r}; 0 is any free port")
    return port


def _public_url(text: object) -> str | None:
    """Return the address of a proxy or tunnel, with a slash at its end; it may be below a path."""
    if text is None:
        return None
    wrong = f"--url takes an address such as https://box.example.net, not {text!r}"
    try:
        url = urlsplit(str(text))
        _ = url.port
    except ValueError as error:  # brackets without an address in them, or no number after the colon
        raise UserError(wrong) from error
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
        raise UserError(wrong)
    path = url.path.strip("/")
    return f"{url.scheme}://{url.netloc}/{path}/" if path else f"{url.scheme}://{url.netloc}/"


def _show_code(address: str) -> None:
    """Draw a QR code for the camera of a phone, where a person sees it."""
    if not sys.stderr.isatty():
        return
    try:
        import segno
    except ImportError:
        from pi_core import install_command

        _say(f"For a QR code of the address: {install_command('qr')}")
    else:
        segno.make(address, error="l").terminal(out=sys.stderr, compact=True)


def _idle_seconds(text: object) -> float | None:
    if text is None:
        return None
    try:
        minutes = float(str(text))
    except ValueError:
        minutes = -1
    if not 0 < minutes < float("inf"):
        raise UserError(f"--idle takes a number of minutes above 0, not {text!r}")
    return minutes * 60


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - for people
