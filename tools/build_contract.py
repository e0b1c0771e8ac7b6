"""Write docs/reference/contract.json: the contract of plugins as data, from the classes of pi_hookspecs.

Hooks with their parameters, rules and deadlines; values with their fields, types and defaults; protocols with the
signatures of their members; functions, unions and errors. ``tools/contract_diff.py`` compares two of them. The wheel of
``pi_hookspecs`` has it, too, and those of earlier versions: ``pi plugins check`` reads them. Run it with
``uv run python tools/build_contract.py``; with ``--check`` it writes nothing and fails if something would change.
``--version`` names another version than that of the distribution.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from enum import Enum
from inspect import Parameter, getdoc, iscoroutinefunction, signature
from pathlib import Path
from typing import Any

import attrs
from one_page import write_or_check

import pi_hookspecs
from pi_hookspecs import answers_of
from pi_hookspecs.specs import all_hookspecs

__all__ = ["contract", "written"]

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "reference" / "contract.json"
IN_WHEEL = ROOT / "hookspecs" / "src" / "pi_hookspecs" / "contracts"

_QUALIFIED = re.compile(r"\b(?:typing|pi_hookspecs|collections\.abc)\.(?:\w+\.)*(?=\w)")
"""Modules in annotations: where a class is defined is not part of the contract."""

_LINES = 4
"""How deep the parts of the contract have lines of their own."""

IMPLEMENTED = frozenset(
    {"BranchSummarizer", "CommandOperations", "CommandRunner", "Compactor", "Component", "CredentialSource"}
    | {"AnswerFilter"}
    | {
        "DeletingStore",
        "EditOperations",
        "Exporter",
        "FileOperations",
        "FindOperations",
        "GrepOperations",
        "Launcher",
        "Login",
    }
    | {
        "ExtensionLanguage",
        "LsOperations",
        "MarkdownTransform",
        "Mode",
        "ModelDiscovery",
        "PluginRunner",
        "ProcessKeeper",
        "Provider",
    }
    | {
        "ReadOperations",
        "Renderer",
        "ResourceKind",
        "Retrier",
        "SearchableStore",
        "SessionStore",
        "StoredSession",
        "ToolOperations",
    }
    | {"SessionSearch", "TextRedactor", "ToolRenderer", "TraceContext", "WriteOperations"}
)
"""Protocols that plugins implement: a new member of one breaks the plugins that are there."""


def contract(version: str) -> dict[str, Any]:
    """Return the contract of the ``pi_hookspecs`` that is imported."""
    found: dict[str, Any] = {"version": version}
    found["hooks"] = {name: _hook(spec) for name, spec in sorted(all_hookspecs().items())}
    for name in sorted(pi_hookspecs.__all__):
        kind, described = _described(name, getattr(pi_hookspecs, name))
        found.setdefault(kind, {})[name] = described
    return found


def _hook(spec: Any) -> dict[str, Any]:
    declared = answers_of(spec)
    taken = signature(spec)
    since = next((line for line in (getdoc(spec) or "").splitlines() if line.startswith("Since: ")), "Since: 1.0")
    hook = {
        "since": since.removeprefix("Since: ").strip(),
        "async": iscoroutinefunction(spec),
        "parameters": {each.name: _text(each.annotation) for each in taken.parameters.values()},
        "returns": _text(taken.return_annotation),
    }
    if declared is not None:
        hook["answers"] = str(declared)
        hook["onFailure"] = declared.on_failure.value
        hook["deadline"] = declared.deadline.value
    fields = getattr(spec, "pi_deprecated_fields", {})
    marked = {"deprecatedFields": {name: _deprecated_as(mark)["deprecated"] for name, mark in fields.items()}}
    return {**hook, **_deprecated(spec), **(marked if fields else {})}


def _described(name: str, thing: Any) -> tuple[str, dict[str, Any]]:
    """Return which part of the contract a public name belongs to, and how it is described there."""
    if isinstance(thing, type):
        return _class(name, thing)
    if inspect.isroutine(thing):
        return "functions", _called(thing)
    if type(thing).__module__.startswith("pi_hookspecs"):  # a callable object, such as hookimpl
        return "functions", _called(type(thing).__call__)
    return "names", {"is": _text(thing)}


def _class(name: str, thing: type) -> tuple[str, dict[str, Any]]:
    bases = [each.__name__ for each in thing.__mro__[1:] if each.__module__.startswith("pi_hookspecs")]
    if attrs.has(thing):
        return "values", {"fields": {each.name: _field(each) for each in attrs.fields(thing) if each.init}}
    if getattr(thing, "_is_protocol", False):
        return "protocols", {"implemented": name in IMPLEMENTED, "bases": bases, "members": _members(thing)}
    if issubclass(thing, BaseException):
        return "errors", {"bases": bases, **_called(thing.__init__)}
    if issubclass(thing, Enum):
        return "classes", {"members": {each.name: {"kind": "member", "type": _text(each.value)} for each in thing}}
    return "classes", {"members": _members(thing)}


def _field(field: attrs.Attribute[Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"type": _text(field.type), "positional": not field.kw_only}
    if field.default is not attrs.NOTHING:
        described["default"] = _default(field.default)
    return described


def _default(value: Any) -> str:
    factory = getattr(value, "factory", None)
    if factory is not None:
        return f"{factory.__name__}()"
    return _text(value)


def _members(described: type) -> dict[str, Any]:
    """Return the public members, inherited ones of the package included."""
    found: dict[str, Any] = {}
    for base in reversed(described.__mro__):
        if not base.__module__.startswith("pi_hookspecs"):
            continue
        for name, hint in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_"):
                found[name] = {"kind": "attribute", "type": _text(hint)}
        for name, member in vars(base).items():
            if isinstance(member, property):
                read: Any = member.fget
                found[name] = {
                    "kind": "property",
                    "type": _text(signature(read).return_annotation),
                    **_deprecated(read),
                }
            elif _is_method(member) and (not name.startswith("_") or name == "__call__"):
                found[name] = {"kind": "method", **_called(getattr(member, "__func__", member))}
    return dict(sorted(found.items()))


def _is_method(member: object) -> bool:
    return inspect.isroutine(member) or isinstance(member, classmethod | staticmethod)


def _called(function: Any) -> dict[str, Any]:
    try:
        taken = signature(function)
    except (TypeError, ValueError):  # a class without a constructor of its own
        return {"parameters": {}}
    parameters = {each.name: _parameter(each) for each in taken.parameters.values() if each.name not in ("self", "cls")}
    described = {"async": iscoroutinefunction(function), "parameters": parameters}
    return {**described, "returns": _text(taken.return_annotation), **_deprecated(function)}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    described: dict[str, Any] = {"kind": parameter.kind.name.lower(), "type": _text(parameter.annotation)}
    if parameter.default is not Parameter.empty:
        described["default"] = _text(parameter.default)
    return described


def _deprecated(thing: Any) -> dict[str, Any]:
    return _deprecated_as(getattr(thing, "pi_deprecated", None))


def _deprecated_as(mark: Any) -> dict[str, Any]:
    return {} if mark is None else {"deprecated": {"since": mark.since, "removal": mark.removal, "use": mark.use}}


def _text(value: Any) -> str:
    """Return an annotation or a default as text that is the same in every process and version of Python."""
    if isinstance(value, str):
        return value
    if value is None or value is type(None):
        return "None"
    if value is Parameter.empty:
        return ""
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, dict | frozenset | set) and value:
        plain = {str(key): _text(each) for key, each in value.items()} if isinstance(value, dict) else sorted(value)
        return json.dumps(plain)
    text = _QUALIFIED.sub("", repr(value))
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def written(value: Any, depth: int = 0) -> str:
    """Return a contract as JSON with a line for each hook, field and member, so that differences are readable."""
    if depth == _LINES or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    space = " " * (depth + 1)
    lines = (f"{space}{json.dumps(key)}: {written(each, depth + 1)}" for key, each in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{' ' * depth}}}"


def main() -> int:
    """Write the file, or check it; return the exit code."""
    from importlib.metadata import version

    named = sys.argv[sys.argv.index("--version") + 1] if "--version" in sys.argv else version("pluggypi-hookspecs")
    text = written(contract(named)) + "\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
        return 0
    released = {file.name: file.read_text(encoding="utf-8") for file in FILE.parent.glob("contract-*.json")}
    IN_WHEEL.mkdir(exist_ok=True)
    pages = {FILE: text, **{IN_WHEEL / name: each for name, each in {FILE.name: text, **released}.items()}}
    return max([write_or_check(page, each) for page, each in pages.items()])


if __name__ == "__main__":
    sys.exit(main())
