"""Schemas that are read without jsonschema: what is said about them is what jsonschema says."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pi_core.agent.plain_schemas import fits, is_plain
from pi_testing import for_each

NAMES = st.sampled_from(["a", "b", "c"])
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "b", "", 0.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def keywords(inner):
    """Return a strategy of schemas in which ``inner`` are the schemas of parts."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, unique=True, max_size=2),
            "additionalProperties": st.booleans(),
            "items": inner,
            "enum": st.lists(NAMES, unique=True, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "description": st.text(max_size=3),
            "title": st.text(max_size=3),
            "default": VALUES,
        },
    )


PLAIN = st.recursive(keywords(st.just({})), keywords, max_leaves=4)
NEARLY_VALID = {
    "type": st.sampled_from([*TYPES, "text"]),
    "properties": st.dictionaries(NAMES, PLAIN | VALUES, max_size=2),
    "required": st.lists(NAMES, max_size=3),
    "additionalProperties": st.booleans() | PLAIN,
    "items": PLAIN | st.lists(PLAIN, max_size=2),
    "enum": st.lists(NAMES, max_size=3),
    "anyOf": st.lists(PLAIN | VALUES, max_size=2),
    "description": st.text(max_size=3),
    "title": st.text(max_size=3),
    "default": VALUES,
}
CHANGES = st.one_of(*(st.tuples(st.just(key), valid | VALUES) for key, valid in NEARLY_VALID.items()))
CHANGED = st.builds(lambda schema, change: {**schema, change[0]: change[1]}, PLAIN, CHANGES)


@given(PLAIN, VALUES)
def test_a_value_fits_a_plain_schema_where_jsonschema_says_so(schema, value):
    assert is_plain(schema)
    assert fits(value, schema) == Draft202012Validator(schema).is_valid(value)


@pytest.mark.slow
@settings(max_examples=300)
@given(CHANGED | keywords(CHANGED))
def test_a_plain_schema_is_a_valid_one(schema):
    event("plain" if is_plain(schema) else "left to jsonschema")
    if is_plain(schema):
        Draft202012Validator.check_schema(schema)


@for_each(
    "schema",
    [
        {"type": "object", "minProperties": 1},
        {"properties": {"a": {"type": "string", "pattern": "x"}}},
        {"items": {"$ref": "#"}},
        {"enum": [1]},
        {"type": ["string", "null"]},
        {"additionalProperties": {"type": "string"}},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        True,
    ],
)
def test_what_takes_more_than_types_and_names_is_left_to_jsonschema(schema):
    assert not is_plain(schema)
