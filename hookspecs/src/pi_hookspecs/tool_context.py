"""``ctx`` of a running tool: the session's context, and the tool's own call."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pi_hookspecs.context import PiContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import TypeVar

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.actions import ToolInfo
    from pi_hookspecs.tools import ToolResult

    DepsT_co = TypeVar("DepsT_co", default=Any, covariant=True)
else:
    DepsT_co = typing.TypeVar("DepsT_co", covariant=True)  # before Python 3.13 only type checkers know defaults

__all__ = ["ToolContext"]


@runtime_checkable
class ToolContext(PiContext, Protocol[DepsT_co]):
    """What a running tool may use: the session's context, and its own call.

    A tool may name the type of ``deps``: ``ctx: ToolContext[Library]``.
    """

    @property
    def deps(self) -> DepsT_co:
        """The object passed to ``create_agent_session(deps=...)``; None if there was none."""
        ...

    @property
    def signal(self) -> AbortSignal:
        """The run's abort signal."""
        ...

    @property
    def call_id(self) -> str:
        """Id of this call."""
        ...

    @property
    def tool_name(self) -> str:
        """Name of the tool that was called."""
        ...

    def update(self, partial: ToolResult | str) -> None:
        """Report a partial result while the tool runs."""
        ...

    @property
    def tools(self) -> Sequence[str]:
        """Names of the active tools, which ``execute_tool`` can run."""
        ...

    async def execute_tool(
        self, name: str, arguments: Mapping[str, Any], *, on_update: Callable[[ToolResult], None] | None = None
    ) -> ToolResult:
        """Run another tool, with the validation, hooks and limits of a call by the model.

        Args:
            name: One of ``tools``; a hidden tool; or ``plugin:name``, that plugin's tool even if the model is
                offered another one of the same name. Guards see the name without the plugin.
            arguments: For its schema.
            on_update: Called with its partial results; they are shown under this call when None.

        Returns:
            Its result; a refusal or an exception is a result with ``is_error``.

        Raises:
            UnknownName: There is no such tool, it is not active, or the user excluded it.
            PiError: Calls of tools by tools are nested too deeply.
        """
        ...

    def overridden_tool(self, name: str, /) -> ToolInfo | None:
        """Return the tool that the running one has replaced, to delegate to it; None if there is none.

        ``await ctx.execute_tool(overridden.reference, arguments)`` runs it. For a name other than that of the
        running tool, this returns the tool that the offered tool of that name has replaced.
        """
        ...

    async def relay(self, event: Any) -> None:
        """Show a child session's event under this call: ``session.subscribe(ctx.relay)``."""
        ...
