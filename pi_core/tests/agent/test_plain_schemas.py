"""Schemas that are read without jsonschema: what is said about them is what jsonschema says."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
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


def keywords(inner, anything):
    """Return a strategy of schemas, whose keywords have ``anything`` as values now and then."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES) | anything,
            "properties": st.dictionaries(NAMES, inner, max_size=3) | anything,
            "required": st.lists(NAMES, unique=True, max_size=2) | anything,
            "additionalProperties": st.booleans() | anything,
            "items": inner | anything,
            "enum": st.lists(NAMES, unique=True, max_size=2) | anything,
            "anyOf": st.lists(inner, min_size=1, max_size=2) | anything,
            "description": st.text(max_size=3) | anything,
            "title": st.text(max_size=3) | anything,
            "default": VALUES,
        },
    )


NOTHING = st.nothing()
PLAIN = st.recursive(keywords(st.just({}), NOTHING), lambda inner: keywords(inner, NOTHING), max_leaves=4)
ANY = st.recursive(keywords(st.just({}), VALUES), lambda inner: keywords(inner, VALUES), max_leaves=4)


@given(PLAIN, VALUES)
def test_a_value_fits_a_plain_schema_where_jsonschema_says_so(schema, value):
    assert is_plain(schema)
    assert fits(value, schema) == Draft202012Validator(schema).is_valid(value)


@pytest.mark.slow
@given(ANY)
def test_a_plain_schema_is_a_valid_one(schema):
    assume(is_plain(schema))

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
