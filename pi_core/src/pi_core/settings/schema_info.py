"""Descriptions of the settings' schema: as JSON schema, as a list, and as error messages for invalid values."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from attrs import frozen

from pi_core.base.json_file import short_json
from pi_core.settings.project_limits import ProjectRule, rule_at
from pi_core.settings.schema import Declaration, SettingsSchema, declarations, key_of, project_rules
from pi_core.settings.sources import ENVIRONMENT
from pi_core.settings.values import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Setting", "find", "json_schema", "problem_with", "settings"]


@frozen(kw_only=True)
class Setting:
    """One setting, as the documentation lists it.

    Attributes:
        steps: The keys of the path to it; ``*`` is any name.
        default: The default value; None if there is none.
        kind: Its type as text.
        description: What it does, a sentence without its full stop.
        variable: The environment variable that also sets it.
        project: What a trusted project's file may do to it.
    """

    steps: tuple[str, ...]
    default: Any
    kind: str
    description: str
    variable: str | None
    project: ProjectRule

    @property
    def name(self) -> str:
        """The steps, joined by dots."""
        return name_of(self.steps)


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of ``settings.json``; the caller must not change it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of pi",
        "description": "settings.json, of the user or of a project. Other keys are kept: they may belong to a plugin.",
        **_object(SettingsSchema),
    }


def settings() -> Iterator[Setting]:
    """Yield all settings, in the order of the schema."""
    variables = {steps: name for name, steps in ENVIRONMENT.items()}
    rules = project_rules()
    for steps, node in _nodes(json_schema(), ()):
        yield Setting(
            steps=steps,
            default=node.get("default"),
            kind=_type_text(node),
            description=node["description"],
            variable=variables.get(steps),
            project=_rule(rules, steps),
        )


def find(steps: Sequence[str]) -> Setting | None:
    """Return the setting at a path; None if there is none, or if it is an object of several settings."""
    for each in settings():
        if len(each.steps) == len(steps) and all(a in ("*", b) for a, b in zip(each.steps, steps, strict=True)):
            return each
    return None


def problem_with(steps: Sequence[str], value: Any) -> str | None:
    """Return why a value cannot be set, as a sentence; None if it is valid, or if the key is not in the schema."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    node: Any = json_schema()
    for depth, step in enumerate(steps):
        if "properties" not in node and "additionalProperties" not in node:
            return f"Setting {name_of(steps[:depth])!r} is {_type_text(node)}; there is no {name_of(steps)!r}."
        node = node.get("properties", {}).get(step, node.get("additionalProperties", True))
        if not isinstance(node, dict):
            return None
    error = best_match(Draft202012Validator(node).iter_errors(value))
    if value is None or error is None:
        return None
    path = (*steps, *map(str, error.absolute_path))
    return f"Setting {name_of(path)!r} must be {_type_text(error.schema)}, not {short_json(error.instance)}."


# From the classes to the schema


def _object(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    properties = {key_of(name, each): _property(each, hints[name]) for name, each in declarations(cls).items()}
    return {"type": "object", "properties": properties}


def _property(declared: Declaration, hint: Any) -> dict[str, Any]:
    node = {**_type(hint), "description": declared.description, **declared.limits}
    return node if declared.default is None else {**node, "default": declared.default}


def _rule(rules: Any, steps: Sequence[str]) -> ProjectRule:
    rule = rule_at(rules, steps)
    assert rule is not None, f"{name_of(steps)} has no rule"  # noqa: S101 - both are made from the same declarations
    return rule


_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _type(hint: Any) -> dict[str, Any]:
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    if isinstance(hint, type) and declarations(hint):
        return _object(hint)
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return {"enum": list(arguments)}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type(arguments[0])}
    if get_origin(hint) is dict:
        return {"type": "object", **({} if arguments[1] is Any else {"additionalProperties": _type(arguments[1])})}
    others = [each for each in arguments if each is not type(None)]
    return _type(others[0]) if len(others) == 1 else {"anyOf": [_type(each) for each in others]}


# From the schema to text


def _nodes(node: dict[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the path and the schema of every setting, without the objects that contain settings."""
    for key, below in node["properties"].items():
        inner = below.get("additionalProperties")
        if "properties" in below:
            yield from _nodes(below, (*above, key))
        elif inner is not None and "properties" in inner:
            yield from _nodes(inner, (*above, key, "*"))
        else:
            yield (*above, key), below


_TYPE_TEXTS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a string",
    "object": "an object",
}


def _type_text(node: dict[str, Any]) -> str:
    """Return the type of a value as text: ``a number of at least 0``."""
    if "enum" in node:
        *others, last = [str(each).lower() if isinstance(each, bool) else each for each in node["enum"]]
        return f"{', '.join(others)} or {last}" if others else f"{last}"
    if "anyOf" in node:
        return " or ".join(_type_text(each) for each in node["anyOf"])
    if node.get("type") == "array":
        return f"a list of {' or '.join(_plural(each) for each in node['items'].get('anyOf', [node['items']]))}"
    text = _TYPE_TEXTS[node["type"]]
    return f"{text} of at least {node['minimum']:g}" if "minimum" in node else text


def _plural(node: dict[str, Any]) -> str:
    return {"string": "strings", "object": "objects"}[node["type"]]
