"""Displays values with the renderers of plugins, for front ends. Every call is guarded: nothing here raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.hooks.drawing import DrawingGuard, listed, rows_of
from pi_hookspecs import CustomEntry, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.conversation.runtime import Runtime
    from pi_core.host.registry import Registered
    from pi_hookspecs import CustomMessage, Theme, ToolRenderer, ToolResult

__all__ = ["Renderings"]

_HOOK = "register_renderers"


class Renderings:
    """Calls the renderers of one session's plugins.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._guard = DrawingGuard(runtime.report_plugin_error)

    def custom(
        self, value: CustomMessage | CustomEntry, *, width: int, expanded: bool = False
    ) -> tuple[str, ...] | None:
        """Return the lines that a plugin renders for its message or entry, without styles.

        Returns:
            None if no plugin has a renderer for it, or if the renderer failed, which is reported. Then show the
            content.
        """
        rows = self.custom_lines(value, width=width, expanded=expanded)
        return tuple(map(str, rows)) if rows is not None else None

    def custom_lines(
        self, value: CustomMessage | CustomEntry, *, width: int, expanded: bool = False, theme: Theme | None = None
    ) -> tuple[str | Line, ...] | None:
        """Return the rows that a plugin renders for its message or entry; see ``custom``.

        Args:
            value: The message or entry.
            width: Cells in a row.
            expanded: Whether the user wants to see everything.
            theme: The current theme, for renderers that take it.
        """
        kind = "entry" if isinstance(value, CustomEntry) else "message"
        find = self._runtime.registrations.find
        found = find(_HOOK, f"{kind}/{value.custom_type}") or find(_HOOK, value.custom_type)
        if found is None:
            return None
        render: Callable[..., Any] = found.thing.render
        options: dict[str, Any] = {"width": width, "expanded": expanded}

        def draw() -> tuple[str | Line, ...] | None:
            if _takes(render, "theme"):
                options["theme"] = theme
            rows = render(value, **options)
            if rows is None:
                return None
            return tuple(each if isinstance(each, Line) else str(each) for each in listed(rows))

        slot = self._guard.named(found.plugin, f"the renderer of {value.custom_type!r}", found.thing)
        return slot.run(draw, render)[1]

    def tool_call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        width: int,
        expanded: bool = False,
        partial: bool = False,
        call_id: str | None = None,
    ) -> tuple[str | Line, ...] | None:
        """Return the rows that a plugin renders for a tool call.

        Args:
            name: The tool.
            arguments: The arguments of the call.
            width: Cells in a row.
            expanded: Whether the user wants to see everything.
            partial: Whether the model is still writing the call.
            call_id: The id of the call, for renderers that take it.

        Returns:
            None if no plugin renders calls of this tool, if its renderer leaves this one to the front end, or if it
            failed, which is reported.
        """
        options = {"width": width, "expanded": expanded, "partial": partial}
        return self._tool(name, "render_call", arguments, call_id, options)

    def tool_result(
        self,
        name: str,
        result: ToolResult,
        *,
        width: int,
        expanded: bool = False,
        partial: bool = False,
        call_id: str | None = None,
    ) -> tuple[str | Line, ...] | None:
        """Return the rows that a plugin renders for a tool result, like ``tool_call``.

        Args:
            name: The tool.
            result: The result.
            width: Cells in a row.
            expanded: Whether the user wants to see everything.
            partial: Whether the tool is still running.
            call_id: The id of the call, for renderers that take it.
        """
        options = {"width": width, "expanded": expanded, "partial": partial}
        return self._tool(name, "render_result", result, call_id, options)

    def is_framed(self, name: str) -> bool:
        """Return whether the front end draws its frame around the rows of a tool (``ToolRenderer.framed``)."""
        found = self._tool_renderer(name)
        return found is None or bool(getattr(found[1], "framed", True))

    def markdown(self, text: str) -> str:
        """Return a text after applying all plugins' ``MarkdownTransform`` objects; failing ones are skipped."""
        found = self._runtime.registrations.find_all(_HOOK)
        transforms = [each for each in found.values() if hasattr(each.thing, "transform")]
        for each in sorted(transforms, key=lambda each: self._runtime.host.rank(each.plugin)):
            text = self._transformed(each, text)
        return text

    def _tool(
        self, name: str, method: str, value: object, call_id: str | None, options: dict[str, Any]
    ) -> tuple[str | Line, ...] | None:
        found = self._tool_renderer(name)
        render = getattr(found[1], method) if found is not None else None
        if found is None or render is None:
            return None
        plugin, renderer = found
        slot = self._guard.named(plugin, f"{method} of the tool {name!r}", renderer)

        def draw() -> tuple[str | Line, ...] | None:
            if _takes(render, "call_id"):
                options["call_id"] = call_id
            rows: Any = render(value, **options)
            return None if rows is None else tuple(rows_of(rows))

        return slot.run(draw, render)[1]

    def _tool_renderer(self, name: str) -> tuple[str, ToolRenderer] | None:
        """Return a tool's renderer and its plugin: the registered one, or the tool's own if its plugin is later."""
        runtime = self._runtime
        registered = runtime.registrations.find(_HOOK, f"tool/{name}")
        tool = runtime.toolbox.find(name)
        own = tool.renderer if tool is not None else None
        owner = (runtime.toolbox.owner(tool) if tool is not None else None) or "(program)"
        if own is not None and (registered is None or runtime.host.rank(owner) > runtime.host.rank(registered.plugin)):
            return owner, own
        return (registered.plugin, registered.thing) if registered is not None else None

    def _transformed(self, found: Registered, text: str) -> str:
        transform = found.thing.transform

        def run() -> str:
            answer = transform(text)
            if not isinstance(answer, str):
                message = f"transform returned {answer!r:.60}, which is not text"
                raise TypeError(message)
            return answer

        slot = self._guard.named(found.plugin, f"the Markdown transform {found.thing.name!r}", found.thing)
        answer = slot.run(run, transform)[1]
        return answer if answer is not None else text


def _takes(render: Callable[..., Any], name: str) -> bool:
    from inspect import signature

    try:
        return name in signature(render).parameters
    except ValueError:  # its signature cannot be read
        return False
