"""Descriptions of all settings, of pi and of plugins: as JSON schema, as a list, and as errors for invalid values."""

from __future__ import annotations

import copy
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from attrs import frozen

from pi_core.base.json_file import short_json
from pi_core.settings.declared import groups_of
from pi_core.settings.project_limits import ProjectRule, rule_at
from pi_core.settings.schema import Declaration, SettingsSchema, declarations, key_of, project_rules
from pi_core.settings.sources import ENVIRONMENT
from pi_core.settings.values import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core.settings.declared import DeclaredSetting

__all__ = ["KnownSettings", "Setting"]


@frozen(kw_only=True)
class Setting:
    """One setting, as the documentation lists it.

    Attributes:
        steps: The keys of the path to it; ``*`` is any name.
        default: The default value; None if there is none.
        schema: The JSON schema of its values.
        description: What it does, a sentence without its full stop.
        variable: The environment variable that also sets it.
        project: What a trusted project's file may do to it.
        plugin: The plugin that declares it; None for pi's own.
    """

    steps: tuple[str, ...]
    default: Any
    schema: dict[str, Any]
    description: str
    variable: str | None
    project: ProjectRule
    plugin: str | None = None

    @property
    def name(self) -> str:
        """The steps, joined by dots."""
        return name_of(self.steps)

    @property
    def kind(self) -> str:
        """Its type as text."""
        return _type_text(self.schema)

    @property
    def is_typed(self) -> bool:
        """Whether its schema says which type its values have."""
        return bool(_TYPED & self.schema.keys())


class KnownSettings:
    """pi's own settings and those that plugins declare. Of several declarations of one setting, the first is listed.

    Args:
        declared: The plugins' declarations.
    """

    def __init__(self, declared: tuple[DeclaredSetting, ...] = ()) -> None:
        self.declared = declared

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """The JSON schema (2020-12) of ``settings.json``; the caller must not change it."""
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Settings of pi",
            "description": "settings.json, of the user or a project. Other keys are kept: they may belong to a plugin.",
            **copy.deepcopy(_own_schema()),
        }
        groups = groups_of(self.declared)
        for each in self.declared:
            node = schema
            *above, last = each.steps
            for step in above:
                node = _below(node, step)
            described = {"description": each.description} if each.description else {}
            known = _known_below(node, last)
            if each.steps in groups:
                _below(node, last).update(described)
            elif known is None:
                _put_below(node, last, {**each.schema, **described})
        return schema

    def __iter__(self) -> Iterator[Setting]:
        """Yield pi's own settings in the order of the schema, then those of plugins."""
        return iter(self._all)

    @cached_property
    def _all(self) -> tuple[Setting, ...]:
        variables = {steps: name for name, steps in ENVIRONMENT.items()}
        rules = project_rules(declared=self.declared)
        groups = groups_of(self.declared)
        found: dict[tuple[str, ...], tuple[dict[str, Any], str | None]] = {}  # schema, plugin
        for steps, node in _nodes(_own_schema(), ()):
            found[steps] = node, None
        for each in self.declared:
            if each.steps not in groups:
                found.setdefault(each.steps, ({"description": each.description, **each.schema}, each.plugin))
                if each.variable is not None:
                    variables.setdefault(each.steps, each.variable)
        return tuple(
            Setting(
                steps=steps,
                default=node.get("default"),
                schema=node,
                description=node["description"],
                variable=variables.get(steps),
                project=_rule(rules, steps),
                plugin=plugin,
            )
            for steps, (node, plugin) in found.items()
        )

    def find(self, steps: Sequence[str]) -> Setting | None:
        """Return the setting at a path; None if there is none, or if it is an object of several settings."""
        for each in self:
            if len(each.steps) == len(steps) and all(a in ("*", b) for a, b in zip(each.steps, steps, strict=True)):
                return each
        return None

    def problem_with(self, steps: Sequence[str], value: Any) -> str | None:
        """Return why a value cannot be set, as a sentence; None if it is valid, or if no setting is known there."""
        node: Any = self.json_schema
        for depth, step in enumerate(steps):
            if "properties" not in node and "additionalProperties" not in node:
                if node.get("type", "object") == "object" and "enum" not in node:
                    return None
                return f"Setting {name_of(steps[:depth])!r} is {_type_text(node)}; there is no {name_of(steps)!r}."
            node = node.get("properties", {}).get(step, node.get("additionalProperties", True))
            if not isinstance(node, dict):
                return None
        if value is None:
            return None
        others = (each.schema for each in self.declared if each.steps == tuple(steps))
        return next(filter(None, (_problem(steps, schema, value) for schema in (node, *others))), None)


def _problem(steps: Sequence[str], schema: dict[str, Any], value: Any) -> str | None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is None:
        return None
    name, given = name_of((*steps, *map(str, error.absolute_path))), short_json(error.instance)
    if error.validator in _TYPED and isinstance(error.schema, dict):
        return f"Setting {name!r} must be {_type_text(error.schema)}, not {given}."
    return f"Setting {name!r} cannot be {given}: {error.message}."


_TYPED = {"type", "enum", "anyOf", "minimum"}
"""The keywords of a schema that ``_type_text`` describes."""


@cache
def _own_schema() -> dict[str, Any]:
    return _object(SettingsSchema)


def _known_below(node: dict[str, Any], step: str) -> Any:
    return node.get("additionalProperties") if step == "*" else node.get("properties", {}).get(step)


def _put_below(node: dict[str, Any], step: str, below: dict[str, Any]) -> dict[str, Any]:
    if step == "*":
        node["additionalProperties"] = below
    else:
        node.setdefault("properties", {})[step] = below
    return below


def _below(node: dict[str, Any], step: str) -> dict[str, Any]:
    """Return the object's schema below a step, which is created if there is none."""
    known = _known_below(node, step)
    return known if isinstance(known, dict) else _put_below(node, step, {"type": "object"})


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
        choices = [each for each in node["enum"] if each is not None]
        *others, last = [str(each).lower() if isinstance(each, bool) else each for each in choices]
        return f"{', '.join(map(str, others))} or {last}" if others else f"{last}"
    if "anyOf" in node:
        return " or ".join(_type_text(each) for each in node["anyOf"])
    kind = node.get("type")
    if isinstance(kind, list):
        return " or ".join(_type_text({**node, "type": each}) for each in kind if each != "null")
    if kind == "array":
        items = node.get("items", {})
        return f"a list of {' or '.join(_plural(each) for each in items.get('anyOf', [items]))}"
    text = _TYPE_TEXTS.get(kind or "", "any value")
    return f"{text} of at least {node['minimum']:g}" if "minimum" in node else text


def _plural(node: dict[str, Any]) -> str:
    return {"string": "strings", "object": "objects", "integer": "whole numbers", "number": "numbers"}.get(
        node.get("type", ""), "values"
    )
