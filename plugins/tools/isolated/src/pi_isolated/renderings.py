"""Rows of tools, messages and entries that a program renders: asked for once, drawn when they have arrived.

A front end asks in the middle of a frame, where nothing may wait. It gets the rows that are known, those of an earlier
state of the same call, or None, with which it draws its own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from pi_core import to_wire
from pi_hookspecs import PiError, ToolRenderer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pi_hookspecs import ToolResult

__all__ = ["Renderings"]

_MOST = 2000
"""Renderings that are kept."""


class Renderings:
    """The renderings of one plugin.

    Args:
        ask: Sends a request of type ``render``, and returns its answer; raises ``PiError``.
        redraw: Lets the front end draw again what has changed.
        report: Called with why something is not rendered: pi draws it itself then.
    """

    def __init__(
        self,
        ask: Callable[[Mapping[str, Any]], Awaitable[Any]],
        redraw: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        self._ask = ask
        self._redraw = redraw
        self._report = report
        self._known: OrderedDict[tuple[Any, ...], tuple[str, ...] | None] = OrderedDict()
        self._latest: dict[tuple[Any, ...], tuple[str, ...] | None] = {}
        self._versions: dict[str | None, int] = {}
        self._open: dict[tuple[Any, ...], asyncio.Task[None]] = {}

    def of_tool(self, name: str, parts: list[str], *, framed: bool = True) -> ToolRenderer:
        """Return the renderer of a tool.

        Args:
            name: The tool.
            parts: What the program renders: ``call``, ``result``.
            framed: Whether pi draws its box around it.
        """
        arguments: dict[str | None, Any] = {}

        def render_call(
            args: Mapping[str, Any], *, width: int, expanded: bool, partial: bool, call_id: str | None = None
        ) -> tuple[str, ...] | None:
            arguments[call_id] = args
            shown = {"callId": call_id, "args": to_wire(args), "argsComplete": not partial}
            request = {"what": "tool_call", "name": name, "value": shown, "width": width, "expanded": expanded}
            return self._rows(request, call_id)

        def render_result(
            result: ToolResult, *, width: int, expanded: bool, partial: bool, call_id: str | None = None
        ) -> tuple[str, ...] | None:
            plain = to_wire(result)
            shown = {
                "callId": call_id,
                "args": to_wire(arguments.get(call_id, {})),
                "result": plain,
                "isPartial": partial,
                "isError": result.is_error,
            }
            request = {"what": "tool_result", "name": name, "value": shown, "width": width, "expanded": expanded}
            return self._rows(request, call_id)

        def note_call(
            args: Mapping[str, Any], *, width: int, expanded: bool, partial: bool, call_id: str | None = None
        ) -> None:
            del width, expanded, partial
            arguments[call_id] = args

        return ToolRenderer(
            name,
            render_call=render_call if "call" in parts else note_call,
            render_result=render_result if "result" in parts else None,
            framed=framed,
        )

    def of_custom(self, kind: str, custom_type: str) -> CustomRenderer:
        """Return the renderer of messages or entries of a type."""
        return CustomRenderer(self, kind, custom_type)

    def rows_of_custom(
        self, kind: str, custom_type: str, value: Any, *, width: int, expanded: bool
    ) -> tuple[str, ...] | None:
        """Return the rows of a message or an entry."""
        request = {"what": kind, "name": custom_type, "value": to_wire(value), "width": width, "expanded": expanded}
        return self._rows(request, None)

    def invalidate(self, call_id: str | None = None) -> None:
        """Ask again for the rows of a call, or for all, because the program has changed them."""
        for each in [call_id] if call_id is not None else {*self._versions, None}:
            self._versions[each] = self._versions.get(each, 0) + 1
        self._redraw()

    def _rows(self, request: Mapping[str, Any], call_id: str | None) -> tuple[str, ...] | None:
        from pi_core import dumps

        place = (*(request[key] for key in ("what", "name", "width", "expanded")), call_id)
        key = (*place, self._versions.get(call_id, 0), dumps(request["value"]))
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key not in self._open:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:  # a page is exported without an event loop
                return None
            self._open[key] = loop.create_task(self._fetch(key, place, {"type": "render", **request}))
        return self._latest.get(place)

    async def _fetch(self, key: tuple[Any, ...], place: tuple[Any, ...], request: Mapping[str, Any]) -> None:
        rows: tuple[str, ...] | None = None
        try:
            rows = self._checked(await self._ask(request))
        except PiError as error:
            self._report(f"{request['what']} {request['name']!r} is not rendered: {error}")
        finally:
            del self._open[key]
        self._known[key] = self._latest[place] = rows
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        while len(self._latest) > _MOST:
            del self._latest[next(iter(self._latest))]
        self._redraw()

    def _checked(self, answer: Any) -> tuple[str, ...] | None:
        if answer is None:
            return None
        rows = answer.get("lines") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(each, str) for each in rows):
            self._report(f"what it renders must be null or have 'lines', a list of strings, not {answer!r:.80}")
            return None
        return tuple(rows)


class CustomRenderer:
    """Renders messages or entries of one type."""

    def __init__(self, renderings: Renderings, kind: str, custom_type: str) -> None:
        self.name = custom_type
        self.kind = kind
        self._renderings = renderings

    def render(self, value: Any, *, width: int, expanded: bool) -> tuple[str, ...] | None:
        """Return the rows; None until the program has sent them."""
        return self._renderings.rows_of_custom(self.kind, self.name, value, width=width, expanded=expanded)
