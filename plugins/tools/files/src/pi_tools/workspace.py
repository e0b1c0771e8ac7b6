"""Where a tool works, on this machine or where a plugin redirects it to, and how programs are started there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_git_kit import Prepare
    from pi_hookspecs import PiContext, Processes, SpawnRequest, TextStream

__all__ = ["BackgroundProcesses", "StartPolicy", "command_operations", "file_operations", "secret_stream"]


def file_operations(ctx: Any, options: Any) -> Any:
    """Return the operations of the options, else those of a plugin, for the tool of this call; None for this machine.

    Raises:
        PiError: A plugin that redirects tools failed to provide them.
    """
    return _operations(ctx, options, "file_operations")


def command_operations(ctx: Any, options: Any) -> Any:
    """Return the operations of the options, else those of a plugin; None for this machine. Raises as above."""
    return _operations(ctx, options, "command_operations")


def _operations(ctx: Any, options: Any, method: str) -> Any:
    if options is not None and options.operations is not None:
        return options.operations
    ask = getattr(ctx, method, None)  # a program may call a tool with a context of its own
    return None if ask is None else ask()


def secret_stream(ctx: Any) -> TextStream | None:
    """Return what takes secrets out of the output of a command that is stored; None outside a session."""
    secrets = getattr(ctx, "secrets", None)  # a program may call a tool with a context of its own
    return None if secrets is None else secrets.stream()


class StartPolicy:
    """Asks the plugins of a session (``Launcher``) how a program is started on this machine.

    Args:
        ctx: The context of the call.
        purpose: As in ``SpawnRequest``.
    """

    def __init__(self, ctx: Any, purpose: str) -> None:
        self._ctx = ctx
        self._ask = getattr(ctx, "prepare_spawn", None)  # a program may call a tool with a context of its own
        self._purpose = purpose
        self._call_id = getattr(ctx, "call_id", None)

    async def prepare(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> SpawnRequest:
        """Return what to start, the program with its folder.

        Raises:
            PiError: It must not be started.
            ProcessFailure: A plugin starts it with a program that does not exist.
        """
        from pi_hookspecs.programs import SpawnRequest

        asked = SpawnRequest(argv=argv, cwd=cwd, env=env, purpose=self._purpose, call_id=self._call_id)
        request: SpawnRequest = asked if self._ask is None else await self._ask(asked)
        if request is asked:
            return request
        from pi_process_kit import with_folder

        return with_folder(request)

    def for_git(self) -> Prepare | None:
        """Return what changes how git is started, for a thread; None if no plugin can be asked."""
        if self._ask is None or getattr(self._ctx, "child_environment", None) is None:
            return None
        from pi_git_kit import ask_plugins

        return ask_plugins(self._ctx)


class BackgroundProcesses:
    """Implements ``ProcessKeeper``; what it needs is imported with the first use."""

    def processes(self, ctx: PiContext) -> Processes:
        """Return the processes of a session."""
        from pi_tools.commands.managed import SessionProcesses

        return SessionProcesses(ctx)
