"""How plugins display calls and results of tools, and change Markdown before it is displayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs.lines import Line
    from pi_hookspecs.tools import ToolResult

__all__ = ["MarkdownTransform", "RenderToolCall", "RenderToolResult", "ToolRenderer"]

if TYPE_CHECKING:

    class _RenderCall(Protocol):
        def __call__(
            self, args: Mapping[str, Any], /, *, width: int, expanded: bool, partial: bool
        ) -> Sequence[str | Line] | None: ...

    class _RenderResult(Protocol):
        def __call__(
            self, result: ToolResult, /, *, width: int, expanded: bool, partial: bool
        ) -> Sequence[str | Line] | None: ...


RenderToolCall: TypeAlias = "_RenderCall"
"""``render_call(args, *, width, expanded, partial)`` returns the rows of a call, or None to leave it to the front end.

It may also take ``call_id``, the id of the call, or None. A renderer whose rows change later calls
``ctx.ui.redraw()``. Since: 1.1 for these three.

Args:
    args: The arguments; while ``partial`` those that the model has sent so far, of which any may be missing.
    width: Cells in a row.
    expanded: Whether the user wants to see everything.
    partial: Whether the model is still writing the call.
"""

RenderToolResult: TypeAlias = "_RenderResult"
"""``render_result(result, *, width, expanded, partial)`` returns the rows of a result, as ``RenderToolCall`` does.

Args:
    result: The ``ToolResult``, with its ``details``.
    width: Cells in a row.
    expanded: Whether the user wants to see everything.
    partial: Whether the tool is still running, and this is what it sent so far.
"""


@frozen(eq=False, repr=False)
class ToolRenderer(ReprMixin):
    """Displays calls and results of a tool. Its functions have 100 ms, and are not called after three failures.

    It is registered by ``register_renderers``, or comes with the tool as ``Tool.renderer``. If several are
    registered for a tool, the one of the last plugin in load order is used.

    Attributes:
        name: Name of the tool.
        render_call: Displays a call, see ``RenderToolCall``; None leaves it to the front end.
        render_result: Displays a result, see ``RenderToolResult``; None does the same.
        framed: Whether the front end draws its frame around the rows: a box, or an indentation. Without it they have
            the whole width, and a call without rows is not displayed at all. Since: 1.2.
    """

    name: str
    render_call: RenderToolCall | None = field(default=None, kw_only=True)
    render_result: RenderToolResult | None = field(default=None, kw_only=True)
    framed: bool = field(default=True, kw_only=True)


@frozen(eq=False, repr=False)
class MarkdownTransform(ReprMixin):
    """Changes Markdown before it is displayed; neither the stored text nor what the model receives changes.

    Transforms run in load order, each guarded as a ``ToolRenderer`` is; one that fails changes nothing.

    Attributes:
        name: Its name; if two have the same name, the later one in load order is used.
        transform: Gets the text of a whole message and returns another one.
    """

    name: str
    transform: Callable[[str], str]
