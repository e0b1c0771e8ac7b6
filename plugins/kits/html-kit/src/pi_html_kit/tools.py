"""Tool calls and their results: the call in one line, arguments folded, long output with its first lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs import ImageContent, TextContent
from pi_html_kit.amounts import seconds, usage_line
from pi_html_kit.html_text import Html, element, escaped, join, tag
from pi_html_kit.images import image
from pi_html_kit.markdown import diff_lines
from pi_html_kit.terminal import terminal_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import ToolCall, ToolResultMessage

__all__ = ["as_json", "call_line", "folded", "fragments", "output", "plain", "tool_box", "tool_fold"]

_MAIN_ARGUMENTS = ("command", "path", "file_path", "pattern", "query", "url", "name")
"""Arguments that describe a call best, most important first."""

_OUTPUT = element("pre", class_="output")
_MORE = element("details", class_="more")
_SUMMARY = element("summary")
_PLAIN = element("pre")
_HEADER = element("header")
_NAME = element("b")
_CALL = element("code")
_OUTCOME = element("em")
_NOTES = element("small")
_SECTIONS = {state: element("section", class_=f"tool {state}") for state in ("open", "failed", "done")}

_SHORT = 160
_SHOWN_LINES = 10
_SHOWN_CHARACTERS = 2000
_SHOWN_DIFF = 40


def tool_box(call: ToolCall, result: ToolResultMessage | None, result_id: str | None) -> Html:
    """Return a call with its result.

    Args:
        call: The call.
        result: Its result; None when there is none.
        result_id: The element's id for the result.
    """
    state = "open" if result is None else "failed" if result.is_error else "done"
    return _SECTIONS[state](
        _HEADER(*_head(call, result, state)),
        _arguments(call),
        _result(result, result_id) if result is not None else None,
    )


def _result(result: ToolResultMessage, result_id: str | None) -> Html:
    named = f' id="{escaped(result_id)}"' if result_id is not None else ""
    return Html(f'<div{named} class="result">{result_body(result)}</div>')


def tool_fold(call: ToolCall, result: ToolResultMessage | None, *, is_running: bool = False) -> Html:
    """Return a call with its result, folded, with the call as the summary.

    It is open where the reader wants to see the result: a change of a file, a picture, a failure, what runs.

    Args:
        call: The call.
        result: Its result, of a running call so far; None when there is none.
        is_running: Whether the call is being executed.
    """
    state = "open" if is_running or result is None else "failed" if result.is_error else "done"
    diff = _diff_of(result)
    content = () if result is None else result.content
    is_open = (
        is_running or state == "failed" or diff is not None or any(isinstance(each, ImageContent) for each in content)
    )
    body = folded(diff, diff_lines, "diff", _SHOWN_DIFF) if diff else fragments(content, _end if is_running else output)
    return tag(
        "details",
        _SUMMARY(*_head(call, result, "running" if is_running else state)),
        None if diff else _arguments(call),
        tag("div", body, class_="result") if body else None,
        class_=f"tool {state}",
        open=is_open and bool(body),
    )


def result_body(result: ToolResultMessage) -> Html:
    """Return the result of a call: text and images, and the diff of an edit."""
    diff = _diff_of(result)
    parts = [fragments(result.content, output)]
    if diff:
        parts.append(folded(diff, diff_lines, class_="diff", lines=_SHOWN_DIFF))
    return join(parts)


def call_line(call: ToolCall) -> str:
    """Return a call in one line, without the tool's name."""
    arguments = call.arguments
    main = next((str(arguments[name]) for name in _MAIN_ARGUMENTS if isinstance(arguments.get(name), str | int)), None)
    if main is None:
        main = as_json(arguments, indent=None) if arguments else ""
    line = " ".join(main.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"


def fragments(content: str | Sequence[Any], of_text: Callable[[str], Html]) -> Html:
    """Return the blocks of a content: texts as the function returns them, images, and unknown blocks as JSON."""
    parts: list[Html] = []
    block: Any
    for block in (TextContent(content),) if isinstance(content, str) else content:
        if isinstance(block, TextContent):
            parts.append(of_text(block.text))
        elif isinstance(block, ImageContent):
            parts.append(image(block))
        else:
            parts.append(folded(as_json({"type": block.type, **block.extra})))
    return join(parts)


def plain(text: str) -> Html:
    """Return a text as it is."""
    return _PLAIN(text)


def output(text: str) -> Html:
    """Return a program's output."""
    if text.startswith(("diff --git ", "--- a/")):
        return folded(text, diff_lines, class_="diff")
    return folded(text, terminal_text)


def folded(text: str, written: Any = None, class_: str = "output", lines: int = _SHOWN_LINES) -> Html:
    """Return a text with its first lines visible and the rest folded."""
    text = text.rstrip("\r\n")
    if not text:
        return Html()
    written = written or str
    box = _OUTPUT if class_ == "output" else element("pre", class_=class_)
    cut = _cut(text, lines)
    if cut is None:
        return box(written(text))
    rest = text[cut:]
    more = rest.count("\n") + 1
    summary = f"{more:,} more lines" if more > 1 else f"{len(rest):,} more characters"
    return join([box(written(text[:cut])), _MORE(_SUMMARY(summary), box(written(rest)))])


def _end(text: str) -> Html:
    """Return the last lines of what a running program has written."""
    lines = text.rstrip("\r\n").rsplit("\n", _SHOWN_LINES)
    return _OUTPUT(terminal_text("\n".join(lines[-_SHOWN_LINES:])[-_SHOWN_CHARACTERS:]))


def _cut(text: str, lines: int) -> int | None:
    """Return the end of the visible part; None if all of it is visible."""
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    if 0 <= end <= _SHOWN_CHARACTERS * max(1, lines // _SHOWN_LINES):
        return end + 1 if text.count("\n", end + 1) > 1 else None  # two lines more are no reason to fold
    if len(text) <= _SHOWN_CHARACTERS * 2:
        return None
    line = text.rfind("\n", 0, _SHOWN_CHARACTERS)
    return line + 1 if line > 0 else _SHOWN_CHARACTERS


def as_json(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON; its ``repr`` where it is not JSON."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=repr)


def _head(call: ToolCall, result: ToolResultMessage | None, state: str) -> list[Html | None]:
    notes = [_changed(diff)] if (diff := _diff_of(result)) else []
    if result is not None:
        notes += [seconds(result.duration_ms)] if result.duration_ms is not None else []
        notes += [usage_line(result.usage)] if result.usage is not None else []
    outcome = {"open": "no result", "failed": "failed", "running": "running"}.get(state)
    return [
        _NAME(call.name),
        _CALL(call_line(call)),
        _OUTCOME(outcome) if outcome else None,
        _NOTES(" · ".join(filter(None, notes))) if notes else None,
    ]


def _changed(diff: str) -> str:
    lines = diff.split("\n")
    return f"+{sum(each.startswith('+') for each in lines)} \N{MINUS SIGN}{sum(each.startswith('-') for each in lines)}"


def _arguments(call: ToolCall) -> Html | None:
    """Return the arguments, where the line above does not contain all of them."""
    if call.arguments_error:
        return tag("p", call.arguments_error, class_="error")
    if not call.arguments or (len(call.arguments) == 1 and _fits(next(iter(call.arguments.values())))):
        return None
    rows = [
        tag("div", tag("dt", name), tag("dd", _argument(name, value)), class_="row")
        for name, value in call.arguments.items()
    ]
    return tag("details", tag("summary", "arguments"), tag("dl", join(rows)), class_="args")


def _fits(value: object) -> bool:
    return isinstance(value, str | int) and len(str(value)) < _SHORT and "\n" not in str(value)


def _argument(name: str, value: object) -> Html:
    if name == "edits" and isinstance(value, list) and value and all(_is_edit(each) for each in value):
        return tag("pre", diff_lines("\n".join(_as_diff(each) for each in value)), class_="diff")
    text = value if isinstance(value, str) else as_json(value)
    return tag("pre", text) if "\n" in text or len(text) > _SHORT else tag("code", text)


def _is_edit(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(each), str) for each in ("oldText", "newText"))


def _as_diff(edit: Mapping[str, str]) -> str:
    sides = (("-", edit["oldText"]), ("+", edit["newText"]))
    return "\n".join(f"{sign}{line}" for sign, text in sides for line in text.split("\n"))


def _diff_of(result: ToolResultMessage | None) -> str | None:
    """Return the diff of an edit's details."""
    details = result.details if result is not None and not result.is_error else None
    diff = details.get("diff") if isinstance(details, dict) else None
    return diff if isinstance(diff, str) and diff else None
