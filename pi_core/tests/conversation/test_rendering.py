"""Renderers of plugins: of messages and entries by kind, of tools, and changes of Markdown."""

from __future__ import annotations

import pytest

from pi_hookspecs import (
    CustomEntry,
    CustomMessage,
    Line,
    MarkdownTransform,
    Run,
    Theme,
    ToolRenderer,
    ToolResult,
    hookimpl,
)
from pi_testing import make_tool

MESSAGE = CustomMessage(custom_type="card", content="Ace")
ENTRY = CustomEntry(id="1", parent_id=None, timestamp="2026-01-01T00:00:00Z", custom_type="card", data="Ace")


class Renders:
    """A plugin with these renderers."""

    def __init__(self, *renderers):
        self._renderers = renderers

    @hookimpl
    def register_renderers(self):
        return self._renderers


class Tools:
    """A plugin with these tools."""

    def __init__(self, *tools):
        self._tools = tools

    @hookimpl
    def register_tools(self):
        return self._tools


class Card:
    """Renders messages and entries of the type ``card``."""

    def __init__(self, text, kind=None):
        self.name, self.text = "card", text
        if kind is not None:
            self.kind = kind

    def render(self, value, *, width, expanded):
        return [f"{self.text} {width} {expanded}"]


def call_of(text):
    return lambda args, *, width, expanded, partial: [f"{text} {dict(args)} {width} {expanded} {partial}"]


def result_of(text):
    return lambda result, *, width, expanded, partial: [f"{text} {result.details} {width} {expanded} {partial}"]


# Messages and entries


def test_a_renderer_without_a_kind_renders_both(session_of):
    session = session_of(Renders(Card("any")))

    assert session.renderings.custom(MESSAGE, width=9) == ("any 9 False",)
    assert session.renderings.custom(ENTRY, width=9, expanded=True) == ("any 9 True",)


def test_a_renderer_of_a_kind_renders_only_that(session_of):
    session = session_of(Renders(Card("entry", "entry")))

    assert session.renderings.custom(MESSAGE, width=9) is None
    assert session.renderings.custom(ENTRY, width=9) == ("entry 9 False",)


def test_a_renderer_of_a_kind_counts_before_one_without(session_of):
    session = session_of(Renders(Card("entry", "entry")), Renders(Card("any")))

    assert session.renderings.custom(MESSAGE, width=9) == ("any 9 False",)
    assert session.renderings.custom(ENTRY, width=9) == ("entry 9 False",)


def test_a_wrong_kind_is_refused_with_the_right_ones(session_of):
    session = session_of(Renders(Card("x", "messages")))

    assert session.renderings.custom(MESSAGE, width=9) is None
    problems = [str(each) for each in session.runtime.host.problems]
    assert any("kind must be 'message', 'entry' or None, not 'messages'" in each for each in problems)


def test_the_theme_is_passed_to_a_renderer_that_takes_it(session_of):
    class Themed:
        name = "card"

        def render(self, value, *, width, expanded, theme):
            return [Line.of(Run(theme.name if theme is not None else "no theme", "accent"))]

    session = session_of(Renders(Themed()))

    assert session.renderings.custom(MESSAGE, width=9) == ("no theme",)
    assert session.renderings.custom_lines(MESSAGE, width=9, theme=Theme("dark", colors={})) == (
        Line.of(Run("dark", "accent")),
    )


async def test_a_function_may_take_the_theme_too(session_of):
    def activate(pi):
        pi.register_message_renderer("card", lambda value, *, width, expanded, theme: [str(theme)])

    session = session_of(extension_factories=[activate])
    await session.start()

    assert session.renderings.custom(MESSAGE, width=9) == ("None",)


@pytest.mark.parametrize(("rows", "shown"), [(17, "17"), ("rows", "the string 'rows'"), (object, "<class 'object'>")])
def test_what_has_no_rows_is_reported_with_the_place_of_its_renderer(session_of, recorder, rows, shown):
    class Wrong:
        name = "card"

        def render(self, value, *, width, expanded):
            return rows

    def render_result(result, *, width, expanded, partial):
        return rows

    session = session_of(Renders(Wrong(), ToolRenderer("read", render_result=render_result)))

    assert session.renderings.custom(MESSAGE, width=9) is None
    assert session.renderings.tool_result("read", ToolResult.text(""), width=9) is None
    for event, function in zip(recorder.of("extension_error"), (Wrong.render, render_result), strict=True):
        line = function.__code__.co_firstlineno
        wanted = f"TypeError: it returned {shown}, not a list of lines (in {__file__}, line {line})"
        assert wanted in event.error


# Tools


def test_a_tool_has_no_rows_where_no_plugin_renders_it(session_of):
    session = session_of(Renders(ToolRenderer("read", render_call=call_of("r"))))

    assert session.renderings.tool_call("write", {}, width=9) is None
    assert session.renderings.tool_result("read", ToolResult.text(""), width=9) is None


def test_a_registered_renderer_renders_calls_and_results(session_of):
    session = session_of(Renders(ToolRenderer("read", render_call=call_of("call"), render_result=result_of("result"))))

    assert session.renderings.tool_call("read", {"path": "a"}, width=9, partial=True) == (
        "call {'path': 'a'} 9 False True",
    )
    assert session.renderings.tool_result("read", ToolResult.text("", details=[1]), width=9, expanded=True) == (
        "result [1] 9 True False",
    )


def test_a_renderer_comes_with_its_tool(session_of):
    tool = make_tool("echo", renderer=ToolRenderer("echo", render_call=call_of("own")))
    session = session_of(Tools(tool))

    assert session.renderings.tool_call("echo", {}, width=9) == ("own {} 9 False False",)


@pytest.mark.parametrize("later", ["registered", "own"])
def test_of_a_tools_own_renderer_and_a_registered_one_the_later_plugin_wins(session_of, later):
    own = Tools(make_tool("echo", renderer=ToolRenderer("echo", render_call=call_of("own"))))
    registered = Renders(ToolRenderer("echo", render_call=call_of("registered")))
    session = session_of(*((own, registered) if later == "registered" else (registered, own)))

    (row,) = session.renderings.tool_call("echo", {}, width=9)

    assert row.startswith(later)


def test_of_two_registered_renderers_the_later_one_wins(session_of):
    session = session_of(*(Renders(ToolRenderer("echo", render_call=call_of(each))) for each in ("one", "two")))

    assert session.renderings.tool_call("echo", {}, width=9) == ("two {} 9 False False",)


def test_a_renderer_that_fails_leaves_it_to_the_front_end(session_of, recorder):
    session = session_of(Renders(ToolRenderer("echo", render_result=lambda result, **_: 1 / 0)))

    assert session.renderings.tool_result("echo", ToolResult.text(""), width=9) is None
    (failure,) = recorder.of("extension_error")
    assert "failed in render_result of the tool 'echo': ZeroDivisionError" in failure.error


def test_partial_arguments_that_a_renderer_does_not_expect_are_no_end(session_of, recorder):
    session = session_of(Renders(ToolRenderer("echo", render_call=lambda args, **_: [args["path"]])))

    assert session.renderings.tool_call("echo", {}, width=9, partial=True) is None
    assert session.renderings.tool_call("echo", {"path": "a"}, width=9) == ("a",)


def test_a_tool_and_a_message_may_have_one_name(session_of):
    session = session_of(Renders(Card("message"), ToolRenderer("card", render_call=call_of("tool"))))

    assert session.renderings.custom(MESSAGE, width=9) == ("message 9 False",)
    assert session.renderings.tool_call("card", {}, width=9) == ("tool {} 9 False False",)


@pytest.mark.parametrize("renderer", [ToolRenderer("echo", render_call="x"), MarkdownTransform("m", None)], ids=str)
def test_what_cannot_be_called_is_refused(session_of, renderer):
    session = session_of(Renders(renderer))
    session.renderings.markdown("")

    assert [str(each) for each in session.runtime.host.problems if "not callable" in str(each)]


# Markdown


def test_transforms_run_in_load_order(session_of):
    session = session_of(
        Renders(MarkdownTransform("b", lambda text: f"{text}b")),
        Renders(MarkdownTransform("a", lambda text: f"{text}a")),
    )

    assert session.renderings.markdown("x") == "xba"


@pytest.mark.parametrize("broken", [lambda text: 1 / 0, lambda text: None], ids=["raises", "returns nothing"])
def test_a_transform_that_fails_changes_nothing(session_of, recorder, broken):
    session = session_of(
        Renders(MarkdownTransform("broken", broken)), Renders(MarkdownTransform("a", lambda text: f"{text}a"))
    )

    assert session.renderings.markdown("x") == "xa"
    assert "failed in the Markdown transform 'broken'" in recorder.of("extension_error")[0].error


def test_without_a_transform_the_text_is_as_it_was(session_of):
    assert session_of().renderings.markdown("x") == "x"


def test_a_renderer_may_leave_a_call_to_the_front_end_and_take_its_id(session_of):
    def render_call(args, *, width, expanded, partial, call_id):
        return None if call_id is None else [call_id]

    renderer = ToolRenderer("look", render_call=render_call, render_result=lambda *_, **__: None)
    session = session_of(Renders(renderer))

    assert session.renderings.tool_call("look", {}, width=9) is None
    assert session.renderings.tool_call("look", {}, width=9, call_id="c1") == ("c1",)
    assert session.renderings.tool_result("look", ToolResult.text("."), width=9, call_id="c1") is None
    assert session.runtime.host.problems == []
