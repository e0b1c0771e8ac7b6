"""Schemas of answers as Claude takes them: closed, without what it cannot hold the answer to."""

from __future__ import annotations

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import claude_output_schema
from pi_testing import for_each
from pi_testing.fake_servers.claude_schemas import schema_violations

PERSON = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}


def test_every_object_is_closed_and_limits_are_left_out():
    asked = {
        "type": "object",
        "properties": {"people": {"type": "array", "items": PERSON, "maxItems": 9}},
        "additionalProperties": False,
    }

    assert claude_output_schema(asked) == {
        "type": "object",
        "properties": {
            "people": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                    "additionalProperties": False,
                },
            }
        },
        "additionalProperties": False,
    }


def test_one_of_several_forms_is_any_of_them():
    asked = {"type": "object", "properties": {"id": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}

    assert claude_output_schema(asked)["properties"]["id"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}


def test_definitions_stay_where_they_are():
    asked = {"type": "object", "properties": {"who": {"$ref": "#/$defs/Person"}}, "$defs": {"Person": PERSON}}

    closed = claude_output_schema(asked)

    assert closed["properties"]["who"] == {"$ref": "#/$defs/Person"}
    assert closed["$defs"]["Person"]["additionalProperties"] is False


@for_each(
    "asked",
    [
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"more": {"type": "object", "additionalProperties": True}}},
        {"type": "object", "properties": {"anything": {}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"^x": {"type": "string"}}},
        {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        },
        {"type": "object", "properties": {"elsewhere": {"$ref": "https://example.org/schema"}}},
    ],
)
def test_what_the_subset_cannot_express_is_not_requested(asked):
    assert claude_output_schema(asked) is None


leaves = st.sampled_from(
    [{"type": "string", "maxLength": 3}, {"type": "integer", "minimum": 2}, {"type": "boolean"}, {"enum": ["a", 1]}]
)
schemas = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda item: {"type": "array", "items": item, "minItems": 1}, inner)
        | st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner)
        | st.builds(
            lambda a, b: {"type": "object", "properties": {"a": a, "b": b}, "required": ["a"], "minProperties": 1},
            inner,
            inner,
        )
    ),
    max_leaves=6,
)


@given(inner=schemas, value=st.sampled_from([{"a": "abc"}, {"a": 3}, {"a": [True]}, {"a": {"a": 2, "b": "a"}}]))
def test_the_api_takes_it_and_it_allows_all_that_the_asked_schema_does(inner, value):
    asked = {"type": "object", "properties": {"a": inner}, "additionalProperties": False}

    closed = claude_output_schema(asked)

    assert list(schema_violations("schema", closed)) == []
    if jsonschema.Draft202012Validator(asked).is_valid(value):
        assert jsonschema.Draft202012Validator(closed).is_valid(value)
