"""What plugins draw is displayed in place of pi's own views, and cannot harm the screen."""

from __future__ import annotations

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_hookspecs import Line, MarkdownTransform, Run, ToolRenderer, hookimpl
from pi_testing import for_each
from pi_tui.lines.foreign import foreign_rows
from pi_tui.lines.heights import estimated_heights, extent_of
from pi_tui.lines.layout import lay_out
from pi_tui.lines.line import join
from pi_tui.lines.look import Look
from pi_tui.view.blocks import Answer, Bash, Custom, Notice, Thinking, Tool, User, text_of_block
from pi_tui.view.growing import Growing, Tail

LOOK = Look(width=30)


@frozen
class Plugins:
    """Draws what a test says, and notes what it was asked."""

    custom: object = None
    call: object = None
    result: object = None
    framed: bool = True
    asked: list = []  # noqa: RUF008 - each test makes its own

    def custom_lines(self, value, *, width, expanded):
        return self.custom

    def tool_call(self, name, arguments, *, width, expanded, partial, call_id):
        self.asked.append((name, arguments, width, expanded, partial))
        return self.call

    def tool_result(self, name, result, *, width, expanded, partial, call_id):
        self.asked.append((name, result, width, expanded, partial))
        return self.result

    def is_framed(self, name):
        return self.framed

    def markdown(self, text):
        return text.replace("%x^2%", "x²")


def shown(block, drawings=None, **changes) -> str:
    rows = lay_out(block, evolve(LOOK, drawings=drawings, **changes))
    return join(rows.window(0, len(rows)))


def a_tool(**fields) -> Tool:
    values = {"name": "weather", "status": "done", "arguments": {"city": "Oslo"}, "output": "sunny", **fields}
    return Tool(id="t", call_id="c", **values)


def test_a_plugin_draws_its_tool():
    plugins = Plugins(call=["Weather in Oslo"], result=[Line.of(Run("☀", "warning"))], asked=[])

    assert shown(a_tool(details={"a": 1}), plugins) == "\n\n Weather in Oslo\n ☀\n"
    (name, arguments, *call), (_, result, *rest) = plugins.asked
    assert (name, arguments, call, rest) == ("weather", {"city": "Oslo"}, [28, False, False], [28, False, False])
    assert (result.content[0].text, result.details, result.is_error) == ("sunny", {"a": 1}, False)


def test_what_a_plugin_does_not_draw_looks_as_always():
    block = a_tool()

    assert shown(block, Plugins(asked=[])) == shown(block)
    assert shown(block, Plugins(result=["drawn"], asked=[])) == "\n\n weather city=Oslo\n drawn\n"


def test_a_tool_that_draws_its_own_frame_has_the_whole_width_and_no_box():
    plugins = Plugins(call=["┌" + "─" * 28 + "┐"], result=["└" + "─" * 28 + "┘"], framed=False, asked=[])

    assert shown(a_tool(), plugins) == f"\n┌{'─' * 28}┐\n└{'─' * 28}┘"
    assert [width for _, _, width, _, _ in plugins.asked] == [30, 30]
    assert shown(a_tool(), evolve(plugins, result=None)) == f"\n┌{'─' * 28}┐\nsunny"
    assert shown(a_tool(), evolve(plugins, call=[], result=[])) == ""


def test_a_call_that_is_being_received_is_partial():
    plugins = Plugins(asked=[])
    shown(a_tool(status="pending", arguments=None, output="", received=Growing('{"city": "Os')), plugins)

    assert plugins.asked == [("weather", {"city": "Os"}, 28, False, True)]


def test_a_result_that_is_being_received_is_partial():
    plugins = Plugins(asked=[])
    shown(a_tool(status="running"), plugins)

    assert plugins.asked[1][-1] is True


def test_a_plugin_draws_its_entries_and_messages():
    entry, message = (
        Custom(id="1", custom_type="todo", value=object()),
        Custom(id="1", custom_type="todo", text="x", value=object()),
    )

    assert shown(entry, Plugins(custom=["☐ one"])) == "\n☐ one"
    assert shown(entry, Plugins()) == ""
    assert shown(message, Plugins(custom=["☐ one"])) == "\n☐ one"


def test_a_complete_answer_is_transformed():
    growing, complete = Answer(id="1", text=Growing("%x^2%")), Answer(id="1", text=Growing("%x^2% is"), done=True)

    assert shown(growing, Plugins()) == "\n %x^2%"
    assert shown(complete, Plugins()) == "\n x² is"
    assert str(complete.text) == "%x^2% is"


@for_each(
    ("row", "expected"),
    [
        ("\x1b[31mred\x1b[0m\x1b]0;owned\x07", Line.of(Run("red", "ansi:1"))),
        ("two\nlines", Line.of("two lines")),
        ("x" * 12, Line.of(Run("xxxxxxxxx"), Run("…"))),
        (
            Line.of(Run("\x1b[2Jab", "error"), "漢字漢字漢", fill="selectedBg"),
            Line.of(Run("ab", "error"), "漢字漢", Run("…"), fill="selectedBg"),
        ),
        (Line.of(Run("a", link="http://x\x1b\\")), Line.of(Run("a"))),
    ],
)
def test_a_row_of_a_plugin_is_clean_and_fits(row, expected):
    assert foreign_rows([row], 10) == [expected]


@given(st.text() | st.text(st.sampled_from("\x1b[]0;m\x07\n\t漢🇩é")), st.integers(1, 20))
def test_any_row_of_a_plugin_fits(text, width):
    for row in foreign_rows([text, Line.of(Run(text, "x", link=text, background=text))], width):
        assert cell_len(str(row)) <= width
        assert not [each for each in str(row) if each < " " or each == "\x7f"]


# Heights and texts


@for_each(
    "block",
    [
        User(id="1", text="a\nb"),
        Answer(id="1", text=Growing("word " * 100), done=True),
        Thinking(id="1", text=Growing("hm"), done=True),
        a_tool(),
        a_tool(name="read", output="x\n" * 50, arguments={"path": "a"}),
        a_tool(name="bash", output="x\n" * 50, arguments={"command": "a"}),
        Bash(id="1", command="make", output=Tail("x\n" * 100)),
        Notice(id="1", text="done"),
        Answer(id="1"),
    ],
)
def test_an_estimate_is_near_the_height(block):
    exact = len(lay_out(block, LOOK))

    (estimated,) = estimated_heights([extent_of(block)], LOOK)

    assert abs(estimated - exact) <= max(3, exact // 2)


def test_hidden_thinking_has_two_rows():
    look = evolve(LOOK, hide_thinking=True)

    assert [*estimated_heights([extent_of(Thinking(id="1", text=Growing("x" * 1000)))], look)] == [2]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (User(id="1", text="a"), "a"),
        (Answer(id="1", text=Growing("b")), "b"),
        (a_tool(), "sunny"),
        (Bash(id="1", command="make", output=Tail("x\n")), "$ make\nx"),
    ],
)
def test_a_block_has_its_whole_text(block, text):
    assert text_of_block(block) == text


# A session's plugins


class Weather:
    @hookimpl
    def register_renderers(self):
        def render_result(result, *, width, expanded, partial):
            return [f"\x1b[33m☀\x1b[0m {result.content[0].text}", "x" * 100]

        return [
            ToolRenderer("weather", render_result=render_result),
            MarkdownTransform("loud", lambda text: text.upper()),
        ]


class Broken:
    @hookimpl
    def register_renderers(self):
        def render_call(args, *, width, expanded, partial):
            raise ValueError("boom")

        return [ToolRenderer("weather", render_call=render_call)]


@pytest.mark.pi(plugins={"weather": Weather()})
def test_a_session_draws_with_its_plugins(pi_session):
    look = evolve(LOOK, drawings=pi_session.renderings)

    assert shown(a_tool(), pi_session.renderings) == f"\n\n weather city=Oslo\n ☀ sunny\n {'x' * 27}…\n"
    assert shown(Answer(id="1", text=Growing("quiet"), done=True), pi_session.renderings) == "\n QUIET"
    assert lay_out(a_tool(), look).window(3, 4)[0].runs[1] == Run("☀", "ansi:3")


@pytest.mark.pi(plugins={"broken": Broken()}, allow_problems=True)
def test_a_plugin_that_fails_leaves_the_view_of_pi(pi_session):
    assert shown(a_tool(), pi_session.renderings) == shown(a_tool())
