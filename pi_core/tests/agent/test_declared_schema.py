"""Mistakes in the schema of a tool that are found when it is registered."""

from __future__ import annotations

import pytest

from pi_core.agent.declared_schema import schema_problem
from pi_core.host.kinds import KINDS
from pi_hookspecs import Tool


def described(**properties):
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (described(a={"type": "strin"}), "parameters.a.type is 'strin', which is none of array, boolean, "),
        (described(a={"type": ["string", "nul"]}), "parameters.a.type is 'nul'"),
        (described(a={"type": 7}), "parameters.a.type is 7"),
        (described(a={"items": {"type": "text"}}), "parameters.a.items.type is 'text'"),
        (described(a={"anyOf": [{"type": "null"}, {"type": "x"}]}), "parameters.a.anyOf[1].type is 'x'"),
        (described(a="string"), "parameters.a is 'string', which is not a schema"),
        (described(a={"$ref": "#/$defs/b"}), "parameters.a.$ref is '#/$defs/b', which is not in the schema"),
        (described(a={"pattern": "(["}), "parameters.a.pattern is '([', which is not a regular expression: "),
        ({"type": "object", "$defs": {"b": {"type": "y"}}}, "parameters.$defs.b.type is 'y'"),
    ],
)
def test_a_mistake_is_named_with_its_place(schema, problem):
    assert (schema_problem(schema) or "").startswith(problem)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        described(a={"type": ["string", "null"]}, b=True, c={}, type={"type": "string"}),
        described(a={"$ref": "#/$defs/b"}) | {"$defs": {"b": {"type": "string"}}},
        described(a={"$ref": "#"}, b={"$ref": "https://example.org/schema"}, c={"$ref": "#anchor"}),
        described(a={"pattern": r"^\p{L}+$"}, b={"pattern": "[^]"}, c={"pattern": "(?<year>[0-9]+)"}),
        described(a={"enum": ["strin"]}, b={"const": {"type": "strin"}}, c={"default": {"type": "x"}}),
        described(a={"additionalProperties": False, "items": False}),
    ],
)
def test_what_is_no_mistake_in_some_dialect_passes(schema):
    assert schema_problem(schema) is None


def test_a_schema_that_refers_to_itself_without_end_is_left_to_the_call():
    schema = described()
    schema["properties"]["a"] = schema

    assert schema_problem(schema) is None


def test_a_tool_with_such_a_schema_is_not_registered():
    async def execute(call_id, args, signal, update, ctx):
        """Never called."""

    tool = Tool(name="t", description="t", parameters=described(a={"type": "strin"}), execute=execute)

    assert KINDS["register_tools"].problem(tool).startswith("tool 't': parameters.a.type is 'strin'")
