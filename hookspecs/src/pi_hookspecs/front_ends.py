"""Entry points of the program: front ends, which drive a session, and subcommands, which need none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Mode", "Subcommand"]


@frozen(eq=False, repr=False)
class Mode(ReprMixin):
    """A front end: ``run(session, options)`` drives a session and returns the exit code.

    Attributes:
        name: The value for ``--mode``.
        run: Gets the ``AgentSession``, not started yet, and the command line's options: subscribe first, then
            enter the session with ``async with``, which starts it and shuts it down on exit.
        interactive: Whether ``pi`` starts it when there is no prompt.
        priority: The interactive mode with the highest priority is started.
        description: For ``--help``.
    """

    name: str
    run: Callable[[Any, Any], Awaitable[int]] = field(kw_only=True)
    interactive: bool = field(default=False, kw_only=True)
    priority: int = field(default=0, kw_only=True)
    description: str = field(default="", kw_only=True)


@frozen(eq=False, repr=False)
class Subcommand(ReprMixin):
    """``pi NAME ...``: ``run(arguments, host)`` gets the arguments after the name, and returns the exit code.

    Attributes:
        name: The first argument that selects it.
        run: Gets the arguments and the ``PluginHost``.
        description: For ``--help``.
    """

    name: str
    run: Callable[[list[str], Any], int] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
