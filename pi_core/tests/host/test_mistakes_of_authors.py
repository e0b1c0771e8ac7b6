"""What an author reads of a mistake when the plugin is loaded: what is wrong, in which line, and what is right."""

from __future__ import annotations

import pytest

from pi_core.host.guarded import error_line


@pytest.fixture
def mistake(site, problems):
    """Return the problems of a plugin with this source, its path as ``FILE``; the source begins in line 3."""

    def of(source):
        file = site.install("wrong", source)
        return [message.replace(str(file), "FILE") for _, _, message in problems(site.host())]

    return of


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "\n@tool\ndef count(path: str):\n    return ''\n",
            "has no docstring, which tells the model what the tool is for.",
        ),
        ("\n@tool\ndef count(path):\n    'Count.'\n", "parameter 'path' has no annotation"),
        ("\n@tool\ndef count() -> int:\n    'Count.'\n", "returns int; return a str, a text or image block"),
        ("\n@tool(name='c')\ndef count() -> dict[str, int]:\n    'Count.'\n", "returns dict[str, int]; return a str"),
        ("\nCommand('standup')\n", "missing 1 required keyword-only argument: 'handler'"),
        ("\nhookimpl(5)\n", "AttributeError"),
    ],
    ids=["docstring", "annotation", "returns int", "returns dict", "argument", "decorator"],
)
def test_an_error_names_the_author_s_line_and_not_pi_s(mistake, source, expected):
    (message,) = mistake(source)

    assert message.startswith("not loaded: ")
    assert expected in message
    assert message.endswith(" (in FILE, line 4)")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from pi_hookspecs import ToolCallResutl\n", "Did you mean ToolCallResult or"),
        ("import pi_hookspecs\npi_hookspecs.hookimp\n", "Did you mean hookimpl"),
        ("from json import dump_s\n", "Did you mean dumps"),
    ],
)
def test_a_misspelt_import_is_answered_with_the_nearest_names(mistake, source, expected):
    (message,) = mistake(source)

    assert expected in message
    assert message.rpartition(" (in ")[2].startswith("FILE, line ")


def test_a_name_that_is_like_no_other_is_not_guessed(mistake):
    (message,) = mistake("from pi_hookspecs import Zzyzx\n")

    assert "Did you mean" not in message


def test_a_function_among_the_tools_is_answered_with_what_it_lacks(mistake):
    (message,) = mistake("def count(path): ...\n\n@hookimpl\ndef register_tools():\n    return [count]\n")

    assert message == "the function 'count' is not of type Tool; decorate it with @tool (in FILE, line 3)"


TOOL = """

@hookimpl
def register_tools():
    return [Tool(name='x', description='', parameters={'type': 'object'}, execute=ex)]
"""


@pytest.mark.parametrize(
    ("execute", "taken"),
    [
        ("async def ex(params, ctx): ...", "(params, ctx)"),
        ("async def ex(): ...", "()"),
        ("async def ex(a, b, c, d, e, f): ...", "(a, b, c, d, e, f)"),
        ("async def ex(a, b, c, d, e, *, f): ...", "(a, b, c, d, e, *, f)"),
        ("async def ex(*, params): ...", "(*, params)"),
    ],
)
def test_an_execute_of_another_signature_is_found_at_load(mistake, execute, taken):
    (message,) = mistake(execute + TOOL)

    assert message == (
        f"tool 'x': execute takes {taken}; it is called as"
        " async def execute(call_id, params, signal, on_update, ctx) (in FILE, line 3)"
    )


@pytest.mark.parametrize(
    ("execute", "said"),
    [
        ("async def ex(a, b, c, d, e) -> dict[str, int]: ...", "execute returns dict[str, int]; return a ToolResult"),
        ("async def ex(a, b, c, d, e) -> 'str': ...", "execute returns str; return a ToolResult"),
        ("async def ex(a, b, c, d, e, f=1) -> None: ...", "execute returns None; return a ToolResult"),
        ("def ex(a, b, c, d, e) -> list: ...", "execute returns list; return a ToolResult"),
        ("def ex(a, b, c, d, e) -> ToolResult: ...", "execute is not async; write async def execute(call_id, params,"),
    ],
    ids=["dict", "text", "None", "list", "plain"],
)
def test_a_result_that_execute_cannot_have_is_found_at_load(mistake, execute, said):
    (message,) = mistake("from pi_hookspecs import ToolResult\n" + execute + TOOL)

    assert message.startswith(f"tool 'x': {said}")
    assert message.endswith(" (in FILE, line 4)")


WRAPPED = """from functools import wraps

async def inner(a, b, c, d, e) -> ToolResult: ...

@wraps(inner)
def ex(*arguments): return inner(*arguments)
"""


@pytest.mark.parametrize(
    "execute",
    [
        "async def ex(a, b, c, d, e) -> ToolResult: ...",
        "async def ex(a, b, c, d, e) -> 'ToolResult | None': ...",
        "def ex(a, b, c, d, e) -> Awaitable[ToolResult]: ...",
        WRAPPED,
    ],
    ids=["async", "optional", "awaitable", "wrapped"],
)
def test_a_result_that_execute_can_have_is_no_mistake(mistake, execute):
    imports = "from collections.abc import Awaitable\nfrom pi_hookspecs import ToolResult\n"

    assert mistake(imports + execute + TOOL) == []


@pytest.mark.parametrize(
    "execute",
    [
        "async def ex(call_id, params, signal, on_update, ctx): ...",
        "async def ex(a, b, c, d, e=None, f=None): ...",
        "async def ex(*arguments): ...",
        "async def ex(call_id, /, *arguments, **others): ...",
        "from functools import partial\nex = partial(lambda *_: None, 1)",
        "class Ex:\n    async def __call__(self, a, b, c, d, e): ...\nex = Ex()",
        "class Ex:\n    async def run(self, a, b, c, d, e): ...\nex = Ex().run",
        "ex = print",
    ],
)
def test_an_execute_that_takes_five_arguments_is_no_mistake(mistake, execute):
    assert mistake(execute + TOOL) == []


def test_an_error_without_a_name_is_put_in_words():
    assert error_line(ImportError()) == "ImportError"
    assert error_line(AttributeError("gone")) == "AttributeError: gone"
