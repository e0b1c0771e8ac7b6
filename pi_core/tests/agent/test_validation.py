"""Arguments of a tool call against the tool's schema: what passes, what is forgiven, the error messages."""

from __future__ import annotations

import gc
import json
import math
import socket
import subprocess
import sys
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import InvalidArguments, MessageBuilder, Model, Tool, ToolCall, tool
from pi_testing import for_each

READ = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "offset": {"type": "number"}, "limit": {"type": "number"}},
    "required": ["path"],
}
EDIT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path", "edits"],
}


async def nothing(*_):
    raise AssertionError


def a_tool(parameters, name="read", **fields):
    return Tool(name=name, description="d", parameters=parameters, execute=nothing, **fields)


def of(**properties):
    """Return a schema of optional properties."""
    return {"type": "object", "properties": properties}


def validate(parameters, arguments, **fields):
    return ArgumentValidator().validate(a_tool(parameters, **fields), ToolCall("1", "read", arguments))


def refusal(parameters, arguments, **fields):
    with pytest.raises(InvalidArguments) as caught:
        validate(parameters, arguments, **fields)
    return str(caught.value)


def errors(parameters, arguments):
    head, _, _ = refusal(parameters, arguments).partition("\n\n")
    return [line.removeprefix("  - ") for line in head.splitlines()[1:]]


class TestText:
    def test_error_has_exactly_the_contracts_form(self):
        assert refusal(READ, {"offset": 3, "x": {"ü": []}}) == (
            'Validation failed for tool "read":\n'
            "  - path: must have required properties path\n"
            "\n"
            "Received arguments:\n"
            '{\n  "offset": 3,\n  "x": {\n    "ü": []\n  }\n}'
        )

    def test_error_of_a_wrong_type_has_its_path(self):
        assert errors(READ, {"path": "a", "limit": "many"}) == ["limit: must be number"]

    def test_nested_paths_have_dots(self):
        assert errors(EDIT, {"path": "a", "edits": [{"oldText": "x"}]}) == [
            "edits.0.newText: must have required properties newText"
        ]

    def test_all_missing_properties_are_listed_on_one_line(self):
        assert errors(EDIT, {}) == ["path: must have required properties path, edits"]

    def test_every_error_has_its_line(self):
        wrong = {"path": [], "edits": [{"oldText": {}, "newText": "n", "more": 1}]}

        assert errors(EDIT, wrong) == [
            "path: must be string",
            "edits.0.oldText: must be string",
            "edits.0: must not have additional properties",
        ]

    def test_a_long_list_of_mistakes_is_cut(self):
        schema = of(lines={"type": "array", "items": {"type": "number"}})

        assert errors(schema, {"lines": ["x"] * 1000}) == [f"lines.{index}: must be number" for index in range(8)]

    def test_what_was_received_is_shown_not_what_it_was_coerced_to(self):
        assert '"offset": "2"' in refusal(READ, {"offset": "2"})

    @for_each(
        ("schema", "value", "text"),
        [
            ({"type": "integer"}, 1.5, "must be integer"),
            ({"type": ["string", "number"]}, [], "must be either string or number"),
            ({"type": "object"}, "x", "must be object"),
            ({"type": "array"}, "x", "must be array"),
            ({"minimum": 1}, 0, "must be >= 1"),
            ({"maximum": 2.0}, 3, "must be <= 2"),
            ({"exclusiveMinimum": 0}, 0, "must be > 0"),
            ({"exclusiveMaximum": 0.5}, 1, "must be < 0.5"),
            ({"multipleOf": 5}, 7, "must be multiple of 5"),
            ({"minLength": 2}, "", "must not have fewer than 2 characters"),
            ({"maxLength": 2}, "abc", "must not have more than 2 characters"),
            ({"pattern": "^a"}, "b", 'must match pattern "^a"'),
            ({"format": "ipv4"}, "b", 'must match format "ipv4"'),
            ({"enum": ["a", "b"]}, "c", "must be equal to one of the allowed values"),
            ({"const": 1}, 2, "must be equal to constant"),
            ({"minItems": 1}, [], "must not have fewer than 1 items"),
            ({"maxItems": 1}, [1, 2], "must not have more than 1 items"),
            ({"uniqueItems": True}, [1, 1], "must not have duplicate items"),
            ({"contains": {"const": 1}}, [2], "must contain at least 1 valid item"),
            ({"minProperties": 1}, {}, "must not have fewer than 1 properties"),
            ({"maxProperties": 0}, {"a": 1}, "must not have more than 0 properties"),
            ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, "property names b are invalid"),
            ({"not": {}}, 1, "must not be valid"),
            ({"oneOf": [True, True]}, 1, "must match exactly one schema in oneOf"),
            (
                {"dependentRequired": {"a": ["b", "c"]}},
                {"a": 1, "c": 1},
                "must have properties b, c when property a is present",
            ),
            ({"properties": {}, "unevaluatedProperties": False}, {"a": 1}, "must not have unevaluated properties"),
        ],
    )
    def test_each_keyword_has_its_text(self, schema, value, text):
        assert errors(of(x=schema), {"x": value}) == [f"x: {text}"]

    def test_a_schema_that_nothing_satisfies_is_reported(self):
        assert errors({"allOf": [False]}, {"x": 1}) == ["root: schema is false"]

    def test_error_of_a_union_has_the_errors_of_each_branch(self):
        schema = of(x={"anyOf": [{"type": "number"}, {"type": "array"}]})

        assert errors(schema, {"x": {}}) == [
            "x: must be number",
            "x: must be array",
            "x: must match a schema in anyOf",
        ]

    def test_arguments_that_are_no_json_are_quoted_unchanged(self):
        call = ToolCall("1", "read", {}, arguments_error="arguments are not valid JSON: line 1")

        with pytest.raises(InvalidArguments) as caught:
            ArgumentValidator().validate(a_tool(READ), call)

        assert str(caught.value) == 'Invalid arguments for tool "read": arguments are not valid JSON: line 1'

    def test_arguments_that_are_no_json_are_shown_to_the_model(self):
        builder = MessageBuilder(Model(id="m", name="M", api="a", provider="p"))
        index = builder.tool_call_start("1", "read").content_index
        builder.tool_call(index, '{"path": "x')
        call = builder.tool_call_end(index).tool_call

        with pytest.raises(InvalidArguments) as caught:
            ArgumentValidator().validate(a_tool(READ), call)

        assert str(caught.value).startswith('Invalid arguments for tool "read": arguments are not valid JSON')
        assert str(caught.value).endswith('\n\nReceived arguments:\n{"path": "x')

    @for_each("arguments", [[], "x", None, 5])
    @for_each("schema", [READ, {}])
    def test_arguments_that_are_no_object_are_refused(self, arguments, schema):
        text = refusal(schema, arguments)

        assert text.startswith('Validation failed for tool "read":\n  - root: must be object\n\nReceived arguments:\n')


class TestCoercion:
    """The table of AJV's ``coerceTypes``."""

    @for_each(
        ("wanted", "value", "result"),
        [
            ("string", 12, "12"),
            ("string", 1.5, "1.5"),
            ("string", True, "true"),
            ("string", False, "false"),
            ("string", None, ""),
            ("number", "2", 2),
            ("number", "-2.50", -2.5),
            ("number", "1e3", 1000),
            ("number", " 7 ", 7),
            ("number", True, 1),
            ("number", None, 0),
            ("integer", "2", 2),
            ("integer", "2.0", 2),
            ("integer", False, 0),
            ("integer", None, 0),
            ("boolean", "true", True),
            ("boolean", "false", False),
            ("boolean", 1, True),
            ("boolean", 0, False),
            ("boolean", None, False),
            ("null", "", None),
            ("null", 0, None),
            ("null", False, None),
            (["boolean", "number"], "5", 5),
            (["null", "string"], 5, "5"),
        ],
    )
    def test_scalar_becomes_what_the_schema_wants(self, wanted, value, result):
        schema = of(x={"type": wanted}) | {"required": ["x"]}

        coerced = validate(schema, {"x": value})["x"]

        assert coerced == result
        assert type(coerced) is type(result)

    @for_each(
        ("wanted", "value"),
        [
            ("number", ""),
            ("number", "  "),
            ("number", "two"),
            ("number", "1e999"),
            ("number", "Infinity"),
            ("number", "nan"),
            ("number", "1_000"),
            ("number", "٣"),
            ("number", "9" * 5000),
            ("integer", "2.5"),
            ("boolean", "True"),
            ("boolean", "yes"),
            ("boolean", 2),
            ("boolean", ""),
            ("null", "null"),
            ("null", 1),
            ("string", []),
            ("string", {}),
            ("array", "[]"),
            ("object", "{}"),
            ("number", [1]),
        ],
    )
    def test_what_the_table_does_not_have_is_an_error(self, wanted, value):
        schema = of(x={"type": wanted}) | {"required": ["x"]}

        assert errors(schema, {"x": value}) == [f"x: must be {wanted}"]

    def test_a_right_type_stays(self):
        arguments = {"path": "12", "offset": 2}

        assert validate(READ, arguments) == arguments

    def test_whole_floats_are_ints_for_python(self):
        offset = validate(READ, {"path": "a", "offset": 2.0})["offset"]

        assert type(offset) is int

    def test_coercion_reaches_into_objects_and_arrays(self):
        schema = of(
            deep=of(n={"type": "integer"}),
            list={"type": "array", "items": {"type": "boolean"}},
            map={"type": "object", "additionalProperties": {"type": "string"}},
            named={"type": "object", "patternProperties": {"^n": {"type": "number"}}},
            pair={"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
        )

        coerced = validate(
            schema,
            {
                "deep": {"n": "1"},
                "list": ["true", 0],
                "map": {"a": 1},
                "named": {"n1": "1", "m": "1"},
                "pair": [1, "2", "3"],
            },
        )

        assert coerced == {
            "deep": {"n": 1},
            "list": [True, False],
            "map": {"a": "1"},
            "named": {"n1": 1, "m": "1"},
            "pair": ["1", 2, 3],
        }

    def test_lists_of_schemas_of_older_drafts_are_understood(self):
        schema = of(pair={"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "number"}})

        assert validate(schema, {"pair": [1, "2"]}) == {"pair": ["1", 2]}

    @pytest.mark.parametrize(
        ("reference", "definitions"),
        [
            ("#count", {"a": {"$anchor": "count", "type": "number"}}),
            ("https://example.com/count", {"a": {"$id": "https://example.com/count", "type": "number"}}),
            ("#/$defs/a/anyOf/1", {"a": {"anyOf": [{"type": "null"}, {"type": "number"}]}}),
            ("#/$defs/a%20b", {"a b": {"type": "number"}}),
            (
                "https://example.com/a",
                {"a": {"$id": "https://example.com/a", "$ref": "#/$defs/b", "$defs": {"b": {"type": "number"}}}},
            ),
        ],
        ids=["anchor", "id", "item of a list", "escaped", "relative to an id"],
    )
    def test_values_are_coerced_wherever_a_reference_leads(self, reference, definitions):
        assert validate(of(n={"$ref": reference}) | {"$defs": definitions}, {"n": "2"}) == {"n": 2}

    def test_a_part_with_an_id_refers_to_its_own_definitions(self):
        part = {"$id": "https://example.com/p", "$ref": "#/$defs/b", "$defs": {"b": {"type": "number"}}}

        assert validate(of(n=part), {"n": "2"}) == {"n": 2}

    def test_references_within_the_schema_are_followed(self):
        schema = of(tree={"$ref": "#/$defs/a~1b"}) | {
            "$defs": {"a/b": of(n={"type": "number"}, next={"$ref": "#/$defs/a~1b"})}
        }

        assert validate(schema, {"tree": {"n": "1", "next": {"n": "2"}}}) == {"tree": {"n": 1, "next": {"n": 2}}}

    def test_every_part_of_an_all_of_coerces(self):
        schema = {"allOf": [of(a={"type": "number"}), of(b={"type": "string"})]}

        assert validate(schema, {"a": "1", "b": 2}) == {"a": 1, "b": "2"}

    @pytest.mark.parametrize("union", ["anyOf", "oneOf"])
    def test_a_value_that_fits_a_branch_of_a_union_stays(self, union):
        schema = of(x={union: [{"type": "number"}, {"type": "string"}]})

        assert validate(schema, {"x": "5"}) == {"x": "5"}

    @pytest.mark.parametrize("union", ["anyOf", "oneOf"])
    def test_a_value_that_fits_no_branch_becomes_the_first_possible(self, union):
        schema = of(x={union: [{"type": "integer"}, {"type": "null"}]}, y={"type": "string"})

        assert validate(schema, {"x": "5", "y": None}) == {"x": 5}

    def test_objects_in_unions_are_coerced_whole(self):
        schema = of(
            x={
                "anyOf": [
                    of(kind={"const": "a"}, n={"type": "number"}) | {"required": ["kind"]},
                    of(kind={"const": "b"}, n={"type": "boolean"}) | {"required": ["kind"]},
                ]
            }
        )

        assert validate(schema, {"x": {"kind": "b", "n": "true"}}) == {"x": {"kind": "b", "n": True}}

    def test_null_for_an_optional_property_counts_as_not_given(self):
        assert validate(READ, {"path": "a", "limit": None}) == {"path": "a"}

    def test_null_stays_where_it_is_allowed(self):
        schema = of(x={"type": ["number", "null"]}, y={}, z={"type": "number"})

        assert validate(schema, {"x": None, "y": None, "z": "1"}) == {"x": None, "y": None, "z": 1}

    def test_coercion_never_hides_another_mistake(self):
        assert errors(READ, {"offset": "2"}) == ["path: must have required properties path"]


class TestFunctionTools:
    """The schemas that ``@tool`` makes and this validator agree on what "not given" is."""

    async def test_null_for_an_argument_with_the_default_none_reaches_the_function_as_its_default(self):
        @tool
        async def head(path: str, lines: int | None = None, loud: bool = False) -> str:
            """Show the first lines."""
            return repr((path, lines, loud))

        call = ToolCall("1", "head", {"path": 5, "lines": None, "loud": "true"})
        params = ArgumentValidator().validate(head, call)

        result = await head.execute("1", params, None, None, None)

        assert result.content[0].text == repr(("5", None, True))

    def test_every_shape_of_schema_can_be_compiled(self):
        @tool
        def many(a: dict[str, list[int]], b: tuple[str, ...] = (), c: int | str | None = None, d: float = 1.5):
            """Take much."""

        assert ArgumentValidator().check_schema(many) is None


class TestCopy:
    def test_the_calls_own_arguments_are_never_touched(self):
        arguments = {"path": 5, "edits": [{"oldText": 1, "newText": "n"}]}
        before = json.loads(json.dumps(arguments))

        result = validate(EDIT, arguments)
        result["edits"][0]["oldText"] = "changed"

        assert arguments == before

    def test_result_shares_nothing_even_if_nothing_was_coerced(self):
        arguments = {"path": "p", "edits": [{"oldText": "o", "newText": "n"}]}

        assert validate(EDIT, arguments)["edits"][0] is not arguments["edits"][0]


class TestPreparing:
    def test_older_shapes_are_folded_in_before_validation(self):
        def fold(arguments):
            arguments["path"] = arguments.pop("file_path")
            return arguments

        raw = {"file_path": 5}

        assert validate(READ, raw, prepare_arguments=fold) == {"path": "5"}
        assert raw == {"file_path": 5}

    def test_its_error_is_what_the_model_reads(self):
        def fold(arguments):
            raise ValueError("Edit tool input is invalid.")

        assert refusal(READ, {}, prepare_arguments=fold) == "Edit tool input is invalid."

    def test_an_error_without_words_has_a_name(self):
        def fold(arguments):
            raise LookupError

        assert refusal(READ, {}, prepare_arguments=fold) == "LookupError"

    @pytest.mark.parametrize("prepared", [None, "x", [], object()])
    def test_its_wrong_answer_is_an_error_of_the_call(self, prepared):
        text = refusal(READ, {"a": 1}, prepare_arguments=lambda _: prepared)

        assert text.startswith('Validation failed for tool "read":\n  - root: must be ')


class TestHostileArguments:
    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
    def test_numbers_that_are_none_are_refused(self, number):
        assert errors(READ, {"path": "a", "x": [number]}) == ["x.0: must be number"]

    def test_keys_that_are_no_strings_are_refused(self):
        assert errors(READ, {"path": "a", "x": {1: 2}}) == ["x: property names 1 are invalid"]

    def test_values_that_json_does_not_have_are_refused(self):
        assert errors(READ, {"path": {"a"}}) == ["path: must be JSON, not set"]

    @pytest.mark.slow
    @pytest.mark.parametrize("schema", [READ, {"properties": {"path": {"$ref": "#"}}}])
    def test_deep_nesting_is_refused(self, schema):
        deep = {}
        for _ in range(100_000):
            deep = {"path": deep}

        assert "must" in errors(schema, deep)[0]
        while deep:  # its own destructor would recurse
            deep = deep["path"]

    def test_a_loop_is_refused(self):
        loop = {}
        loop["path"] = loop

        assert refusal(READ, loop).endswith("Received arguments:\n(cannot be shown as JSON)")

    @for_each("wanted", ["number", "integer", "string", "boolean"])
    @for_each("more", [{}, {"multipleOf": 0.1}, {"maximum": 5.5}])
    def test_huge_integers_are_no_crash(self, wanted, more):
        try:
            validate(of(x={"type": wanted, **more}) | {"required": ["x"]}, {"x": 10**6000})
        except InvalidArguments:
            return

    def test_half_a_surrogate_pair_can_be_sent(self):
        refusal(READ, {"x": "\ud800"}).encode("utf-8")

    @given(
        st.dictionaries(
            st.text() | st.sampled_from(["path", "edits"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                lambda children: (
                    st.lists(children) | st.dictionaries(st.sampled_from(["oldText", "newText"]), children)
                ),
            ),
        )
    )
    def test_anything_fits_or_is_refused_in_words(self, arguments):
        validator, tool, problem = ArgumentValidator(), a_tool(EDIT), ""
        result = arguments
        try:
            result = validator.validate(tool, ToolCall("1", "edit", arguments))
        except InvalidArguments as error:
            problem = str(error)

        assert not problem or "\n\nReceived arguments:\n" in problem
        assert problem or validator.validate(tool, ToolCall("1", "edit", result)) == result


class TestBrokenSchemas:
    @for_each(
        ("schema", "problem"),
        [
            (of(limit={"type": "nmber"}), "properties.limit.type: 'nmber' is not valid"),
            ({"type": "object", "required": "path"}, "required: 'path' is not of type 'array'"),
            ([], "must be an object, not []"),
            (None, "must be an object, not None"),
            ({"properties": {"x": object()}}, "properties.x: must be JSON, not object"),
            ({"properties": {"x": {"minimum": math.nan}}}, "properties.x.minimum: must be number"),
        ],
    )
    def test_tool_with_a_broken_schema_is_named(self, schema, problem):
        text = refusal(schema, {"x": 1})

        assert text.startswith(f'Tool "read" cannot be called: its parameters are not a valid JSON schema: {problem}')
        assert ArgumentValidator().check_schema(a_tool(schema)) == text

    def test_what_only_a_value_reveals_is_reported_the_same_way(self):
        assert refusal({"$ref": "#/$defs/none"}, {"x": 1}).startswith('Tool "read" cannot be called')

    def test_a_cycle_of_references_ends(self):
        assert "nested so deeply" in refusal({"$ref": "#"}, {"x": 1})

    def test_schemas_elsewhere_are_never_fetched(self, monkeypatch):
        def refuse(*_):
            raise AssertionError("a connection was opened")

        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        monkeypatch.setattr(socket.socket, "connect", refuse)

        assert "Unresolvable" in refusal({"$ref": "https://schema.invalid/x.json"}, {"x": 1})

    @for_each(
        "schema",
        [
            READ,
            {},
            of(x={"pattern": r"^\p{L}+$"}),
            of(x={"type": "array", "items": [{}]}),
            of(x={"minimum": 1, "exclusiveMinimum": True}),
            READ | {"$schema": "http://json-schema.org/draft-07/schema#"},
            READ | {"$schema": "https://schema.invalid/of-tomorrow"},
            READ | {"required": ("path",)},
        ],
    )
    def test_schemas_that_are_used_in_the_wild_are_right(self, schema):
        assert ArgumentValidator().check_schema(a_tool(schema)) is None

    def test_a_pattern_that_only_javascript_reads_lets_everything_through(self):
        assert validate(of(x={"pattern": "^[^]$"}), {"x": "12"}) == {"x": "12"}

    def test_classes_of_unicode_are_read_as_in_javascript(self):
        schema = of(x={"type": "string", "pattern": r"^\p{L}+$"})

        assert validate(schema, {"x": "né"}) == {"x": "né"}
        assert "must match pattern" in refusal(schema, {"x": "1"})

    def test_property_names_that_are_keywords_are_no_keywords(self):
        schema = of(pattern={"type": "string"}, type={"type": "string"}, required={"type": "boolean"})

        assert validate(schema, {"pattern": "(", "type": 1, "required": "true"}) == {
            "pattern": "(",
            "type": "1",
            "required": True,
        }


class TestCompiling:
    def test_schema_is_compiled_once_per_tool(self):
        validator, tool = ArgumentValidator(), a_tool(dict(READ))
        validator.validate(tool, ToolCall("1", "read", {"path": "a"}))
        tool.parameters["required"] = ["nothing"]

        assert validator.validate(tool, ToolCall("1", "read", {"path": "a"})) == {"path": "a"}

    def test_a_tool_that_is_gone_is_not_kept(self):
        validator, tool = ArgumentValidator(), a_tool(READ)
        validator.validate(tool, ToolCall("1", "read", {"path": "a"}))
        gone = weakref.ref(tool)

        del tool
        gc.collect()

        assert gone() is None

    def test_jsonschema_comes_with_the_first_call(self):
        code = "import sys, pi_core.agent.validation as v; v.ArgumentValidator(); print('jsonschema' in sys.modules)"

        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

        assert result.stdout == "False\n"


def test_the_schema_library_is_loaded_once_a_call_begins_that_takes_it_and_not_before():
    code = """
import asyncio, sys
from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import Tool

def a_tool(**schema):
    return Tool(name="find", description="Find.", parameters={"type": "object", **schema}, execute=None)

async def main():
    validator, loaded = ArgumentValidator(), []
    for tool in (a_tool(required=["path"]), a_tool(minProperties=1), a_tool(minProperties=1)):
        validator.load_soon(tool)
        loaded.append(validator._loading is not None)
    await validator._loading
    print(*loaded, "jsonschema" in sys.modules)

asyncio.run(main())
"""

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed.split() == ["False", "True", "True", "True"]


def test_only_a_call_that_does_not_fit_a_plain_schema_takes_the_schema_library():
    code = """
import sys
from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import Tool, ToolCall

schema = {"type": "object", "properties": {"limit": {"type": "number"}}, "required": ["limit"]}
tool = Tool(name="find", description="Find.", parameters=schema, execute=None)
validator = ArgumentValidator()
for limit in (5, "6"):
    print(validator.check_schema(tool), validator.validate(tool, ToolCall("1", "find", {"limit": limit})))
    print("jsonschema" in sys.modules)
"""

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed.splitlines() == ["None {'limit': 5}", "False", "None {'limit': 6}", "True"]
