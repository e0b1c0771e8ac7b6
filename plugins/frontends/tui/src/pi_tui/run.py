"""A run of the screen, from the start to the end of the session."""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_core.base.process.signals import OrderlyEnd
from pi_core.hooks.loop_watch import displaying_blocks
from pi_tui.blocked import BlockedScreen
from pi_tui.declared_settings import HARDWARE_CURSOR, MOUSE
from pi_tui.exit import print_exit
from pi_tui.session.facts import clean_text
from pi_tui.session.plugins import skip_waiting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from pi_core import AgentSession, Session
    from pi_tui.keys.bindings import Bindings
    from pi_tui.printed import Printed
    from pi_tui.screen.app import ScreenApp
    from pi_tui.terminal import Terminal

__all__ = ["make_app", "orderly_end", "run_app", "run_screen"]


async def run_screen(session: AgentSession, options: Any, terminal: Terminal, printed: Printed) -> int:
    """Run the conversation until the user quits; return the exit code.

    Args:
        session: A session that is not started yet; it is shut down when this returns.
        options: The options of the run, including the first prompts.
        terminal: The terminal, which was taken over with the first frame.
        printed: The output that was printed since then.
    """
    app = make_app(session, terminal, session_dir=options.session_dir, theme=options.use_theme)
    app.begins_with = "resume" if options.resume and options.session is None else ""
    return await run_app(app, terminal, printed, start=session.start, stop=session.dispose, prompts=options.prompts)


async def run_app(
    app: ScreenApp,
    terminal: Terminal,
    printed: Printed,
    *,
    start: Callable[[], Awaitable[Any]],
    stop: Callable[[], Awaitable[Any]],
    prompts: Iterable[Any] = (),
) -> int:
    """Run the conversation until the user quits; return the exit code.

    Args:
        app: The application, for a session.
        terminal: The terminal.
        printed: The output that was printed since the terminal was taken over.
        start: Starts the session; called once dialogs can be displayed.
        stop: Ends the session; called after the terminal was returned to the shell.
        prompts: The first prompts to send.
    """
    session = app.session
    session.ui, session.has_ui = app.interface, True
    terminal.shows_cursor = HARDWARE_CURSOR.read(session.settings)
    code = 1
    with orderly_end(app) as end, displaying_blocks(BlockedScreen(app, terminal)):
        running = asyncio.ensure_future(app.run_async(mouse=_mouse(session)))
        try:
            app.hold()
            await app.until_ready(running)
            printed.to(app.print_line)
            app.capture(printed.stream)
            app.begin(session.subscribe(app.take_event))
            with app.as_current():
                await start()
                await app.talk_until_end(prompts, running)
            code = 0
        finally:
            end.cleaning_up()
            end.skip = lambda: skip_waiting(session)
            await app.close(running)
            printed.keep()
            terminal.restore()
            await stop()
            print_exit(app, terminal)
    if app.crash is not None:
        raise app.crash
    return end.exit_code if end.exit_code is not None else code


def make_app(session: Session, terminal: Terminal, *, session_dir: str | None, theme: str | None = None) -> ScreenApp:
    """Return the application for a session at a terminal."""
    from pi_core import error_text
    from pi_tui.driver import ScreenDriver
    from pi_tui.screen.app import ScreenApp

    def explain(message: str) -> str:
        return error_text(message).sentences

    environ: Mapping[str, str] = terminal.environ
    bindings, problems = _bindings(session, environ)
    app = ScreenApp(
        session,
        bindings=bindings,
        environ=environ,
        terminal=terminal,
        session_dir=session_dir,
        theme=theme,
        home=environ.get("HOME", ""),
        explain=explain,
        driver_class=ScreenDriver,
    )
    app.first_problems = problems
    app.read_history(session.settings.agent_dir / "prompt-history.jsonl", partial(clean_text, session))
    return app


def _bindings(session: Session, environ: Mapping[str, str]) -> tuple[Bindings, list[str]]:
    from pi_tui.keys.actions import platform_of
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.conflicts import find_conflicts
    from pi_tui.keys.file import read_key_file

    read = read_key_file(session.settings.agent_dir / "keybindings.json")
    bindings = Bindings(platform_of(sys.platform, environ), read.keys)
    return bindings, [*map(str, read.problems), *map(str, find_conflicts(bindings))]


def _mouse(session: Session) -> bool:
    return MOUSE.read(session.settings) and os.name == "posix"


def orderly_end(app: ScreenApp) -> OrderlyEnd:
    """Return a context in which a first signal ends the application in an orderly way, and a second one immediately."""

    def abort() -> bool:
        app.leave()
        return app.is_talking

    return OrderlyEnd(abort)
