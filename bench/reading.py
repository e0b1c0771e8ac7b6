"""Reading stored messages, beside cattrs: ``uv run python bench/reading.py``.

The engine's reader is compiled from the fields of the classes (``pi_core/wire/reader.py``). The peer is cattrs, taught
to be as strict about the types of JSON and to rename fields; it does not keep unknown fields and has no names of older
files, which would make it slower. Per message CPU in microseconds, best of several rounds, both in turn; and what a
process pays once, when the first message is read: imports and compilation, in milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
import time
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import attrs
from _measure import show

from pi_core.wire.converter import message_from_wire
from pi_core.wire.reader import _names_in_annotations

if TYPE_CHECKING:
    from collections.abc import Callable

    from cattrs import Converter

MESSAGES, ROUNDS = 5_000, 7
MOST = 1.1
"""Of the engine's own time: with a slower library the reader stays."""

MESSAGE: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "The file is short.", "thinkingSignature": "c2ln"},
        {"type": "text", "text": "I read the file."},
        {"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"path": "a.py"}},
    ],
    "api": "anthropic-messages",
    "provider": "anthropic",
    "model": "claude-sonnet-4-5",
    "usage": {"input": 10, "output": 20, "cacheRead": 30, "cacheWrite": 40, "totalTokens": 100, "cost": {"total": 0.1}},
    "stopReason": "toolUse",
    "timestamp": 1_700_000_000_000,
}

ONCE = """
import sys, time
from pi_core.wire.converter import message_from_wire
sys.path.insert(0, "bench")
import reading
started = time.process_time()
{work}
print((time.process_time() - started) * 1000)
"""


def strict(kind: type) -> Callable[[Any, Any], Any]:
    """Return a hook that takes values of one JSON type only."""

    def check(value: Any, _target: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is not of type {kind.__name__}")
        return value

    return check


def with_cattrs() -> Callable[[Any], Any]:
    """Return cattrs' function that reads an assistant message."""
    from cattrs import Converter

    from pi_hookspecs import AssistantMessage

    converter = Converter(detailed_validation=False, prefer_attrib_converters=True)
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, strict(kind))
    converter.register_structure_hook(
        float, lambda value, _: value if type(value) in (int, float) else strict(float)(value, _)
    )
    teach(converter, AssistantMessage)
    read = converter.get_structure_hook(AssistantMessage)
    return lambda data: read(data, AssistantMessage)


def teach(converter: Converter, cls: type) -> None:
    """Register a class, and those that it contains, with the names of the wire and unions by ``type``."""
    from cattrs.gen import make_dict_structure_fn, override

    from pi_core.wire.names import wire_name

    attrs.resolve_types(cls, localns=_names_in_annotations(cls))
    for each in attrs.fields(cls):
        for inner in unions_in(each.type):
            members = [one for one in get_args(inner) if attrs.has(one)]
            for member in members:
                teach(converter, member)
            if len(members) > 1:
                by_type = {get_args(attrs.fields_dict(one)["type"].type)[0]: one for one in members if known_tag(one)}
                converter.register_structure_hook(inner, chooser(converter, by_type))
        if attrs.has(each.type):
            teach(converter, each.type)
    names: dict[str, Any] = {
        each.name: override(rename=wire_name(each.name)) for each in attrs.fields(cls) if each.name != "extra"
    }
    extra: dict[str, Any] = {"extra": override(omit=True)} if "extra" in attrs.fields_dict(cls) else {}
    converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **names, **extra))


def chooser(converter: Converter, by_type: dict[str, type]) -> Callable[[Any, Any], Any]:
    """Return a hook that reads an object as the class of its ``type``."""
    hooks = {tag: (converter.get_structure_hook(cls), cls) for tag, cls in by_type.items()}

    def read(data: Any, _target: Any) -> Any:
        hook, cls = hooks[data["type"]]
        return hook(data, cls)

    return read


def known_tag(cls: type) -> bool:
    """Whether a class has a tag of its own: unknown blocks have any."""
    tag = attrs.fields_dict(cls).get("type")
    return tag is not None and get_origin(tag.type) is Literal


def unions_in(kind: Any) -> list[Any]:
    """Return the unions of a field's type, those in a tuple included."""
    if get_origin(kind) in (Union, UnionType):
        return [kind]
    return [inner for each in get_args(kind) for inner in unions_in(each)] if get_origin(kind) is tuple else []


def once(work: str) -> float:
    """Return the milliseconds of CPU that a new process needs for its first message, the best of several."""
    code = ONCE.format(work=work)
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(ROUNDS)
    ]
    return min(float(each.stdout) for each in runs)


def per_message(read: Callable[[Any], Any]) -> float:
    """Return the microseconds of CPU for a message in one round."""
    started = time.process_time()
    for _ in range(MESSAGES):
        read(MESSAGE)
    return (time.process_time() - started) / MESSAGES * 1e6


def main() -> None:
    """Print the table."""
    library = with_cattrs()
    assert library(MESSAGE) == message_from_wire(MESSAGE)
    rounds = [(per_message(message_from_wire), per_message(library)) for _ in range(ROUNDS)]
    ours, theirs = (min(each) for each in zip(*rounds, strict=True))
    show("One assistant message", "us", [("pi_core.wire", ours, None), ("cattrs", theirs, None)])
    first = once("message_from_wire(reading.MESSAGE)"), once("reading.with_cattrs()(reading.MESSAGE)")
    show("The first message of a process", "ms", [("pi_core.wire", first[0], None), ("cattrs", first[1], None)])
    whole = [MESSAGES * each / 1000 + one for each, one in zip((ours, theirs), first, strict=True)]
    times = whole[1] / whole[0]
    print(f"\n{MESSAGES:,} messages take cattrs {times:.1f} times as long; it would be taken from {MOST} down")


if __name__ == "__main__":
    main()
