"""An answer in the output of a cell: each text, thought and tool call is an output that grows while it streams.

Everything that a model or a tool wrote is escaped: a notebook executes the scripts of its outputs. Texts are drawn at
most ten times a second, because the whole text of an output is sent each time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_core import error_text
from pi_hookspecs import AssistantMessage, TextContent, ThinkingContent, ToolCall, ToolResultMessage
from pi_html_kit.html_text import Html, join, tag
from pi_html_kit.markdown import markdown
from pi_html_kit.tools import call_line, tool_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_jupyter.cell_thread import CellThread

__all__ = ["AnswerView", "Output"]

_SECONDS = 0.1
"""Between two drawings."""

_STYLE = Html(
    "<style>.pi ins{color:#2a7d46;text-decoration:none}.pi del{color:#b02a2a;text-decoration:none}"
    ".pi pre{max-height:24em;overflow:auto;margin:.3em 0}.pi .failed>summary{color:#b02a2a}"
    ".pi summary{font-family:monospace;cursor:pointer}"
    ".pi .code{position:relative}.pi .lang{position:absolute;top:.2em;right:.5em;font:.75em monospace;opacity:.7}"
    ".pi .wide{overflow-x:auto}.pi :is(th,td){text-align:left!important}"  # Jupyter aligns all of them to the right
    ".pi .right{text-align:right!important}.pi .center{text-align:center!important}"
    ".pi .task{list-style:none}.pi .task input{margin:0 .4em 0 -1.3em}</style>"
)


class Output:
    """What IPython displays: as HTML, and as text where there is no page."""

    def __init__(self, html: Html, text: str) -> None:
        self._html = html
        self._text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": tag("div", self._html, class_="pi"), "text/plain": self._text}


@define(eq=False)
class _Piece:
    """One output: a block of an answer, and the result of a call."""

    block: Any = None
    result: ToolResultMessage | None = None
    handle: Any = None
    written: str = field(default="", repr=False)

    def output(self) -> Output:
        """Return what is displayed."""
        if isinstance(self.block, ToolCall):
            return _call_output(self.block, self.result)
        if isinstance(self.block, ThinkingContent):
            text = self.block.thinking
            return Output(tag("details", tag("summary", "Thinking"), tag("pre", text)), f"Thinking: {text}")
        return Output(join([_STYLE, markdown(self.block.text)]), self.block.text)


def _call_output(call: ToolCall, result: ToolResultMessage | None) -> Output:
    state = "failed" if result is not None and result.is_error else "running" if result is None else "done"
    title = f"{call.name} {call_line(call)}"
    body = None if result is None else tool_box(call, result, None)
    box = tag("details", tag("summary", title, None if body else " …"), body, class_=state)
    text = "" if result is None else "\n".join(each.text for each in result.content if isinstance(each, TextContent))
    return Output(join([_STYLE, box]), f"{title}\n{text}".rstrip())


class AnswerView:
    """Draws the answers to one prompt.

    Args:
        thread: Draws in the thread of the cell.
        display: IPython's ``display``.
    """

    def __init__(self, thread: CellThread, display: Callable[..., Any]) -> None:
        self._thread = thread
        self._display = display
        self._blocks: dict[int, _Piece] = {}
        self._calls: dict[str, _Piece] = {}
        self._changed: list[_Piece] = []
        self._update: Any = None  # the latest event of an answer; its message is built when it is drawn
        self._waiting: asyncio.TimerHandle | None = None

    def on_event(self, event: Any) -> None:
        """Take an event of the session, in the session's thread."""
        match event.type:
            case "message_start" if isinstance(event.message, AssistantMessage):
                self._blocks = {}
            case "message_update":
                self._update = event
                self._draw_soon()
            case "message_end" if isinstance(event.message, AssistantMessage):
                self._update = None
                self._take(event.message)
                self._note_failure(event.message)
            case "message_end" if isinstance(event.message, ToolResultMessage):
                self._take_result(event.message)
            case "auto_retry_start":
                self._note(f"Retrying in {event.delay_ms / 1000:.0f} s: {error_text(event.error_message).words}")
            case "compaction_start":
                self._note("Compacting the conversation")
            case "extension_error":
                self._note(f"{event.extension_path}: {event.error}")

    def _take(self, message: AssistantMessage) -> None:
        for place, block in enumerate(message.content):
            if not _is_visible(block):
                continue
            piece = self._blocks.setdefault(place, _Piece())
            if isinstance(block, ToolCall):
                self._calls[block.id] = piece
            self._change(piece, block)

    def _change(self, piece: _Piece, block: Any) -> None:
        written = repr(block) if isinstance(block, ToolCall) else getattr(block, "text", None) or block.thinking
        if piece.written != written:
            piece.block, piece.written = block, written
            self._mark(piece)

    def _take_result(self, result: ToolResultMessage) -> None:
        piece = self._calls.get(result.tool_call_id)
        if piece is not None:
            piece.result = result
            self._mark(piece)

    def _mark(self, piece: _Piece) -> None:
        if piece not in self._changed:
            self._changed.append(piece)
        self._draw_soon()

    def _note_failure(self, message: AssistantMessage) -> None:
        if message.error_message and message.stop_reason != "aborted":
            self._note(error_text(message.error_message).sentences)

    def _note(self, text: str) -> None:
        self.draw()
        output = Output(tag("p", tag("em", text)), text)
        self._thread.post(lambda: self._display(output))

    def _draw_soon(self) -> None:
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(_SECONDS, self.draw)

    def draw(self) -> None:
        """Draw what is not drawn yet, in the session's thread."""
        if self._update is not None:
            self._take(self._update.message)
            self._update = None
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        drawn = [(piece, piece.output()) for piece in self._changed]
        self._changed.clear()
        if drawn:
            self._thread.post(lambda: self._draw_in_cell(drawn))

    def _draw_in_cell(self, drawn: list[tuple[_Piece, Output]]) -> None:
        for piece, output in drawn:
            if piece.handle is None:
                piece.handle = self._display(output, display_id=True)
            else:
                piece.handle.update(output)


def _is_visible(block: Any) -> bool:
    if isinstance(block, ToolCall):
        return True
    return bool(getattr(block, "text", "") or getattr(block, "thinking", ""))
