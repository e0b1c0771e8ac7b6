"""Makes the workspace read-only for the file tools: `write` and `edit` refuse, everything else works."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pi_hookspecs import UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import CommandOperations, PiContext, Service, SomeFileOperations

__all__ = ["register_services"]


class Refusing:
    """Operations of `write` and `edit` that do nothing."""

    async def access(self, path: str) -> NoReturn:
        """Refuse before `edit` reads the file."""
        raise UserError("Nothing was written: the workspace is read-only. Show the user the change instead.")

    async def read_file(self, path: str) -> NoReturn:
        """Refuse, as everything here."""
        await self.access(path)

    async def mkdir(self, path: str) -> NoReturn:
        """Refuse before `write` makes the folder of a new file."""
        await self.access(path)

    async def write_file(self, path: str, content: bytes) -> NoReturn:
        """Refuse to write."""
        await self.access(path)


class ReadOnlyWorkspace:
    """Implements `ToolOperations`; None leaves a tool to this machine, or to another plugin."""

    def files(self, ctx: PiContext) -> SomeFileOperations | None:
        """Return operations that refuse, for the two tools that write; outside of a tool `ctx` has no `tool_name`."""
        return Refusing() if getattr(ctx, "tool_name", None) in ("write", "edit") else None

    def commands(self, ctx: PiContext) -> CommandOperations | None:
        """Leave commands alone."""
        return None


@hookimpl
def register_services() -> Sequence[Service]:
    """Add the workspace."""
    return [ReadOnlyWorkspace()]
