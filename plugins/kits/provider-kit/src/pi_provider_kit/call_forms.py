"""The forms in which models write tool calls as text: a table of their marks, and a reader of each notation.

The table is ``call_forms.toml``. A text is read as a whole: it consists of complete calls in one form, or has none.
Whether such a text means a call, and may run, is not decided here.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["CallForm", "known_call_forms", "misfit", "opening_of", "read_calls"]

Call: TypeAlias = "tuple[str, dict[str, Any]]"
"""The name of a tool, and the arguments."""


@frozen(eq=False)
class CallForm:
    """A row of the table.

    Attributes:
        id: Its name.
        models: The models that write it.
        body: The notations of one call, the first that fits is used.
        around: A mark before the first call and one after the last; optional if there is a mark before each call.
        begin: Marks before each call, one of which has to be there.
        end: Marks after each call; missing at the end of the answer if the server removed them.
        openings: How such a text begins, where that is not one of these marks; ``%tool%`` is the name of a tool.
        without: Texts that are left out before the text is read: prefixes of elements.
        separators: Marks between name and arguments, or between calls.
        sure: Whether the marks occur in no other text, so that they are a call at any server.
        alone: Whether only a whole answer can be in this form, because it has no marks.
        offered: Whether only names of offered tools are names.
    """

    id: str
    models: str
    body: tuple[str, ...]
    around: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    sure: bool = False
    alone: bool = False
    offered: bool = False


@cache
def known_call_forms() -> tuple[CallForm, ...]:
    """Return the table, which is read when a text first looks like a call."""
    import tomllib
    from importlib.resources import files

    rows = tomllib.loads(files(__package__).joinpath("call_forms.toml").read_text(encoding="utf-8"))["form"]
    return tuple(CallForm(**_frozen(row)) for row in rows)


def _frozen(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def read_calls(text: str, tools: Mapping[str, Any], forms: Sequence[CallForm] | None = None) -> list[Call] | None:
    """Return the calls ``(name, arguments)`` of which a text consists; None if it is anything else.

    Args:
        text: The text, which may have white space around it.
        tools: The names of the offered tools, with the JSON schemas of their arguments. Calls of other tools are
            returned, too, except in forms that only their names tell from other texts.
        forms: The forms to try; all of the table if None.
    """
    for form in known_call_forms() if forms is None else forms:
        calls = _Reader(form, tools).read(text)
        if calls:
            return [(name, _typed(arguments, tools.get(name))) for name, arguments in calls]
    return None


def opening_of(
    text: str, tools: Mapping[str, Any], forms: Sequence[CallForm] | None = None
) -> Literal["yes", "maybe", "no"]:
    """Return whether a text begins like a call; ``maybe`` if more of it has to be known."""
    text = text.lstrip()
    answer: Literal["yes", "maybe", "no"] = "no"
    for form in known_call_forms() if forms is None else forms:
        for opening in form.openings or (*form.around[:1], *form.begin):
            for mark in [opening.replace("%tool%", name) for name in tools] if "%tool%" in opening else [opening]:
                if mark and text.startswith(mark):
                    found = _json_opening(text) if form.alone and mark in "{[" else "yes"
                    if found == "yes":
                        return "yes"
                    answer = found if found == "maybe" else answer
                elif mark.startswith(text):
                    answer = "maybe"
    return answer


def misfit(arguments: dict[str, Any], schema: Any) -> str | None:
    """Return how arguments differ from those of a tool; None if all are known and none that it requires is missing.

    Args:
        arguments: The arguments.
        schema: The JSON schema of the tool's arguments.
    """
    schema = schema if isinstance(schema, dict) else {}
    known = schema.get("properties")
    known = known if isinstance(known, dict) else {}
    missing = [name for name in schema.get("required") or () if name not in arguments]
    unknown = [] if schema.get("additionalProperties") else [name for name in arguments if name not in known]
    if missing:
        return f"the argument {', '.join(map(repr, missing))} is missing"
    return f"it has no argument {', '.join(map(repr, unknown))}" if unknown else None


# One text

_NAME = r"[A-Za-z_][\w.-]*"
_SPACE = re.compile(r"\s*")


class _Reader:
    """Reads a text in one form."""

    def __init__(self, form: CallForm, tools: Mapping[str, Any]) -> None:
        self._form = form
        self._tools = tools

    def read(self, text: str) -> list[Call] | None:
        form = self._form
        text = text.strip()
        if form.openings and not any(_begins(text, each, self._tools) for each in form.openings):
            return None
        for part in form.without:
            text = text.replace(part, "")
        at, is_open = _mark(text, 0, form.around[:1])
        if form.around and not is_open and not form.begin:
            return None
        calls: list[Call] = []
        while (at := _skip(text, at)) < len(text):
            end, closes = _mark(text, at, form.around[1:])
            if closes and calls:
                at, _ = _mark(text, end, form.around[:1])
                continue
            found = self._one(text, at)
            if found is None:
                return None
            calls += found[0]
            at = found[1]
        return calls

    def _one(self, text: str, at: int) -> tuple[list[Call], int] | None:
        """Return the calls of one body with its marks, and where the text goes on."""
        form = self._form
        at, begins = _mark(text, at, form.begin)
        if form.begin and not begins:
            return None
        for body in form.body:
            found = _BODIES[body](_Place(text, _skip(text, at), form, self._tools))
            if found is None or not found[0] or (form.offered and any(name not in self._tools for name, _ in found[0])):
                continue
            at = _skip(text, found[1])
            at, ended = _mark(text, at, form.end)
            if not ended and any(mark.startswith(text[at:]) for mark in (*form.end, *form.around[1:])):
                at = len(text)  # the rest of the mark was a stop token
            if body.startswith("json"):
                at, _ = _mark(text, at, form.separators)
            return found[0], at
        return None


class _Place(NamedTuple):
    """Where a body is read."""

    text: str
    at: int
    form: CallForm
    tools: Mapping[str, Any]


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _mark(text: str, at: int, marks: Sequence[str]) -> tuple[int, bool]:
    """Return the place after one of the marks, and whether there was one."""
    at = _skip(text, at) if marks else at
    found = max((mark for mark in marks if text.startswith(mark, at)), key=len, default=None)
    return (at, False) if found is None else (at + len(found), True)


def _begins(text: str, opening: str, tools: Mapping[str, Any]) -> bool:
    if "%tool%" not in opening:
        return text.startswith(opening)
    return any(text.startswith(opening.replace("%tool%", name)) for name in tools)


def _typed(arguments: dict[str, Any], schema: Any) -> dict[str, Any]:
    """Return arguments with the values of texts that stand for another type: elements have no types."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return arguments
    return {name: _value(value, properties.get(name)) for name, value in arguments.items()}


def _value(value: Any, schema: Any) -> Any:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(value, str) or kind not in ("integer", "number", "boolean", "array", "object"):
        return value
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    wanted = {"array": list, "object": dict, "boolean": bool}.get(kind, (int, float))
    return read if isinstance(read, wanted) else value


# JSON

_NAMES = ("name", "tool_name", "tool", "function", "recipient_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "params")
_BESIDE = ("id", "tool_call_id", "type", "index")
_FIRST = (*_NAMES, *_ARGUMENTS, *_BESIDE, "tool_call", "tool_calls")
_KEY = re.compile(r"\[?\s*\{\s*[\"'](\w*)([\"']?)")
_DECODER = json.JSONDecoder(strict=False)


def _json_opening(text: str) -> Literal["yes", "maybe", "no"]:
    """Return whether a text begins like a call in JSON: the first key tells."""
    key = _KEY.match(text)
    if key is None:
        return "maybe" if re.fullmatch(r"\[?\s*(\{\s*)?", text) else "no"
    if key[2]:
        return "yes" if key[1] in _FIRST else "no"
    return "maybe" if key.end() == len(text) and any(each.startswith(key[1]) for each in _FIRST) else "no"


def _json_value(text: str, at: int) -> tuple[Any, int] | None:
    """Return a JSON object or list and its end; one with harmless mistakes is repaired if it is complete."""
    fence = re.compile(r"```(?:json)?\s*").match(text, at)
    at = fence.end() if fence else at
    if text[at : at + 1] not in ("{", "["):
        return None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        found = _repaired(text, at)
        if found is None:
            return None
        value, end = found
    if fence:
        closing = re.compile(r"\s*```").match(text, end)
        if closing is None:
            return None
        end = closing.end()
    return value, end


def _repaired(text: str, at: int) -> tuple[Any, int] | None:
    from pi_provider_kit.repair import repair_arguments  # hardly any call is broken

    end = _object_end(text, at)
    repair = repair_arguments(text[at:end]) if end is not None else None
    return None if repair is None or end is None else (repair[0], end)


def _object_end(text: str, at: int) -> int | None:
    """Return the index after the object that begins here; None if it is incomplete."""
    depth, quote = 0, ""
    place = at
    while place < len(text):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return None


def _json(place: _Place, *, strict: bool = False, by_name: bool = False) -> tuple[list[Call], int] | None:
    found = _json_value(place.text, place.at)
    if found is None:
        return None
    calls = _calls_of(found[0], strict=strict, by_name=by_name)
    return None if calls is None else (calls, found[1])


def _calls_of(value: Any, *, strict: bool, by_name: bool = False) -> list[Call] | None:
    """Return the calls that a value stands for; None if it has anything else in it."""
    if isinstance(value, list):
        several = [_calls_of(each, strict=strict, by_name=by_name) for each in value]
        return None if None in several else [call for each in several if each for call in each]
    if not isinstance(value, dict):
        return None
    if by_name:
        one = [(name, arguments) for name, arguments in value.items() if isinstance(arguments, dict)]
        return one if len(one) == len(value) else None
    inner = value.get("tool_calls", value.get("tool_call"))
    if inner is not None:
        return _calls_of(inner, strict=strict) if not value.keys() - {"tool_calls", "tool_call", "role"} else None
    if isinstance(value.get("function"), dict):
        rest = value.keys() - {"function", *_BESIDE}
        return _calls_of(value["function"], strict=strict) if not rest else None
    call = _call_of(value, strict=strict)
    return None if call is None else [call]


def _call_of(value: dict[str, Any], *, strict: bool) -> Call | None:
    names = [key for key in _NAMES if key in value]
    keys = [key for key in _ARGUMENTS if key in value]
    if len(names) != 1 or len(keys) > 1 or (strict and not keys) or value.keys() - {*names, *keys, *_BESIDE}:
        return None
    name, arguments = value[names[0]], value[keys[0]] if keys else {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return None
    if not isinstance(name, str) or not re.fullmatch(_NAME, name) or not isinstance(arguments, dict):
        return None
    return _tool_name(name), arguments


def _tool_name(name: str) -> str:
    return name.removeprefix("functions.").removeprefix("default_api.")


# Elements

_FUNCTION = r"<(?P<tag>function|invoke)(?:=(?P<bare>[\w.:-]+)\s*|\s+name=\"(?P<quoted>[\w.:-]+)\"\s*)>"
_PARAMETER = (
    r"<(?P<tag>parameter|param)(?:=(?P<bare>[\w.-]+)\s*|\s+name=\"(?P<quoted>[\w.-]+)\""
    r"(?:\s+string=\"(?P<string>true|false)\")?\s*)>"
)


def _function(place: _Place) -> tuple[list[Call], int] | None:
    text = place.text
    opening = re.compile(_FUNCTION).match(text, place.at)
    if opening is None:
        return None
    closing = f"</{opening['tag']}>"
    at = _skip(text, opening.end())
    arguments: dict[str, Any] = {}
    if text.startswith("{", at):
        found = _json_value(text, at)
        if found is None or not isinstance(found[0], dict):
            return None
        arguments, at = found[0], _skip(text, found[1])
    parameter = re.compile(_PARAMETER)
    while (element := parameter.match(text, at)) is not None:
        name = element["bare"] or element["quoted"]
        end = re.compile(rf"</{element['tag']}>(?=\s*(?:<param|</|$))").search(text, element.end())
        value = text[element.end() : end.start() if end else len(text)]
        if name in arguments or "<parameter" in value:
            return None
        arguments[name] = _element_value(value, is_text=element["string"] != "false", is_open=end is None)
        at = _skip(text, end.end() if end else len(text))
    if text.startswith(closing, at):
        at += len(closing)
    elif closing.startswith(text[at:]):
        at = len(text)
    elif not text.startswith("</", at):
        return None
    return [(_tool_name(opening["bare"] or opening["quoted"]), arguments)], at


def _element_value(value: str, *, is_text: bool = True, is_open: bool = False) -> Any:
    """Return the value of an element: the line breaks after its tag and before its end are not part of it."""
    value = value.removeprefix("\n")
    value = value.rstrip() if is_open else value.removesuffix("\n")
    if is_text:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


_KEYED = rf"(?s)(?P<name>{_NAME})\s*(?:<tool_sep>)?\s*(?=<arg_key>|</tool_call>|$)"
_PAIR = r"(?s)<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>\s*"


def _keys(place: _Place) -> tuple[list[Call], int] | None:
    text = place.text
    opening = re.compile(_KEYED).match(text, place.at)
    if opening is None:
        return None
    at, arguments = opening.end(), {}
    pair = re.compile(_PAIR)
    while (found := pair.match(text, at)) is not None:
        arguments[found["key"].strip()] = _element_value(found["value"])
        at = found.end()
    return [(_tool_name(opening["name"]), arguments)], at


def _elements(place: _Place) -> tuple[list[Call], int] | None:
    text = place.text
    for name, schema in place.tools.items():
        if not text.startswith(f"<{name}>", place.at):
            continue
        close = text.find(f"</{name}>", place.at)
        known = (schema.get("properties") if isinstance(schema, dict) else None) or {}
        if close < 0:
            return None
        at, arguments = _skip(text, place.at + len(name) + 2), {}
        while at < close:
            element = re.compile(r"(?s)<([\w-]+)>(.*?)</\1>").match(text, at)
            if element is None or element[1] not in known or element.end() > close:
                return None
            arguments[element[1]] = _element_value(element[2])
            at = _skip(text, element.end())
        return [(name, arguments)], close + len(name) + 3
    return None


# Marks between a name and its arguments


def _named(place: _Place) -> tuple[list[Call], int] | None:
    text = place.text
    for separator in place.form.separators:
        pattern = rf"(?P<name>{_NAME})(?::\d+)?[ \t]*(?:\[CALL_ID\][\w-]+)?{re.escape(separator)}\s*"
        name = re.compile(pattern).match(text, place.at)
        found = _json_value(text, name.end()) if name else None
        if name is not None and found is not None and isinstance(found[0], dict):
            return [(_tool_name(name["name"]), found[0])], found[1]
    return None


_HARMONY = rf"""(?x)
    (?:<\|start\|>\s*assistant\s*)?
    (?:(?:<\|channel\|>)?\s*(?:commentary|analysis)\s+)?
    to=(?P<name>{_NAME})\s*
    (?:<\|channel\|>\s*(?:commentary|analysis)\s*)?
    (?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*
"""


def _harmony(place: _Place) -> tuple[list[Call], int] | None:
    head = re.compile(_HARMONY).match(place.text, place.at)
    found = _json_value(place.text, head.end()) if head else None
    if head is None or found is None or not isinstance(found[0], dict):
        return None
    return [(_tool_name(head["name"]), found[0])], found[1]


def _brackets(place: _Place) -> tuple[list[Call], int] | None:
    text = place.text
    name = re.compile(rf"\[(?P<name>{_NAME})\]\s*").match(text, place.at)
    found = _json_value(text, name.end()) if name else None
    if name is None or found is None or not isinstance(found[0], dict):
        return None
    end, closes = _mark(text, found[1], (f"[/{name['name']}]",))
    return ([(name["name"], found[0])], end) if closes else None


_QUOTES = ('<|"|>', "<escape>")
_BARE = re.compile(r"(?s)(.*?)(?=,\s*[\w-]+\s*:|\}\s*(?:/?>)?\s*$)")


def _braces(place: _Place) -> tuple[list[Call], int] | None:
    text = place.text
    head = re.compile(rf"call:(?:default_api:)?(?P<name>{_NAME})\s*\{{\s*").match(text, place.at)
    if head is None:
        return None
    at, arguments = head.end(), {}
    while not text.startswith("}", at):
        key = re.compile(r"\"?([\w-]+)\"?\s*:\s*").match(text, at)
        found = _brace_value(text, key.end()) if key else None
        if key is None or found is None or key[1] in arguments:
            return None
        arguments[key[1]], at = found
        at, _ = _mark(text, at, (",",))
        at = _skip(text, at)
    return [(_tool_name(head["name"]), arguments)], at + 1


def _brace_value(text: str, at: int) -> tuple[Any, int] | None:
    for quote in _QUOTES:
        if text.startswith(quote, at):
            end = text.find(quote, at + len(quote))
            return None if end < 0 else (text[at + len(quote) : end], end + len(quote))
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        bare = _BARE.match(text, at)
        is_value = bare is not None and bare[1] and not any(mark in bare[1] for mark in (*_QUOTES, "/>"))
        return (bare[1], bare.end()) if bare is not None and is_value else None
    return value, end


# Python

_LONGEST = 100_000


def _python(place: _Place, *, as_list: bool = False) -> tuple[list[Call], int] | None:
    """Return the calls of Python expressions up to the next mark; their arguments are literals with names."""
    text, form = place.text, place.form
    end = min((at for mark in (*form.end, *form.around[1:]) if (at := text.rfind(mark)) > place.at), default=len(text))
    if end - place.at > _LONGEST:
        return None
    try:
        body = ast.parse(text[place.at : end].strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    expressions: list[ast.expr] = []
    for statement in body:
        if not isinstance(statement, ast.Expr) or (as_list and not isinstance(statement.value, ast.List)):
            return None
        value = statement.value
        expressions += value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    calls = [_python_call(each) for each in expressions]
    return None if None in calls or not calls else (calls, end)  # type: ignore[return-value] # no None is left


def _python_call(node: ast.expr) -> Call | None:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and len(node.args) == 1
    ):
        node = node.args[0]  # Gemma prints what a call returns
    if not isinstance(node, ast.Call) or node.args:
        return None
    try:
        name = _tool_name(ast.unparse(node.func))
        arguments = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg is not None}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    whole = len(arguments) == len(node.keywords) and re.fullmatch(r"\w+", name) is not None
    return (name, arguments) if whole and _is_json(arguments) else None


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


_BODIES: dict[str, Callable[[_Place], tuple[list[Call], int] | None]] = {
    "json": _json,
    "json-strict": lambda place: _json(place, strict=True),
    "json-by-name": lambda place: _json(place, by_name=True),
    "function": _function,
    "keys": _keys,
    "elements": _elements,
    "named": _named,
    "harmony": _harmony,
    "brackets": _brackets,
    "braces": _braces,
    "python": _python,
    "python-list": lambda place: _python(place, as_list=True),
}
"""The notations that the table names."""
