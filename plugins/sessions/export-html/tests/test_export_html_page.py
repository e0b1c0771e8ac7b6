"""What the page of a session shows, and where."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest

from pi_core.session.tree import SessionTree
from pi_hookspecs import (
    BashExecutionMessage,
    CompactionEntry,
    Cost,
    ImageContent,
    SystemMessage,
    TextContent,
    Theme,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)


def result(call_id, text, **more):
    return ToolResultMessage(tool_call_id=call_id, tool_name="bash", content=(TextContent(text),), **more)


def call(call_id, **arguments):
    return ToolCall(id=call_id, name="bash", arguments=arguments)


def test_the_header_describes_the_session_and_its_cost(session, page, answer):
    session.append_message(UserMessage(content="hi"))
    usage = Usage(input=1200, output=34, cache_read=15_000, cost=Cost(total=0.25))
    session.append_message(answer("hello", usage=usage))
    session.append_usage("compaction", "acme", "acme-1", Usage(input=800, cost=Cost(total=1.25)))
    session.append_session_info("Greetings")

    found = page()

    facts = found.text
    assert "Greetings" in facts
    for message in ("zebra-1", "/home/anna/work", "acme/acme-1", "2.0k in, 34 out, 15k from cache", "$1.50"):
        assert message in facts
    assert ("title", "Greetings") in found.texts
    assert "↑1.2k ↓34 R15k $0.2500" in facts


def test_the_models_instructions_are_folded_and_no_turn(session, page, answer):
    tool = {"name": "dig", "description": "Digs.", "parameters": {}}
    session.append_message(SystemMessage(sections={"preamble": "You dig."}, tools_added=(tool,)))
    session.append_message(UserMessage(content="hi"))
    session.append_message(SystemMessage(sections={"preamble": None, "cwd": "here"}, tools_removed=({"name": "dig"},)))
    session.append_message(answer("hello"))

    found = page()

    records = found.all("div", "record")
    assert len(records) == 2
    assert not any("off" in each["class"].split() for each in records)
    assert "System prompt: preamble. Tools: dig" in found.text
    assert "System prompt: cwd. Removed from it: preamble. Tools removed: dig" in found.text
    assert "You dig." in found.text
    assert len(found.all("article")) == 2


def test_prompt_and_tools_are_folded(session, page, answer):
    class Tool:
        name = "dig"
        description = "Digs."
        parameters: ClassVar = {"type": "object", "properties": {"depth": {"type": "integer"}}}

    session.append_message(answer("hello"))

    found = page(system_prompt="You dig.", tools=[Tool()])

    assert len(found.all("details", "fold")) == 2
    for message in ("You dig.", "Tools (1)", "Digs.", '"depth"'):
        assert message in found.text
    assert not any("open" in attributes for attributes in found.all("details"))


def test_a_result_is_attached_to_its_call_though_ids_are_reused(session, written, answer):
    for text in ("first", "second"):
        session.append_message(answer(call("call_0", command=f"echo {text}"), stop_reason="toolUse"))
        session.append_message(result("call_0", f"{text} result"))

    source = written()

    assert source.index("echo first") < source.index("first result") < source.index("second result")
    boxes = re.findall(r'<section class="tool done">.*?</section>', source, re.DOTALL)
    assert ["first result" in box for box in boxes] == [True, False]
    assert ["second result" in box for box in boxes] == [False, True]


def test_a_call_without_a_result_and_a_result_without_a_call_are_both_shown(session, page, answer):
    session.append_message(answer(call("a", command="sleep 9")))
    session.append_message(result("b", "nobody asked", is_error=True))

    found = page()

    assert "no result" in found.text
    assert "nobody asked" in found.text
    assert len(found.all("section", "open")) == 1
    assert len(found.all("article", "failed")) == 1


def test_long_output_is_folded_after_its_first_lines(session, page, answer):
    session.append_message(answer(call("a", command="seq 100")))
    session.append_message(result("a", "\n".join(map(str, range(1000, 1100)))))

    found = page()

    assert "90 more lines" in found.text
    assert all(str(number) in found.text for number in range(1000, 1100))


def test_a_long_line_is_folded_too(session, page, answer):
    session.append_message(answer(call("a", command="x")))
    session.append_message(result("a", "y" * 10_000))

    found = page()

    assert "8,000 more characters" in found.text
    assert found.text.count("y") >= 10_000


def test_the_lines_of_a_diff_are_coloured(session, page, answer):
    session.append_message(answer(call("a", path="x.py")))
    session.append_message(result("a", "ok", details={"diff": "-1 old\n+1 new\n 2 same"}))

    found = page()

    assert [data for tag, data in found.texts if tag == "del"] == ["-1 old"]
    assert [data for tag, data in found.texts if tag == "ins"] == ["+1 new"]


def test_the_arguments_of_an_edit_are_a_diff(session, page, answer):
    session.append_message(answer(call("a", path="x.py", edits=[{"oldText": "a\nb", "newText": "c"}])))

    found = page()

    assert [data for tag, data in found.texts if tag in ("del", "ins")] == ["-a", "-b", "+c"]


def test_terminal_colours_are_kept_and_other_sequences_left_out(session, page, answer):
    session.append_message(answer(call("a", command="x")))
    session.append_message(result("a", "\x1b[1;31mred\x1b[0m \x1b[2K\x1b]0;title\x07plain \x1b[48;5;46mback\x1b[m"))

    found = page()

    assert "red plain back" in found.text
    classes = [attributes["class"] for attributes in found.all("span") if attributes.get("class", "")[0] in "ag"]
    assert classes == ["a-b a1", "g10"]


def test_all_branches_are_there_and_the_active_one_is_seen(session, page, answer):
    start = session.append_message(UserMessage(content="start"))
    session.append_message(answer("the way that was left"))
    session.branch(start)
    session.append_message(answer("the way that was taken"))
    session.append_label_change(start, "crossing")

    found = page()

    articles = found.all("article")
    assert [attributes["class"] for attributes in articles] == ["m user", "m answer off", "m answer"]
    items = found.all("li")
    assert [each["data-n"] for each in items] == ["0", "1", "2", "3"]
    assert [each["data-p"] for each in items] == ["-1", "0", "0", "2"]
    assert ["on" in each["class"].split() for each in items] == [True, False, True, True]
    assert [each for each in found.texts if each[0] == "mark"] == [("mark", "crossing")] * 2


def test_an_abandoned_branch_comes_before_the_rest_of_the_current_one(session, page, answer):
    start = session.append_message(UserMessage(content="start"))
    for text in ("left", "taken"):
        session.branch(start)
        session.append_message(answer(text))
        session.append_message(UserMessage(content=f"{text} on"))

    found = page()

    assert [(each["data-n"], "d1" in each["class"].split()) for each in found.all("li")] == [
        ("0", False),
        ("1", True),
        ("2", True),
        ("3", False),
        ("4", False),
    ]


def test_errors_thinking_summaries_and_commands_are_displayed(session, page, answer):
    first = session.append_message(UserMessage(content="hi"))
    session.append_message(
        answer(ThinkingContent("Let me think."), stop_reason="error", error_message="529 overloaded")
    )
    session.append_message(
        BashExecutionMessage(command="make", output="no rule", exit_code=2, exclude_from_context=True)
    )
    session.append_compaction("What was said.", first, 123_456)

    found = page()

    assert isinstance(session.get_leaf_entry(), CompactionEntry)
    for message in (
        "Error: 529 overloaded",
        "Let me think.",
        "$ make",
        "no rule",
        "exit code 2 · not sent to the model",
    ):
        assert message in found.text
    assert "Compacted from 123k tokens" in found.text
    assert "What was said." in found.text


def test_images_of_tools_are_in_the_page(session, page, answer):
    gif = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
    session.append_message(answer(call("a", path="x.gif")))
    image = ImageContent(data=gif, mime_type="image/gif")
    session.append_message(ToolResultMessage(tool_call_id="a", tool_name="read", content=(image,)))

    assert page().all("img")[0]["src"] == f"data:image/gif;base64,{gif}"


def test_a_plugins_renderer_shows_its_messages_and_a_broken_one_hides_nothing(session, page):
    class Good:
        name = "good"

        def render(self, value, *, width, expanded):
            return [f"rendered <{value.content}>", "\x1b[32mgreen\x1b[0m"]

    class Bad(Good):
        name = "bad"

        def render(self, value, *, width, expanded):
            raise RuntimeError("broken")

    session.append_custom_message_entry("good", "one")
    session.append_custom_message_entry("bad", "two")

    found = page(renderers={"good": Good(), "bad": Bad()})

    assert "rendered <one>" in found.text
    assert "green" in found.text
    assert "two" in found.text


def test_a_renderer_of_entries_does_not_render_messages(session, page):
    class Entries:
        name, kind = "todo", "entry"

        def render(self, value, *, width, expanded):
            return [f"rendered {value.data}"]

    session.append_custom_message_entry("todo", "a message")
    session.append_custom_entry("todo", "an entry")

    found = page(renderers={"entry/todo": Entries()})

    assert "rendered an entry" in found.text
    assert "a message" in found.text


@pytest.mark.parametrize(
    ("colors", "declared"),
    [
        pytest.param({"accent": "#abc"}, "--accent:#abc", id="hex"),
        pytest.param({"accent": "teal"}, "--accent:#008080", id="variable"),
        pytest.param({"accent": 196}, "--accent:#ff0000", id="index"),
        pytest.param({"accent": 244}, "--accent:#808080", id="grey"),
        pytest.param({"accent": "oklch(70% 0.1 200)"}, "--accent:oklch(70% 0.1 200)", id="oklch"),
    ],
)
def test_a_themes_colours_are_the_pages(session, written, colors, declared):
    theme = Theme(name="mine", colors=colors, vars={"teal": "deeper", "deeper": "#008080"})

    assert declared in written(light=theme, dark=theme)


@pytest.mark.parametrize(
    "color",
    ["red;}body{display:none}", "", "url(https://x)", "expression(1)", "loop", "#12", "</style>", 256, -1, True, None],
    ids=str,
)
def test_what_is_no_colour_is_left_out(session, written, color):
    theme = Theme(name="mine", colors={"accent": color}, vars={"loop": "loop"})

    assert written(light=theme, dark=theme).count("--accent:") == 0 + written().count("--accent:")


def test_a_dark_theme_alone_makes_a_dark_page(session, written):
    dark, light = (Theme(name=name, colors={"userMessageBg": color}) for name, color in (("d", "#222"), ("l", "#eee")))

    assert "color-scheme:dark" in written(light=dark, dark=dark)
    assert "color-scheme:light" in written(light=light, dark=light)
    both = written(light=light, dark=dark)
    assert "@media (prefers-color-scheme:light){:root{--user:#eee}}" in both
    assert "@media (prefers-color-scheme:dark){:root{--user:#222}}" in both


def test_an_empty_session_has_a_page(session, page):
    assert "Session zebra-1" in page().text


def test_each_entry_is_read_once_for_a_page(session, page, answer, monkeypatch):
    for number in range(20):
        session.append_message(UserMessage(content=f"question {number}"))
        session.append_message(answer(f"answer {number}"))
    read, entry = [], SessionTree.entry

    def counted(tree, number):
        read.append(number)
        return entry(tree, number)

    monkeypatch.setattr(SessionTree, "entry", counted)
    page()

    assert len(read) <= 40 + 1  # the last one tells where the branch ends
