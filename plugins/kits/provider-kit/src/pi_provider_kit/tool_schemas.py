"""The schema of a tool in the form that an API accepts, and the arguments of a call in the form that the tool expects.

Every tool goes out with every request, so that one refused schema stops a session. What cannot be sent is changed as
little as possible: the arguments are still validated against the tool's own schema, and the model reads what is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pi_provider_kit.text import clean_json

if TYPE_CHECKING:
    from pi_provider_kit.sendable import NameRule, Rules

__all__ = ["fitting_name", "kept_schema", "original_arguments", "renames_properties", "sendable_schema"]

_MOST = 1000
"""Schemas that are kept; each request has those of all its tools."""

_kept: dict[tuple[int, Any], tuple[Any, bytes, dict[str, Any], bytes]] = {}
"""What was made of a schema, with the schema and the JSON of both, by its identity and what it was made for."""

_DEPTH = 32
"""Levels of a schema; what is deeper may be anything."""

_NODES = 2000
"""Schemas within a schema. References that repeat themselves could make any number of them."""

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

_ROOT = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else", "dependentSchemas", "dependencies")
"""Keywords that Anthropic or OpenAI refuse at the root."""

_COMBINED = ("allOf", "anyOf", "oneOf")

_HINT = 600
"""Most characters with which a description repeats what the root of a schema cannot say."""

_SCHEMAS = (
    *("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties", "additionalItems", "contentSchema"),
)
_SCHEMA_LISTS = (*_COMBINED, "prefixItems")
_SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_BOOLEAN_TOO = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems")
"""Keywords in which APIs take ``true`` and ``false`` as schemas."""


def sendable_schema(parameters: Any, rules: Rules) -> dict[str, Any]:
    """Return the schema of a tool as the API accepts it: an object with ``properties``; equal if nothing is refused.

    - A root that is not an object's becomes one. What combines schemas there is merged, and repeated in words.
    - Keywords whose values no version of JSON Schema allows are dropped, older forms become those of 2020-12.
    - References to nowhere may be anything; those that the API cannot follow are replaced by what they name.
    - Properties whose names the API refuses get others; ``original_arguments`` turns them back.

    Args:
        parameters: The schema; anything but an object is an object without properties.
        rules: Those of the API.
    """
    schema = clean_json(dict(parameters)) if isinstance(parameters, Mapping) else {}
    if not any(schema.get(keyword) for keyword in _COMBINED) and schema.get("type", "object") not in ("object", None):
        kinds = schema["type"]
        if not (isinstance(kinds, list | tuple) and "object" in kinds):
            schema = {name: schema[name] for name in ("description", "$defs") if name in schema}
    return _Converter(schema, rules).root()


def kept_schema(parameters: Any, purpose: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what ``make`` makes of a schema, from an earlier request if neither was changed in place since.

    Args:
        parameters: The schema.
        purpose: What else the result depends on; can be hashed.
        make: Returns the result.
    """
    now = _json(parameters)
    if now is None:
        return make()
    key = id(parameters), purpose
    kept = _kept.get(key)
    if kept is not None and kept[0] is parameters and kept[1] == now and _json(kept[2]) == kept[3]:
        return kept[2]
    made = make()
    encoded = _json(made)
    if encoded is not None:
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[key] = parameters, now, made, encoded
    return made


def _json(schema: Any) -> bytes | None:
    """Return the JSON of a schema; None if it has something else: plugins can put anything in it."""
    import orjson

    try:
        return orjson.dumps(schema)
    except TypeError:  # a number beyond 64 bits, half a surrogate pair, an object of another class
        return None


def original_arguments(arguments: dict[str, Any], parameters: Any, rules: Rules) -> dict[str, Any]:
    """Return the arguments of a call under the tool's own names; the same object if none was changed.

    Args:
        arguments: As the model wrote them.
        parameters: The tool's schema, as given to ``sendable_schema``.
        rules: Those of the API.
    """
    if rules.keys is None or not isinstance(parameters, Mapping):
        return arguments
    renamed = _renamed(parameters, rules.keys)
    if not renamed:
        return arguments
    changed: dict[str, Any] = _restored(arguments, [parameters], parameters, {new: old for old, new in renamed.items()})
    return changed


def renames_properties(parameters: Any, rules: Rules) -> bool:
    """Return whether properties of a tool have other names for the API, so that its calls have to be turned back."""
    return rules.keys is not None and isinstance(parameters, Mapping) and bool(_renamed(parameters, rules.keys))


def fitting_name(name: str, rule: NameRule) -> str:
    """Return the name if the rule accepts it, else one that it accepts, with ``_`` for what is refused."""
    fitting = re.sub(f"[^{rule.characters}]", "_", name)[: rule.longest] or "_"
    if rule.first and not re.match(f"[{rule.first}]", fitting):
        fitting = f"_{fitting}"[: rule.longest]
    return fitting


class _Converter:
    """Converts the schemas of one tool."""

    def __init__(self, schema: dict[str, Any], rules: Rules) -> None:
        self._whole = schema
        self._rules = rules
        self._names = {} if rules.keys is None else _renamed(schema, rules.keys)
        self._nodes = 0
        self._inline = self._must_inline()

    def root(self) -> dict[str, Any]:
        source: Mapping[str, Any] = self._whole
        followed: set[str] = set()
        while isinstance(reference := source.get("$ref"), str):
            rest = {keyword: value for keyword, value in source.items() if keyword != "$ref"}
            source = rest if reference in followed else {**_dict(_found(reference, self._whole)), **rest}
            followed.add(reference)
        schema = {**self._convert(_merged(source, self._whole), 0, ())}
        schema = {**schema, "type": "object", "properties": _dict(schema.get("properties"))}
        if "type" not in self._whole:
            schema = {"type": "object", **schema}
        allowed = self._rules.root_keywords
        if allowed is not None:
            schema = {name: value for name, value in schema.items() if name in allowed}
        return schema

    def _must_inline(self) -> bool:
        """Whether references cannot be sent: refused, to nowhere, to no definition, or in a cycle that is refused."""
        references = [*_references(self._whole)]
        if not references:
            return False
        if self._rules.references == "inline" or any(
            not re.fullmatch(r"#/(?:\$defs|definitions)/[^/]+", each) or _found(each, self._whole) is None
            for each in references
        ):
            return True
        return self._rules.references == "acyclic" and _recurs(self._whole)

    def _convert(self, schema: Any, depth: int, within: tuple[str, ...]) -> dict[str, Any]:
        """Return a schema; ``within`` are the references that led to it."""
        self._nodes += 1
        if not isinstance(schema, Mapping) or depth > _DEPTH or self._nodes > _NODES:
            return {}
        schema = _current_form(schema)
        if self._inline and "$ref" in schema:
            return self._target(schema, depth, within)
        result = {
            keyword: self._value(keyword, value, depth, within)
            for keyword, value in schema.items()
            if not (self._inline and keyword in ("$defs", "definitions"))
        }
        if "required" in result:
            result["required"] = [*dict.fromkeys(self._names.get(name, name) for name in result["required"])]
            if not self._rules.undeclared:
                result["required"] = [name for name in result["required"] if name in _dict(result.get("properties"))]
        if "array" in _kinds(result) and "items" not in result:
            result["items"] = {}
        return result if self._rules.const else _without_const(result)

    def _value(self, keyword: str, value: Any, depth: int, within: tuple[str, ...]) -> Any:
        """Return the value of a keyword, with the schemas in it converted."""
        if keyword in _SCHEMA_MAPS:
            return self._map(keyword, value, depth, within)
        if keyword in _SCHEMA_LISTS:
            return [self._convert(each, depth + 1, within) for each in value]
        if keyword in _SCHEMAS and not (keyword in _BOOLEAN_TOO and isinstance(value, bool)):
            return self._convert(value, depth + 1, within)
        return value

    def _map(self, keyword: str, value: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> dict[str, Any]:
        if keyword != "properties":
            return {name: self._convert(each, depth + 1, within) for name, each in value.items()}
        result = {}
        for name, each in value.items():
            if each is False:  # must not be given
                continue
            converted, sent = self._convert(each, depth + 1, within), self._names.get(name, name)
            if sent != name:
                converted = {**converted, "description": f"{name}: {converted.get('description', '')}".rstrip(": ")}
            result[sent] = converted
        return result

    def _target(self, schema: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> dict[str, Any]:
        reference = schema["$ref"]
        found = None if reference in within else _found(reference, self._whole)
        merged = {**_dict(found), **{name: value for name, value in schema.items() if name != "$ref"}}
        return self._convert(merged, depth + 1, (*within, reference))


def _merged(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the root without keywords that combine schemas: with the properties of all, and what all require."""
    found = {keyword: schema[keyword] for keyword in _ROOT if keyword in schema}
    if not found:
        return dict(schema)
    result = {keyword: value for keyword, value in schema.items() if keyword not in found}
    properties = dict(_dict(result.get("properties")))
    required = [name for name in _list(result.get("required")) if isinstance(name, str)]
    for keyword in _COMBINED:
        branches = [_resolved(each, whole) for each in _list(found.get(keyword))]
        for branch in branches:
            for name, each in _dict(branch.get("properties")).items():
                known = properties.setdefault(name, each)
                if known != each and each not in _list(_dict(known).get("anyOf")):
                    others = known["anyOf"] if [*_dict(known)] == ["anyOf"] else [known]
                    properties[name] = {"anyOf": [*others, each]}
        named = [[*map(str, _list(branch.get("required")))] for branch in branches]
        if keyword == "allOf":
            required += [name for names in named for name in names]
        elif named:
            required += [name for name in named[0] if all(name in names for names in named)]
    result["properties"] = properties
    if required:
        result["required"] = [*dict.fromkeys(required)]
    words = json.dumps(found, ensure_ascii=False, separators=(",", ":"), default=str)
    if len(words) <= _HINT:
        description = result.get("description")
        result["description"] = "\n".join(filter(None, (description if isinstance(description, str) else "", words)))
    return result


def _resolved(schema: Any, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a branch of a root, with its own branches merged and its reference followed."""
    for _ in range(_DEPTH):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            break
        schema = {**_dict(_found(schema["$ref"], whole)), **{k: v for k, v in schema.items() if k != "$ref"}}
    branch = _dict(schema)
    return branch if not any(keyword in branch for keyword in _COMBINED) else _flat(branch, whole)


def _flat(schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int = 4) -> Mapping[str, Any]:
    """Return a branch with the properties of its branches; what these require is not repeated."""
    properties = dict(_dict(schema.get("properties")))
    for keyword in _COMBINED if depth else ():
        for each in _list(schema.get(keyword)):
            inner = _dict(_found(each["$ref"], whole) if isinstance(_dict(each).get("$ref"), str) else each)
            for name, value in _dict(_flat(inner, whole, depth - 1).get("properties")).items():
                properties.setdefault(name, value)
    return {**schema, "properties": properties}


def _current_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in the form of 2020-12, without keywords whose values no version allows."""
    result = dict(schema)
    items = result.get("items")
    if isinstance(items, list | tuple):  # a tuple, as it was written before 2020-12
        result["items"] = {"anyOf": [*items]} if len(items) > 1 else items[0] if items else {}
        result.pop("additionalItems", None)
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if result.get(bound) is True and _is_number(result.get(limit)):  # a flag, as in draft 4
            result[bound] = result.pop(limit)
    kinds = result.get("type")
    if "type" in result:
        known = [kind for kind in (kinds if isinstance(kinds, list | tuple) else (kinds,)) if kind in _TYPES]
        known = [*dict.fromkeys(known)]
        if not known:
            del result["type"]
        elif isinstance(kinds, list | tuple):
            result["type"] = known if known != [*kinds] or not isinstance(kinds, list) else kinds
    return {keyword: value for keyword, value in result.items() if _ALLOWED.get(keyword, _is_anything)(value)}


def _without_const(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose ``const`` is an ``enum`` of one; a value that cannot stand there becomes its type."""
    if "const" not in schema:
        return schema
    value = schema["const"]
    result = {keyword: each for keyword, each in schema.items() if keyword != "const"}
    if isinstance(value, str) or _is_number(value):
        result["enum"] = [value]
    kind = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}.get(type(value))
    if kind is not None:
        result.setdefault("type", kind)
    return result


# References


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return all objects within a value, schemas and what only looks like one."""
    found: list[Mapping[str, Any]] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found.append(each)
            waiting += [inner for inner in each.values() if isinstance(inner, dict | list | tuple)]
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, Mapping):
            waiting.append(dict(each))
    return found


def _references(value: Any) -> list[str]:
    """Return the ``$ref`` of all schemas within a value."""
    return [each["$ref"] for each in _objects(value) if isinstance(each.get("$ref"), str)]


def _found(reference: Any, whole: Any) -> Any:
    """Return what a JSON pointer within the schema names; None if that is nothing."""
    if reference == "#":
        return whole
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(whole, Mapping) and name in whole:
            whole = whole[name]
        elif isinstance(whole, list | tuple) and name.isascii() and name.isdigit() and int(name) < len(whole):
            whole = whole[int(name)]
        else:
            return None
    return whole


def _recurs(whole: Mapping[str, Any]) -> bool:
    """Whether a definition refers to itself, directly or through others."""
    from graphlib import CycleError, TopologicalSorter

    try:
        TopologicalSorter({each: _references(_found(each, whole)) for each in _references(whole)}).prepare()
    except CycleError:
        return True
    return False


# Names of properties


def _renamed(schema: Any, rule: NameRule) -> dict[str, str]:
    """Return the names of properties that the rule refuses, each with another one that no property has."""
    names = sorted({*_property_names(schema)})
    accepted = re.compile(f"[{rule.characters}]{{1,{rule.longest}}}").fullmatch
    refused = [name for name in names if not accepted(name)]
    taken = set(names)
    renamed: dict[str, str] = {}
    for name in refused:
        wanted = sent = fitting_name(name, rule)
        number = 1
        while sent in taken:
            number += 1
            sent = f"{wanted[: rule.longest - 5]}_{number}"
        taken.add(sent)
        renamed[name] = sent
    return renamed


def _property_names(value: Any) -> list[str]:
    """Return the names of properties of all schemas within a value, also of those that are only required."""
    names: list[str] = []
    for each in _objects(value):
        if "properties" in each:
            names += _dict(each["properties"])
        if "required" in each:
            names += [name for name in _list(each["required"]) if isinstance(name, str)]
    return names


def _restored(value: Any, schemas: list[Any], whole: Any, names: Mapping[str, str], depth: int = 0) -> Any:
    """Return a value under the original names of the properties that the schemas describe at its place."""
    if depth > _DEPTH or not isinstance(value, dict | list):
        return value
    described = [each for schema in schemas for each in _branches(schema, whole)]
    if isinstance(value, list):
        items = [each["items"] for each in described if "items" in each]
        items = [inner for each in items for inner in (each if isinstance(each, list) else (each,))]
        new = [_restored(each, items, whole, names, depth + 1) for each in value]
        return value if all(one is other for one, other in zip(new, value, strict=True)) else new
    result: dict[str, Any] = {}
    for name, each in value.items():
        own = names.get(name, name)
        if not any(own in _dict(schema.get("properties")) for schema in described):
            own = name
        inner = [_dict(schema.get("properties"))[own] for schema in described if own in _dict(schema.get("properties"))]
        result[own] = _restored(each, inner, whole, names, depth + 1)
    same = result.keys() == value.keys() and all(result[name] is each for name, each in value.items())
    return value if same else result


def _branches(schema: Any, whole: Any, depth: int = 0) -> list[Mapping[str, Any]]:
    """Return a schema and those that it combines or refers to."""
    if not isinstance(schema, Mapping) or depth > _DEPTH // 4:
        return []
    inner = [each for keyword in _COMBINED for each in _list(schema.get(keyword))]
    inner += [_found(schema["$ref"], whole)] if "$ref" in schema else []
    return [schema, *(found for each in inner for found in _branches(each, whole, depth + 1))]


def _kinds(schema: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = schema.get("type")
    return (kinds,) if isinstance(kinds, str) else tuple(kinds or ())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping | bool)


def _is_anything(_value: Any) -> bool:
    return True


_ALLOWED: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        (
            *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
            *("minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"),
        ),
        _is_number,
    ),
    **dict.fromkeys(
        ("title", "description", "format", "pattern", "$schema", "$id", "$comment", "contentEncoding", "$ref"), _is_text
    ),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable"), _is_flag),
    "required": _is_list_of_texts,
    "enum": _is_filled_list,
    "examples": _is_list,
    **dict.fromkeys(_SCHEMAS, _is_schema),
    **dict.fromkeys(_SCHEMA_LISTS, _is_filled_list),
    **dict.fromkeys(_SCHEMA_MAPS, _is_map),
}
"""Keyword to the test of its value; a keyword that is not here may have any."""


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else []
