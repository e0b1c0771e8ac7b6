"""Entry points of the program: front ends, which drive a session, and subcommands, which need none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pi_hookspecs.views import SettingsView

__all__ = ["Mode", "StartFacts", "Subcommand"]


@frozen(kw_only=True, eq=False, repr=False)
class StartFacts(ReprMixin):
    """What is known before there is a session: enough to paint a first frame.

    Attributes:
        cwd: The working directory; that of the session, unless an older session is continued.
        agent_dir: The agent directory.
        settings: The user's settings, and the project's if it is trusted.
        theme: The value of ``--use-theme`` or the setting ``theme``: a theme's name, or ``light-theme/dark-theme``.
        session_name: The value of ``--name``; a stored session's own name is not known yet.
        environ: The environment; use it in place of ``os.environ``.
        flags: Options that plugins registered, by name without the dashes.
    """

    cwd: Path
    agent_dir: Path
    settings: SettingsView
    theme: str | None = None
    session_name: str | None = None
    environ: Mapping[str, str] = field(factory=dict, repr=False)
    flags: Mapping[str, bool | str | None] = field(factory=dict)


@frozen(eq=False, repr=False)
class Mode(ReprMixin):
    """A front end: ``run(session, options)`` drives a session and returns the exit code.

    Attributes:
        name: The value for ``--mode``.
        run: Gets the ``AgentSession``, not started yet, and the command line's options: subscribe first, then
            enter the session with ``async with``, which starts it and shuts it down on exit.
        interactive: Whether ``pi`` starts it when there is no prompt.
        priority: The interactive mode with the highest priority is started, unless ``--tui-mode`` or the user's
            settings name another.
        description: For ``--help``.
        needs_tty: Whether it is refused if stdin or stdout is not a terminal. Interactive modes are not selected there
            by default; this is for ``--mode NAME``.
        prepare: Called when the mode has been selected, before a session is made, which may take a second:
            ``prepare(facts)`` returns a context manager that is entered immediately and left when the mode has ended,
            or when no session can be made. It may take over the terminal, but must not keep the exception from
            propagating. If it raises, the reason is printed and the next interactive mode is started; a mode that
            ``--mode`` names ends the program with that reason. Since: 1.1.
        asks_for_session: Whether it asks by itself which session to continue if ``options.resume`` is set; it
            gets a new one then. For others the question is asked before, line by line. Since: 1.1.
        runs_without_model: Whether it can be run with a session that has no model, because no model can be used and the
            command line names none; the user then signs in or chooses a model in it. Otherwise pi ends with an error.
            Since: 1.1.
    """

    name: str
    run: Callable[[Any, Any], Awaitable[int]] = field(kw_only=True)
    interactive: bool = field(default=False, kw_only=True)
    priority: int = field(default=0, kw_only=True)
    description: str = field(default="", kw_only=True)
    needs_tty: bool = field(default=False, kw_only=True)
    prepare: Callable[[StartFacts], AbstractContextManager[Any]] | None = field(default=None, kw_only=True)
    asks_for_session: bool = field(default=False, kw_only=True)
    runs_without_model: bool = field(default=False, kw_only=True)


@frozen(eq=False, repr=False)
class Subcommand(ReprMixin):
    """``pi NAME ...``: ``run(arguments, host)`` gets the arguments after the name, and returns the exit code.

    Attributes:
        name: The first argument that selects it.
        run: Gets the arguments and the ``PluginHost``. An error of click that it raises is displayed as click displays
            it, so a command of click is run with ``standalone_mode=False``.
        description: For ``--help``.
        takes_options: Whether options of a prompt, such as ``--model``, can be given before its name; ``run`` gets them
            before the other arguments. Otherwise they are refused.
    """

    name: str
    run: Callable[[list[str], Any], int] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
    takes_options: bool = field(default=False, kw_only=True)
