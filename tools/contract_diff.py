"""Compare two contracts of plugins; without arguments, that of 1.0 and the present one.

``uv run python tools/contract_diff.py [OLD [NEW]]`` takes files that ``tools/build_contract.py`` has written. A plugin
that works with the old one has to work with the new one. What is added is fine, where plugins need not know it. Breaks
are: what is removed or renamed, another type, default or rule, a new field or parameter without a default, and a new
member of a protocol that plugins implement. They are printed, one a line, and the exit code is 1.
"""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["breaks"]

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
RELEASED, PRESENT = REFERENCE / "contract-1.0.json", REFERENCE / "contract.json"

_COMPLETER = "a completer may be async and describe its completions: what 1.0 took is one"
_HOOKSPEC = "without parentheses it is what it was; it may be called with marks, too"
ACCEPTED = {
    "function hookspec": _HOOKSPEC,
    "function hookspec, parameter function": _HOOKSPEC,
    "value Command, field complete": _COMPLETER,
    "protocol PiAPI, register_command, parameter complete": _COMPLETER,
}
"""Breaks that harm no plugin, as they are printed up to the colon, with the reason."""


def breaks(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a plugin for the old contract may not survive, one line each."""
    yield from _hooks(old.get("hooks", {}), new.get("hooks", {}))
    yield from _named("value", old.get("values", {}), new.get("values", {}), _value)
    extended = {name: each.get("bases", ()) for name, each in new.get("protocols", {}).items()}
    protocol = partial(_protocol, extended=extended)
    yield from _named("protocol", old.get("protocols", {}), new.get("protocols", {}), protocol)
    yield from _named("class", old.get("classes", {}), new.get("classes", {}), _protocol)
    yield from _named("function", old.get("functions", {}), new.get("functions", {}), _call)
    yield from _named("error", old.get("errors", {}), new.get("errors", {}), _error)
    yield from _named("name", old.get("names", {}), new.get("names", {}), _name)


def _named(kind: str, old: Mapping[str, Any], new: Mapping[str, Any], compare: Any) -> Iterator[str]:
    for name, before in old.items():
        if name not in new:
            yield f"{kind} {name}: removed"
        else:
            yield from compare(f"{kind} {name}", before, new[name])


# Hooks


def _hooks(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    yield from _named("hook", old, new, _hook)


def _hook(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, text in old["parameters"].items():
        if name not in new["parameters"]:
            yield f"{where}, parameter {name}: removed"
        else:
            yield from _changed(f"{where}, parameter {name}", "type", text, new["parameters"][name])
    if not _widened(old["returns"], new["returns"]):
        yield from _changed(where, "answer", old["returns"], new["returns"])
    if "answers" in old:
        yield from _rules(where, old["answers"], new.get("answers", ""))
    for what in ("async", "onFailure", "deadline"):
        yield from _changed(where, what, old.get(what), new.get(what))


def _rules(where: str, old: str, new: str) -> Iterator[str]:
    """Compare how answers combine; rules of further fields are no break."""
    after = new.split(", ")
    for rule in old.split(", "):
        if rule not in after:
            yield f"{where}: its answers combined by {rule!r}, now by {new!r}"


# Values


def _value(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = old["fields"], new["fields"]
    for name, field in before.items():
        if name not in after:
            yield f"{where}, field {name}: removed"
            continue
        at, now = f"{where}, field {name}", after[name]
        yield from _changed(at, "type", field["type"], now["type"])
        if "default" in field and "default" not in now:
            yield f"{at}: required now"
        elif "default" in field:
            yield from _changed(at, "default", field["default"], now["default"])
    for name in after:
        if name not in before and "default" not in after[name]:
            yield f"{where}, field {name}: new and required"
    yield from _order(where, [name for name in _positional(before) if name in after], _positional(after))


def _positional(fields: Mapping[str, Any]) -> list[str]:
    return [name for name, field in fields.items() if field["positional"]]


def _order(where: str, old: list[str], new: list[str]) -> Iterator[str]:
    if new[: len(old)] != old:
        yield f"{where}: taken by position were {', '.join(old)}, now {', '.join(new) or 'none'}"


# Protocols, functions and names


def _protocol(
    where: str, old: Mapping[str, Any], new: Mapping[str, Any], *, extended: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[str]:
    """Compare the members; what plugins only read may have a type that extends the one of before."""
    before, after = old["members"], new["members"]
    for name, member in before.items():
        if name not in after:
            yield f"{where}, {name}: removed"
            continue
        at, now = f"{where}, {name}", after[name]
        if "parameters" in member and "parameters" in now:
            yield from _call(at, member, now, given=new.get("implemented", False))
        else:
            yield from _changed(at, "kind", member["kind"], now["kind"])
            if new.get("implemented") or member.get("type") not in extended.get(now.get("type"), ()):
                yield from _changed(at, "type", member.get("type"), now.get("type"))
    if new.get("implemented"):
        yield from (f"{where}, {name}: new, and plugins implement it" for name in after if name not in before)


def _call(where: str, old: Mapping[str, Any], new: Mapping[str, Any], *, given: bool = False) -> Iterator[str]:
    """Compare two signatures; the result of a method that plugins implement (``given``) may widen."""
    before, after = old["parameters"], new["parameters"]
    for name, parameter in before.items():
        at = f"{where}, parameter {name}"
        if name not in after:
            yield f"{at}: removed"
            continue
        now = after[name]
        if not _widened(parameter["type"], now["type"]):
            yield from _changed(at, "type", parameter["type"], now["type"])
        if "default" in parameter and "default" not in now:
            yield f"{at}: required now"
        elif "default" in parameter:
            yield from _changed(at, "default", parameter["default"], now["default"])
        if now["kind"] not in (parameter["kind"], "positional_or_keyword"):
            yield from _changed(at, "kind", parameter["kind"], now["kind"])
    for name, parameter in after.items():
        if name not in before and "default" not in parameter and not parameter["kind"].startswith("var_"):
            yield f"{where}, parameter {name}: new and required"
    taken = _by_position(after)
    yield from _order(where, [name for name in _by_position(before) if name in taken], taken)
    yield from _changed(where, "async", old.get("async"), new.get("async"))
    if not (given and _widened(old["returns"], new["returns"])):
        yield from _changed(where, "result", old.get("returns"), new.get("returns"))


def _by_position(parameters: Mapping[str, Any]) -> list[str]:
    return [name for name, each in parameters.items() if each["kind"].startswith("positional")]


def _error(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{where}: is no {base} any more" for base in old["bases"] if base not in new["bases"])
    yield from _call(where, old, new)


def _name(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if not _widened(old["is"], new["is"]):
        yield from _changed(where, "meaning", old["is"], new["is"])


# Texts


def _changed(where: str, what: str, old: object, new: object) -> Iterator[str]:
    if old != new:
        yield f"{where}: {what} was {old}, now {new}"


def _widened(old: str, new: str) -> bool:
    """Whether what plugins give or name is accepted as before: the same, or one of more alternatives."""
    accepted = _alternatives(new)
    return all(any(_is_accepted(each, by) for by in accepted) for each in _alternatives(old))


def _is_accepted(given: str, by: str) -> bool:
    """Whether an alternative is accepted by another one: a sequence also by one of more kinds of elements."""
    elements = [re.fullmatch(r"Sequence\[(.*)\]", each) for each in (given, by)]
    return given == by or (all(elements) and _widened(*(each[1] for each in elements if each is not None)))


def _alternatives(text: str) -> list[str]:
    """Return the members of a union or of a ``Literal``, or a dict's items; else the text itself."""
    literal = re.fullmatch(r"Literal\[(.*)\]", text)
    if literal is not None:
        return [f"Literal {each}" for each in _split(literal[1], ",")]
    if text.startswith("{"):
        return [f"{key}: {value}" for key, value in json.loads(text).items()]
    return _split(text, "|")


def _split(text: str, separator: str) -> list[str]:
    """Split a text at a separator that is not inside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [each.strip() for each in parts]


def main() -> int:
    """Compare and print; return the exit code."""
    files = [Path(each) for each in sys.argv[1:3]]
    old, new = (json.loads(file.read_text(encoding="utf-8")) for file in (*files, *(RELEASED, PRESENT)[len(files) :]))
    found = [each for each in breaks(old, new) if each.partition(": ")[0] not in ACCEPTED]
    for each in found:
        print(each)
    if found:
        print(f"{len(found)} breaks since {old['version']}: give what is new a default, and keep what plugins use.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
