"""A typed function as a tool: its schema, what it is called with, what its answer becomes."""

from __future__ import annotations

import asyncio
import functools
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import Enum, IntEnum
from inspect import Parameter, signature
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
    Union,
    get_overloads,
)

import pytest
from attrs import Factory, define, field

from pi_hookspecs import AbortController, ImageContent, PiAPI, TextContent, Tool, ToolResult, Usage, text_of, tool
from pi_testing import for_each
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:  # where plugin authors have them, too
    from pi_hookspecs import ToolContext  # noqa: TC004 - the decorator must not look at ctx
    from pi_hookspecs import ToolResult as Answer  # noqa: TC004 - nor at the result

Line = NewType("Line", int)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Edit(TypedDict):
    old: str
    new: NotRequired[str]
    line: Annotated[int, "counted from 1"]


class Loose(TypedDict, total=False):
    a: int


@define
class Range:
    """A part of a file.

    Attributes:
        start: First line.
    """

    start: int
    end: int | None = None
    tags: list[str] = Factory(list)
    _hidden: str = field(default="h")
    computed: int = field(init=False, default=0)


@dataclass
class Point:
    x: float
    where: Path = Path()
    more: dict[str, int] = dataclass_field(default_factory=dict)


@define
class Node:
    child: Node | None = None


def schema_of(annotation, default=...):
    """Return the schema of one parameter; annotations given as text are resolved in this module."""

    def example(x): ...

    example.__doc__ = "Do it."
    example.__annotations__ = {"x": annotation}
    if default is not ...:
        example.__defaults__ = (default,)
    made = tool(example)
    assert made.parameters.get("required", []) == (["x"] if default is ... else [])
    return made.parameters["properties"]["x"]


async def received(annotation, value):
    """Return what a function gets for a JSON value."""
    seen = []

    def example(x):
        seen.append(x)

    example.__doc__ = "Do it."
    example.__annotations__ = {"x": annotation}
    await call(tool(example), x=value)
    return seen[0]


async def call(made, /, ctx=None, **params):
    return await made.execute("1", params, AbortController().signal, lambda _: None, ctx)


class TestDeclaration:
    def test_the_tool_follows_function_and_docstring(self):
        @tool
        async def word_count(path: str, ctx: ToolContext) -> str:
            """Count the words of a text file.

            Words are what whitespace separates.

            Args:
                path: The file, relative to the working directory.

            Returns:
                The count.

            Raises:
                OSError: There is no such file.
            """
            return path

        assert word_count.name == "word_count"
        assert word_count.label == "Word count"
        assert word_count.description == "Count the words of a text file.\n\nWords are what whitespace separates."
        assert word_count.parameters == {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "The file, relative to the working directory."}},
            "required": ["path"],
            "additionalProperties": False,
        }
        assert word_count.prompt_snippet is None
        assert word_count.execution_mode is None
        assert word_count.default_active is True

    def test_options_set_the_rest(self):
        @tool(
            name="wc",
            label="Count",
            execution_mode="sequential",
            prompt_snippet="Count words",
            prompt_guidelines=["Use it"],
            default_active=False,
        )
        def word_count(path: str) -> str:
            """Count."""
            return path

        assert (word_count.name, word_count.label, word_count.execution_mode) == ("wc", "Count", "sequential")
        assert (word_count.prompt_snippet, word_count.prompt_guidelines) == ("Count words", ("Use it",))
        assert word_count.default_active is False

    def test_a_tool_without_parameters_takes_an_empty_object(self):
        @tool
        def ping():
            """Answer."""

        assert ping.parameters == {"type": "object", "properties": {}, "additionalProperties": False}

    def test_names_for_type_checkers_only_may_annotate_ctx_and_the_result(self):
        @tool
        def ask(question: str, *, ctx: ToolContext) -> Answer:
            """Ask."""

        assert list(ask.parameters["properties"]) == ["question"]

    def test_methods_partials_and_callables_can_be_tools(self):
        class Counter:
            def count(self, n: int) -> str:
                """Count."""

            def __call__(self, path: Path) -> str:
                """Count again."""

        counter = Counter()

        assert list(tool(counter.count).parameters["properties"]) == ["n"]
        assert tool(name="again")(counter).description == "Count again."
        part = tool(name="part")(functools.partial(counter.count))
        assert (part.description, list(part.parameters["properties"])) == ("Count.", ["n"])

    def test_a_wrapped_function_is_seen_through(self):
        def quiet(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)

            return wrapper

        @tool
        @quiet
        def look(path: Path) -> str:
            """Look."""

        assert look.parameters["properties"] == {"path": {"type": "string"}}


class TestDocstring:
    def described(self, docstring):
        def example(a: int, b: int = 1):
            pass

        example.__doc__ = docstring
        made = tool(example)
        return made.description, {key: one.get("description") for key, one in made.parameters["properties"].items()}

    def test_an_arguments_text_may_span_lines_and_name_a_type(self):
        text, names = self.described(
            """Do it.

            Args:
                a (int): First line
                    and more: of it.

                    A paragraph.
                b: Second.
            """
        )

        assert text == "Do it."
        assert names == {"a": "First line and more: of it. A paragraph.", "b": "Second."}

    def test_other_sections_stay_in_the_description(self):
        text, names = self.described(
            "Do it.\n\nArgs:\n    a: First.\n\nExample:\n    do(1)\n\nReturns:\n    b: no.\n\nNote: this one counts.\n"
        )

        assert text == "Do it.\n\nExample:\n    do(1)\n\nNote: this one counts."
        assert names == {"a": "First.", "b": None}

    def test_words_with_a_colon_are_no_heading(self):
        text, names = self.described("Do it.\n\nUse this:\n  a: not an argument\n")

        assert "Use this:\n  a: not an argument" in text
        assert names == {"a": None, "b": None}

    def test_text_on_the_first_line_only(self):
        assert self.described("Do it.") == ("Do it.", {"a": None, "b": None})

    def test_the_annotations_own_description_wins(self):
        @tool
        def go(speed: Annotated[int, "in km/h"]):
            """Go.

            Args:
                speed: How fast.
            """

        assert go.parameters["properties"]["speed"]["description"] == "in km/h"


class TestSchema:
    @pytest.mark.parametrize(
        ("annotation", "schema"),
        [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (None, {"type": "null"}),
            (Any, {}),
            (Path, {"type": "string"}),
            (Line, {"type": "integer"}),
            (list, {"type": "array", "items": {}}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
            (Sequence[str], {"type": "array", "items": {"type": "string"}}),
            (list[list[Path]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
            (dict, {"type": "object"}),
            (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
            (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (Literal[1, "b"], {"enum": [1, "b"]}),
            (Colour, {"type": "string", "enum": ["red", "blue"]}),
            (Level, {"type": "integer", "enum": [1, 2]}),
            (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007 - older code
            (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 - older code
            (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
            pytest.param(Annotated[int, object()], {"type": "integer"}, id="other-metadata"),
            (
                "list[Annotated[Colour, 'which']]",
                {"type": "array", "items": {"type": "string", "enum": ["red", "blue"], "description": "which"}},
            ),
            (
                Edit,
                {
                    "type": "object",
                    "properties": {
                        "old": {"type": "string"},
                        "new": {"type": "string"},
                        "line": {"type": "integer", "description": "counted from 1"},
                    },
                    "required": ["old", "line"],
                    "additionalProperties": False,
                },
            ),
            (Loose, {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}),
            (
                Range,
                {
                    "type": "object",
                    "properties": {
                        "start": {"type": "integer", "description": "First line."},
                        "end": {"type": "integer"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "hidden": {"type": "string", "default": "h"},
                    },
                    "required": ["start"],
                    "additionalProperties": False,
                },
            ),
            (
                Point,
                {
                    "type": "object",
                    "properties": {
                        "x": {"type": "number"},
                        "where": {"type": "string", "default": "."},
                        "more": {"type": "object", "additionalProperties": {"type": "integer"}},
                    },
                    "required": ["x"],
                    "additionalProperties": False,
                },
            ),
        ],
        ids=str,
    )
    def test_annotation_becomes_schema(self, annotation, schema):
        jsonschema = pytest.importorskip("jsonschema")

        made = schema_of(annotation)

        assert made == schema
        jsonschema.Draft202012Validator.check_schema(made)

    @pytest.mark.parametrize(
        ("annotation", "default", "schema"),
        [
            (int, 5, {"type": "integer", "default": 5}),
            (bool, False, {"type": "boolean", "default": False}),
            (Path, Path("a/b"), {"type": "string", "default": "a/b"}),
            (Colour, Colour.RED, {"type": "string", "enum": ["red", "blue"], "default": "red"}),
            (tuple[int, ...], (1, 2), {"type": "array", "items": {"type": "integer"}, "default": [1, 2]}),
            (
                dict[str, int],
                {"a": 1},
                {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}},
            ),
            (int | None, None, {"type": "integer"}),
            (int | None, 5, {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 5}),
            (int | str | None, None, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            (Annotated[int | None, "how many"], None, {"type": "integer", "description": "how many"}),
            (Annotated[int, "how many"] | None, None, {"type": "integer", "description": "how many"}),
            (float, float("inf"), {"type": "number"}),
            pytest.param(Any, object(), {}, id="any-object"),
        ],
        ids=str,
    )
    def test_a_default_makes_a_parameter_optional_and_is_in_the_schema(self, annotation, default, schema):
        assert schema_of(annotation, default) == schema

    @pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement is newer")
    def test_a_type_statement_is_followed(self):
        names = {}
        exec("type Text = str", names)  # noqa: S102 - Python 3.11 could not read this file

        assert schema_of(names["Text"]) == {"type": "string"}


class TestRefusal:
    @for_each(
        ("annotation", "message"),
        [
            (complex, "'x' is annotated complex, which a JSON schema cannot express; use str, int"),
            (object, "'x' is annotated object"),
            (set[int], r"'x' is annotated set\[int\]"),
            (tuple[int, str], "an array of fixed length"),
            (dict[int, str], "but the keys of a JSON object are strings"),
            (Literal[b"a"], "whose values are not all JSON"),
            (list[complex], "'x' is annotated complex"),
            (int | complex, "'x' is annotated complex"),
            (Node, "'x' 'child' is annotated Node, a class that contains itself"),
            (5, "'x' is annotated 5"),
            ("Missing", "name 'Missing' is not defined; import it at run time"),
            ("a b", "'x' is annotated 'a b'"),
            ("Answer", "name 'Answer' is not defined"),
        ],
    )
    def test_what_json_schema_cannot_express_names_function_and_parameter(self, annotation, message):
        with pytest.raises(TypeError, match=message) as caught:
            schema_of(annotation)

        assert str(caught.value).startswith("Tool function 'example': parameter 'x'")

    def test_a_parameter_without_annotation(self):
        def go(x):
            """Go."""

        with pytest.raises(TypeError, match="Tool function 'go': parameter 'x' has no annotation"):
            tool(go)

    @pytest.mark.parametrize("parameters", ["*args: int", "**more: int", "x: int, /"])
    def test_a_parameter_that_has_no_name_to_fill(self, parameters):
        names = {}
        exec(f"def go({parameters}):\n    'Go.'", names)  # noqa: S102 - three signatures, one test

        with pytest.raises(TypeError, match="is positional-only, but arguments are passed by name"):
            tool(names["go"])

    @pytest.mark.parametrize("docstring", [None, "", "\n    Args:\n        x: Only this.\n    "])
    def test_a_function_without_description(self, docstring):
        def go(x: int): ...

        go.__doc__ = docstring

        with pytest.raises(TypeError, match="Tool function 'go' has no docstring"):
            tool(go)

    @for_each(
        ("annotation", "name"),
        [
            (int, "int"),
            (bool | None, "bool"),
            ("dict[str, int]", "dict[str, int]"),
            (list[str], "list[str]"),
            (tuple[int, ...], "tuple[int, ...]"),
            (str | bytes, "bytes"),
        ],
    )
    def test_a_result_that_no_tool_can_have(self, annotation, name):
        def go():
            """Go."""

        go.__annotations__["return"] = annotation

        with pytest.raises(TypeError, match=re.escape(f"'go' returns {name}; return a str, a text or image block")):
            tool(go)

    @for_each(
        "annotation",
        [
            str,
            None,
            str | None,
            "str | ToolResult",
            ToolResult,
            list[TextContent],
            tuple[TextContent, ...],
            list,
            Any,
            object,
            "OnlyForTypeCheckers",
            "no annotation !",
            5,
        ],
    )
    def test_a_result_that_a_tool_may_have(self, annotation):
        def go():
            """Go."""

        go.__annotations__["return"] = annotation

        assert tool(go).name == "go"

    def test_a_generator_is_refused_with_how_to_report_progress(self):
        def plain(x: int):
            """Go."""
            yield x

        async def later(x: int):
            """Go."""
            yield x

        for function in (plain, later, functools.partial(plain, 1)):
            with pytest.raises(TypeError, match=r"is a generator; a tool returns its result, .* with ctx\.update"):
                tool(name="go")(function)

    def test_a_callable_without_a_name(self):
        with pytest.raises(TypeError, match="has no name"):
            tool(functools.partial(print))


class TestCall:
    @for_each(
        ("annotation", "value", "result"),
        [
            (str, "a", "a"),
            (Path, "a/b", Path("a/b")),
            (Path | None, None, None),
            (list[Path], ["a"], [Path("a")]),
            (tuple[Path, ...], ["a"], (Path("a"),)),
            (dict[str, Path], {"k": "a"}, {"k": Path("a")}),
            (Colour, "red", Colour.RED),
            (Level, 2, Level.HIGH),
            (int | Colour, "blue", Colour.BLUE),
            (Colour | str, "green", "green"),
            (list[Colour] | dict[str, Path], {"k": "a"}, {"k": Path("a")}),
            (float | Path, 1, 1),
            (bool | Path, True, True),
            (Edit, {"old": "a", "line": 1}, {"old": "a", "line": 1}),
            (Range, {"start": 1, "hidden": "x"}, Range(1, hidden="x")),
            (Point, {"x": 1, "where": "a"}, Point(1, Path("a"))),
            (Point | Range, {"start": 1}, Range(1)),
            (list[Range], [{"start": 1}, {"start": 2, "end": 3}], [Range(1), Range(2, 3)]),
            (Any, {"k": ["a"]}, {"k": ["a"]}),
        ],
    )
    async def test_arguments_arrive_as_annotated(self, annotation, value, result):
        seen = await received(annotation, value)

        assert seen == result
        assert type(seen) is type(result)

    @for_each("annotation", [Path, list[Path], dict[str, Path], Range, int | Path])
    async def test_what_a_hook_made_of_them_arrives_as_it_is(self, annotation):
        marker = object()

        assert await received(annotation, marker) is marker

    async def test_what_is_left_out_has_the_functions_default(self):
        @tool
        def go(a: int, b: Path = Path("d"), c: list[str] | None = None) -> str:
            """Go."""
            return repr((a, b, c))

        result = await call(go, a=1)

        assert result.content[0].text == repr((1, Path("d"), None))

    async def test_a_tool_that_needs_ctx_is_refused_where_there_is_none(self):
        @tool
        async def go(a: int, ctx: ToolContext) -> str:
            """Go."""
            return f"{a} {ctx}"

        with pytest.raises(RuntimeError, match="'go' takes ctx, but this agent has no session"):
            await call(go, ctx=None, a=1)

    async def test_ctx_is_passed_under_its_name(self):
        @tool
        async def go(a: int, ctx: ToolContext) -> str:
            """Go."""
            return f"{a} {ctx}"

        assert (await call(go, ctx="context", a=1)).content[0].text == "1 context"

    async def test_a_plain_function_runs_in_a_thread_an_async_one_does_not(self):
        @tool
        def plain() -> str:
            """Go."""
            return threading.current_thread().name

        @tool
        async def coroutine() -> str:
            """Go."""
            await asyncio.sleep(0)
            return threading.current_thread().name

        here = threading.current_thread().name

        assert (await call(plain)).content[0].text != here
        assert (await call(coroutine)).content[0].text == here

    async def test_an_async_function_behind_a_plain_wrapper_is_awaited(self):
        async def inner() -> str:
            return "done"

        @tool
        def outer():
            """Go."""
            return inner()

        assert (await call(outer)).content[0].text == "done"

    @pytest.mark.parametrize("error", [ValueError("no"), KeyError("k")])
    async def test_raising_passes_through(self, error):
        @tool
        def go():
            """Go."""
            raise error

        with pytest.raises(type(error)) as caught:
            await call(go)

        assert caught.value is error

    async def test_stop_iteration_does_not_hang(self):
        @tool
        def go():
            """Go."""
            return next(iter([]))

        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(call(go), PATIENCE)

    async def test_unknown_arguments_are_an_error_of_the_call(self):
        @tool
        def go(a: int):
            """Go."""

        with pytest.raises(TypeError, match="unexpected keyword argument 'b'"):
            await call(go, a=1, b=2)


TEXT, IMAGE = TextContent("a"), ImageContent("aGk=", "image/png")


class TestAnswer:
    @for_each(
        ("answer", "content"),
        [
            ("text", (TextContent("text"),)),
            ("", (TextContent(""),)),
            (None, (TextContent(""),)),
            (TEXT, (TEXT,)),
            (IMAGE, (IMAGE,)),
            ([TEXT, IMAGE], (TEXT, IMAGE)),
            ((TEXT,), (TEXT,)),
            ([], ()),
        ],
    )
    async def test_answer_becomes_a_result(self, answer, content):
        @tool
        async def go():
            """Go."""
            return answer

        result = await call(go)

        assert result == ToolResult(content=content)

    async def test_a_result_stays_as_it_is(self):
        given_ = ToolResult.text("x", details={"a": 1}, is_error=True, usage=Usage())

        @tool
        async def go():
            """Go."""
            return given_

        assert await call(go) is given_

    @pytest.mark.parametrize(("answer", "name"), [(5, "int"), ({"a": 1}, "dict"), (["a"], "str"), (b"a", "bytes")])
    async def test_any_other_answer_is_an_error_that_names_the_tool(self, answer, name):
        @tool
        def go():
            """Go."""
            return answer

        with pytest.raises(TypeError, match=f"Tool 'go' returned {name}; return a str"):
            await call(go)


# Constrained sampling


def test_a_function_may_ask_for_calls_that_are_held_to_its_schema():
    @tool(constrained_sampling="require")
    async def count(path: str) -> str:
        """Count the lines of a file."""
        return path

    assert count.constrained_sampling == "require"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("prefer", "prefer"),
        ({"type": "json_schema", "strict": "require"}, "require"),
        (False, None),
        (None, None),
    ],
)
def test_the_form_of_the_wire_is_taken_too(given, kept):
    async def execute(*_):
        raise NotImplementedError

    made = Tool(name="t", description="d", parameters={}, execute=execute, constrained_sampling=given)

    assert made.constrained_sampling == kept


@pytest.mark.parametrize("given", ["always", True, {"strict": "prefer"}, {"type": "grammar", "variants": {}}])
def test_other_sampling_options_are_refused_with_what_is_possible(given):
    async def execute(*_):
        raise NotImplementedError

    with pytest.raises(ValueError, match="must be 'prefer', 'require' or None, not"):
        Tool(name="t", description="d", parameters={}, execute=execute, constrained_sampling=given)


def test_a_tool_that_is_registered_at_run_time_takes_every_option_of_the_decorator():
    options = {each.name for each in signature(tool).parameters.values() if each.kind is Parameter.KEYWORD_ONLY}
    _, of_function, as_decorator = get_overloads(PiAPI.register_tool)

    for overload in of_function, as_decorator:
        assert {each for each in signature(overload).parameters if each not in ("self", "tool")} == options


def _none(annotation):
    def forget():
        """Forget to return anything."""

    forget.__annotations__["return"] = annotation
    return tool(forget)


@pytest.mark.parametrize(
    "annotation", [ToolResult, "ToolResult", TextContent, list[TextContent], ToolResult | list[TextContent]]
)
async def test_a_function_that_is_to_return_a_result_and_returns_none_has_failed(annotation):
    with pytest.raises(TypeError, match="Tool 'forget' returned None; return a str"):
        await call(_none(annotation))


@pytest.mark.parametrize("annotation", [None, type(None), str, ToolResult | None, str | ToolResult, "Unknown"])
async def test_none_is_an_empty_text_where_the_annotation_allows_it(annotation):
    assert text_of((await call(_none(annotation))).content) == ""
