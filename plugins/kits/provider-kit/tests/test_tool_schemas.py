"""Schemas of tools that vendors refuse, each in the form that is sent, and the arguments on their way back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pi_hookspecs import Model
from pi_provider_kit import RULES, rules_of
from pi_provider_kit.tool_schemas import original_arguments, sendable_schema
from pi_testing import for_each

CLAUDE, GOOGLE = RULES["anthropic-messages"], RULES["google-generative-ai"]
OPENAI = RULES["openai-responses"]
NOVA = rules_of(Model(id="amazon.nova-pro-v1:0", name="N", api="bedrock-converse-stream", provider="amazon-bedrock"))
TEXT = {"type": "string"}
EMPTY = {"type": "object", "properties": {}}


def of(properties, **more):
    return {"type": "object", "properties": properties, **more}


@for_each(
    ("parameters", "sent"),
    [
        (True, EMPTY),
        (None, EMPTY),
        ({}, EMPTY),
        ({"type": "object"}, EMPTY),
        ({"type": "object", "properties": None, "required": None}, EMPTY),
        ({"type": "string", "minLength": 1, "description": "d"}, {"description": "d", **EMPTY}),
        ({"type": ["object", "null"], "properties": {"a": TEXT}}, of({"a": TEXT})),
        (of({"a": True}), of({"a": {}})),
        (of({"a": TEXT, "b": False}), of({"a": TEXT})),
        (of({"a": {"type": "array"}}), of({"a": {"type": "array", "items": {}}})),
        (of({"a": {"type": "array", "items": True}}), of({"a": {"type": "array", "items": {}}})),
        (
            of({"a": {"type": "array", "items": [TEXT, {"type": "null"}], "additionalItems": False}}),
            of({"a": {"type": "array", "items": {"anyOf": [TEXT, {"type": "null"}]}}}),
        ),
        (
            of({"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}),
            of({"a": {"type": "number", "exclusiveMinimum": 0}}),
        ),
        (of({"a": {"type": "any", "required": True, "enum": []}}), of({"a": {}})),
        (of({"a": {"type": ["string", "any"]}}), of({"a": {"type": ["string"]}})),
        (of({}, additionalProperties=False), of({}, additionalProperties=False)),
    ],
)
def test_a_schema_is_that_of_an_object_in_a_form_that_every_api_accepts(parameters, sent):
    assert [sendable_schema(parameters, rules) for rules in (CLAUDE, OPENAI, GOOGLE)] == [sent] * 3


def test_a_schema_that_no_api_refuses_is_sent_as_it_is():
    schema = of(
        {
            "path": {"type": "string", "description": "The file", "pattern": "^a", "x-order": 1},
            "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}, "minItems": 1},
            "mode": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}], "default": None},
        },
        required=["path"],
        additionalProperties=False,
        **{"$schema": "http://json-schema.org/draft-07/schema#", "$defs": {"edit": of({"old": TEXT})}},
    )

    for rules in (CLAUDE, OPENAI, GOOGLE):
        assert json.dumps(sendable_schema(schema, rules)) == json.dumps(schema)


def test_what_combines_schemas_at_the_root_is_merged_and_said_in_words():
    schema = of({"text": TEXT, "url": TEXT}, anyOf=[{"required": ["text"]}, {"required": ["url"]}], description="Adds.")

    sent = sendable_schema(schema, CLAUDE)

    assert sent == of(
        {"text": TEXT, "url": TEXT}, description='Adds.\n{"anyOf":[{"required":["text"]},{"required":["url"]}]}'
    )


@for_each(
    ("parameters", "properties", "required"),
    [
        ({"oneOf": [of({"a": TEXT}, required=["a"]), of({"b": TEXT}, required=["b"])]}, {"a": TEXT, "b": TEXT}, None),
        (
            {"allOf": [of({"a": TEXT}, required=["a"]), of({"b": TEXT}, required=["b"])]},
            {"a": TEXT, "b": TEXT},
            ["a", "b"],
        ),
        ({"anyOf": [of({"a": TEXT}, required=["a"])] * 2}, {"a": TEXT}, ["a"]),
        (
            {"oneOf": [of({"a": TEXT}), of({"a": {"type": "integer"}}), of({"a": {"type": "null"}})]},
            {"a": {"anyOf": [TEXT, {"type": "integer"}, {"type": "null"}]}},
            None,
        ),
        ({"anyOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": of({"a": TEXT})}}, {"a": TEXT}, None),
        ({"anyOf": [{"allOf": [of({"a": TEXT}), of({"b": TEXT})]}]}, {"a": TEXT, "b": TEXT}, None),
    ],
)
def test_a_merged_root_has_the_properties_of_all_and_requires_what_all_require(parameters, properties, required):
    for rules in (CLAUDE, OPENAI, GOOGLE, NOVA):
        sent = sendable_schema(parameters, rules)

        assert (sent["properties"], sent.get("required")) == (properties, required)
        assert not sent.keys() & {"anyOf", "oneOf", "allOf"}


@for_each(
    ("reference", "sent"),
    [
        ({"$ref": "#/$defs/gone"}, {}),
        ({"$ref": "https://example.com/schema.json", "description": "d"}, {"description": "d"}),
        ({"$ref": "#anchor"}, {}),
        ({"$ref": "#/properties/b"}, TEXT),
        ({"$ref": "#/properties/a"}, {}),
        ({"type": "array", "items": {"$ref": "#/properties/b"}}, {"type": "array", "items": TEXT}),
    ],
)
def test_references_that_no_api_can_follow_become_what_they_name(reference, sent):
    for rules in (CLAUDE, OPENAI, GOOGLE, NOVA):
        assert sendable_schema(of({"a": reference, "b": TEXT}), rules)["properties"] == {"a": sent, "b": TEXT}


def test_definitions_that_recur_are_sent_only_where_the_api_takes_them():
    node = of({"next": {"$ref": "#/$defs/node"}})
    schema = of({"first": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})

    assert sendable_schema(schema, CLAUDE) == sendable_schema(schema, OPENAI) == schema
    assert sendable_schema(schema, GOOGLE) == of({"first": of({"next": {}})})


@for_each("rules", [CLAUDE, OPENAI, GOOGLE])
def test_a_root_that_refers_to_a_definition_has_its_properties(rules):
    definitions = {"args": of({"a": TEXT})}

    assert sendable_schema({"$ref": "#/$defs/args", "$defs": definitions}, rules)["properties"] == {"a": TEXT}
    assert sendable_schema({"$ref": "#", "const": None}, rules)["properties"] == {}


def test_nova_gets_nothing_else_at_the_root():
    schema = of({"a": {"$ref": "#/$defs/x"}}, required=["a"], additionalProperties=False, **{"$defs": {"x": TEXT}})

    assert sendable_schema(schema, NOVA) == of({"a": TEXT}, required=["a"])


@for_each(
    ("schema", "sent"),
    [
        ({"const": "a"}, {"enum": ["a"], "type": "string"}),
        ({"type": "integer", "const": 3}, {"type": "integer", "enum": [3]}),
        ({"const": True}, {"type": "boolean"}),
        ({"const": None}, {"type": "null"}),
        ({"const": {"a": 1}, "description": "d"}, {"description": "d"}),
    ],
)
def test_a_const_is_an_enum_for_gemini(schema, sent):
    assert sendable_schema(of({"a": schema}), GOOGLE)["properties"]["a"] == sent
    assert sendable_schema(of({"a": schema}), OPENAI)["properties"]["a"] == schema


def test_gemini_is_told_to_require_only_what_is_declared():
    schema = of({"a": TEXT}, required=["a", "b"])

    assert sendable_schema(schema, GOOGLE)["required"] == ["a"]
    assert sendable_schema(schema, OPENAI)["required"] == ["a", "b"]


KEYS = of(
    {
        "$.xgafv": {"type": "string", "description": "V1 error format."},
        "filter[id]": {"type": "array", "items": of({"名": TEXT, "free": {"type": "object"}})},
        "_.xgafv": TEXT,
        "x" * 70: {"type": "integer"},
        "ok": {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "null"}]},
    },
    required=["$.xgafv", "ok"],
    **{"$defs": {"place": of({"a b": TEXT})}},
)


def test_properties_that_claude_refuses_get_other_names_and_keep_their_own_in_words():
    sent = sendable_schema(KEYS, CLAUDE)

    assert [*sent["properties"]] == ["_.xgafv_2", "filter_id_", "_.xgafv", "x" * 64, "ok"]
    assert sent["properties"]["_.xgafv_2"]["description"] == "$.xgafv: V1 error format."
    assert sent["properties"]["filter_id_"]["description"] == "filter[id]"
    assert [*sent["properties"]["filter_id_"]["items"]["properties"]] == ["_", "free"]
    assert sent["required"] == ["_.xgafv_2", "ok"]
    assert [*sent["$defs"]["place"]["properties"]] == ["a_b"]
    assert sendable_schema(KEYS, OPENAI) == KEYS


def test_arguments_come_back_under_the_tool_s_own_names():
    written = {
        "_.xgafv_2": "1",
        "_.xgafv": "2",
        "filter_id_": [{"_": "n", "free": {"_": "data of the user's own", "a_b": 1}}],
        "ok": {"a_b": "c"},
        "unknown": {"a_b": 2},
    }

    assert original_arguments(written, KEYS, CLAUDE) == {
        "$.xgafv": "1",
        "_.xgafv": "2",
        "filter[id]": [{"名": "n", "free": {"_": "data of the user's own", "a_b": 1}}],
        "ok": {"a b": "c"},
        "unknown": {"a_b": 2},
    }
    assert original_arguments(written, KEYS, OPENAI) is written
    assert original_arguments({"_.xgafv_2": None}, KEYS, CLAUDE) == {"$.xgafv": None}
    plain = {"ok": None}
    assert original_arguments(plain, KEYS, CLAUDE) is plain


@pytest.mark.parametrize("api", ["openai-completions", "google-gemini-cli", "acme"])
def test_claude_refuses_names_of_properties_through_gateways_too(api):
    rules = rules_of(Model(id="anthropic/claude-sonnet-5", name="C", api=api, provider="gateway"))

    assert (rules.keys is not None) == (api != "acme")


KEYWORDS = st.sampled_from(
    [
        *("type", "properties", "items", "required", "anyOf", "allOf", "oneOf", "$ref", "$defs", "enum", "const"),
        *("additionalProperties", "minimum", "exclusiveMinimum", "description", "not", "a", "$.b", "définition"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["object", "array", "string", "#", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_any_value_at_all_becomes_a_schema_that_every_api_accepts(parameters):
    for rules in (CLAUDE, OPENAI, GOOGLE, NOVA):
        sent = sendable_schema(parameters, rules)

        Draft202012Validator.check_schema(sent)
        assert sent["type"] == "object"
        assert isinstance(sent["properties"], dict)
        assert not sent.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "const"}
        assert sendable_schema(sent, rules) == sent
