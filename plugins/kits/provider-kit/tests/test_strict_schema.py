"""The strict form of a schema: what it accepts, without nulls, is what the schema accepts."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import RequestFailed, Tool, ToolCall
from pi_provider_kit import strict, strict_parameters, strict_schema
from pi_testing import for_each

NAMES = ("a", "b", "c")


def fits(value, schema):
    return Draft202012Validator(schema).is_valid(value)


# Random schemas: of all that can be strict, and some of what cannot

SCALARS = st.sampled_from(["a", "b", "", 0, 1, 2.5, True, False, None])


def scalar_schemas():
    typed = st.sampled_from(
        ["string", "integer", "number", "boolean", "null", ["string", "null"], ["integer", "string"], ["null"]]
    )
    extras = st.fixed_dictionaries(
        {},
        optional={
            "enum": st.lists(SCALARS, min_size=1, max_size=3),
            "const": SCALARS,
            "minimum": st.integers(-1, 2),
            "minLength": st.integers(0, 1),
            "default": SCALARS,
            "description": st.just("words"),
        },
    )
    return st.builds(lambda kind, more: {"type": kind, **more}, typed, extras)


def objects(values):
    def made(properties, required, closed, nullable, more):
        schema = {"type": ["object", "null"] if nullable else "object", "properties": properties, **more}
        schema["required"] = [name for name in NAMES if name in properties and name in required]
        return {**schema, "additionalProperties": closed} if closed is not None else schema

    return st.builds(
        made,
        st.dictionaries(st.sampled_from(NAMES), values, max_size=3),
        st.sets(st.sampled_from(NAMES)),
        st.sampled_from([None, False] * 4 + [True]),
        st.booleans(),
        st.sampled_from([{}] * 9 + [{"minProperties": 1}, {"not": {"required": ["a"]}}, {"enum": [{}, {"a": 1}]}]),
    )


def containers(values):
    union = st.lists(st.one_of(*[scalar_schemas()] * 4, values), min_size=1, max_size=2)
    return st.one_of(
        *[objects(values)] * 3,
        *[st.builds(lambda items: {"type": "array", "items": items, "maxItems": 2}, values)] * 3,
        *[st.builds(lambda branches: {"anyOf": branches}, union)] * 2,
        st.sampled_from([{}, True, {"type": "object"}, {"type": "array"}, {"type": ["object", "string"]}]),
    )


SCHEMAS = objects(st.recursive(scalar_schemas(), containers, max_leaves=6)).map(lambda each: {**each, "type": "object"})


@st.composite
def values_of(draw, schema):
    """Make a value that has the form of a schema; whether it fits is left to be seen."""
    if not isinstance(schema, dict):
        return draw(SCALARS)
    if "anyOf" in schema:
        return draw(values_of(draw(st.sampled_from(schema["anyOf"]))))
    kinds = schema.get("type", "string")
    kind = draw(st.sampled_from(kinds if isinstance(kinds, list) else [kinds]))
    if kind == "object":
        required, named = schema.get("required", ()), schema.get("properties", {}).items()
        return {name: draw(values_of(each)) for name, each in named if name in required or draw(st.booleans())}
    if kind == "array":
        return draw(st.lists(values_of(schema.get("items", {})), max_size=2))
    plain = {
        "string": st.sampled_from(["a", "b", ""]),
        "integer": st.integers(-1, 2),
        "number": st.sampled_from([0, 2.5]),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return draw(st.sampled_from(schema["enum"]) if "enum" in schema and draw(st.booleans()) else plain[kind])


def without_nulls(value, schema):
    """Remove what means "not given": nulls of optional properties that cannot be null."""
    if isinstance(value, list):
        return [without_nulls(each, schema["items"]) for each in value]
    if not isinstance(value, dict):
        return value
    required, properties = schema.get("required", ()), schema["properties"]
    return {
        name: without_nulls(each, properties[name])
        for name, each in value.items()
        if each is not None or name in required or fits(None, properties[name])
    }


def with_nulls(value, schema):
    """Say null of every property that is not given."""
    if isinstance(value, list):
        return [with_nulls(each, schema["items"]) for each in value]
    if not isinstance(value, dict):
        return value
    named = schema["properties"].items()
    return {name: with_nulls(value[name], each) if name in value else None for name, each in named}


STRICT_SCHEMAS = SCHEMAS.filter(lambda schema: strict_schema(schema) is not None)


def fitting(data, schema):
    """Draw a value that fits a schema; most of those that have its form do."""
    for _ in range(10):
        value = data.draw(values_of(schema))
        if fits(value, schema):
            return value
    return assume(False)


@given(STRICT_SCHEMAS, st.data())
def test_what_the_strict_form_accepts_is_accepted_without_its_nulls(schema, data):
    strict = strict_schema(schema)
    value = fitting(data, strict)

    assert fits(without_nulls(value, schema), schema)


@given(STRICT_SCHEMAS, st.data())
def test_what_is_accepted_can_be_written_in_the_strict_form(schema, data):
    strict = strict_schema(schema)
    value = fitting(data, schema)

    assert fits(with_nulls(value, schema), strict)


@given(STRICT_SCHEMAS, st.data())
def test_a_strict_call_passes_the_validation_of_its_tool(schema, data):
    strict = strict_schema(schema)
    value = fitting(data, strict)
    tool = Tool(name="t", description="d", parameters=schema, execute=never)

    assert fits(ArgumentValidator().validate(tool, ToolCall("c", "t", value)), schema)


@given(SCHEMAS)
def test_a_strict_form_keeps_the_rules_and_the_schema_stays_as_it_is(schema):
    before = repr(schema)
    strict = strict_schema(schema)

    assert repr(schema) == before
    if strict is not None:
        assert_strict(strict)
        assert strict_schema(strict, references=True) == strict


def assert_strict(schema):
    assert "default" not in schema
    assert "type" in schema or schema["anyOf"]
    if "properties" in schema:
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")]
    for each in filter(None, parts):
        assert_strict(each)


# Single rules


def of_property(schema, required=()):
    return {"type": "object", "properties": {"p": schema}, "required": list(required)}


@for_each(
    "keyword",
    [
        *("$ref", "$defs", "definitions", "allOf", "oneOf", "patternProperties", "dependentSchemas", "dependencies"),
        *("unevaluatedProperties", "propertyNames", "contains", "prefixItems", "not", "if", "then", "else"),
    ],
)
def test_some_keywords_cannot_be_strict(keyword):
    assert strict_schema(of_property({"type": "string", keyword: {}})) is None


@for_each(
    "schema",
    [
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "array"},
        {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]},
        {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]},
        {"type": ["array", "string"], "items": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "additionalProperties": True, "properties": {"a": {"type": "string"}}},
        {"type": "object"},
        {"type": "object", "properties": {}, "required": ["unknown"]},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "enum": [{}, {"a": 1}]},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1},
        {"type": "array", "items": {"type": "string"}, "const": ["a"]},
        {"properties": {"a": {"type": "string"}}},
        {"anyOf": []},
        {},
        True,
        {"description": "anything"},
    ],
)
def test_some_forms_cannot_be_strict(schema):
    assert strict_schema(of_property(schema)) is None


@for_each(
    ("schema", "strict"),
    [
        ({"type": "integer"}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"type": ["integer", "null"], "default": 3}, {"type": ["integer", "null"]}),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, {"anyOf": [{"type": "null"}, {"type": "string"}]}),
        (
            {"type": ["string", "null"], "enum": ["x"]},
            {"anyOf": [{"type": ["string", "null"], "enum": ["x"]}, {"type": "null"}]},
        ),
        (
            {"type": "array", "items": of_property({"type": "string"}, required="p")},
            {
                "anyOf": [
                    {
                        "type": "array",
                        "items": {**of_property({"type": "string"}, required="p"), "additionalProperties": False},
                    },
                    {"type": "null"},
                ]
            },
        ),
    ],
)
def test_an_optional_property_may_be_null(schema, strict):
    assert strict_schema(of_property(schema))["properties"]["p"] == strict
    assert strict_schema(of_property(schema))["required"] == ["p"]


def test_a_required_property_may_not_be_null():
    assert strict_schema(of_property({"type": "integer"}, required="p"))["properties"]["p"] == {"type": "integer"}


def test_answers_may_refer_to_definitions():
    leaf = of_property({"type": "string"}, required="p")
    schema = {**of_property({"$ref": "#/$defs/leaf"}), "$defs": {"leaf": leaf}}

    assert strict_schema(schema) is None
    assert strict_schema(schema, references=True) == {
        "type": "object",
        "properties": {"p": {"anyOf": [{"$ref": "#/$defs/leaf"}, {"type": "null"}]}},
        "required": ["p"],
        "additionalProperties": False,
        "$defs": {"leaf": {**leaf, "additionalProperties": False}},
    }


def test_a_schema_that_is_deeper_than_apis_take_is_not_strict():
    schema = {"type": "string"}
    for _ in range(12):
        schema = of_property(schema)

    assert strict_schema(schema) is None


# Tools that ask for it


async def never(*_):
    raise NotImplementedError


def tool(constrained, schema=None):
    schema = schema or of_property({"type": "integer", "minimum": 1})
    return Tool(name="count", description="d", parameters=schema, execute=never, constrained_sampling=constrained)


def test_a_tool_that_does_not_ask_is_free(model):
    assert strict_parameters(tool(None), model, supported=True) is None


@pytest.mark.parametrize("constrained", ["prefer", "require"])
def test_a_tool_that_asks_gets_its_strict_schema(model, constrained):
    asking = tool(constrained)

    assert strict_parameters(asking, model, supported=True) == strict_schema(asking.parameters)


def test_a_preference_is_passed_over_where_it_cannot_be(model):
    assert strict_parameters(tool("prefer"), model, supported=False) is None
    assert strict_parameters(tool("prefer", of_property({})), model, supported=True) is None
    assert strict_parameters(tool("prefer"), model, supported=True, keywords=("type", "properties", "anyOf")) is None


def test_a_requirement_that_cannot_be_met_names_the_tool_and_why(model):
    with pytest.raises(
        RequestFailed, match=r"Tool 'count' requires .* API 'acme' does not constrain calls of model 'acme/m1'"
    ):
        strict_parameters(tool("require"), model, supported=False)
    with pytest.raises(RequestFailed, match=r"Tool 'count' requires .* no strict form: /p has no type\. Choose"):
        strict_parameters(tool("require", of_property({})), model, supported=True)
    with pytest.raises(RequestFailed, match="/p has 'minimum'"):
        strict_parameters(tool("require"), model, supported=True, keywords=("type", "properties", "required", "anyOf"))


def test_a_schema_is_made_strict_again_only_after_it_or_the_result_was_changed_in_place(model, monkeypatch):
    made, convert = [], strict._Converter.convert
    monkeypatch.setattr(
        strict._Converter, "convert", lambda self, schema, *rest: (made.append(schema), convert(self, schema, *rest))[1]
    )
    asking = tool("prefer")
    first = strict_parameters(asking, model, supported=True)
    made.clear()

    assert strict_parameters(asking, model, supported=True) is first
    assert not made

    first["description"] = "A plugin was here."
    assert strict_parameters(asking, model, supported=True) == strict_schema(asking.parameters)
    asking.parameters["description"] = "So was the tool."
    assert strict_parameters(asking, model, supported=True)["description"] == "So was the tool."


@pytest.mark.parametrize("value", [2**70, {1}, "\ud800"], ids=["a large number", "a set", "half a pair"])
def test_what_a_plugin_put_in_a_schema_in_place_is_out_of_the_next_request_whatever_it_is(model, value):
    asking = tool("prefer")
    strict_parameters(asking, model, supported=True)["maximum"] = value

    assert strict_parameters(asking, model, supported=True) == strict_schema(asking.parameters)
