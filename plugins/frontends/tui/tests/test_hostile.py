"""Whatever a model, a tool, a session or a plugin says: a terminal gets text and colours, and nothing else."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    CompactionEntry,
    CustomMessageEntry,
    ExtensionErrorEvent,
    MessageEntry,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_tui.lines.layout import lay_out
from pi_tui.lines.look import Look
from pi_tui.theme.builtin_themes import builtin_theme
from pi_tui.theme.palette import Palette
from pi_tui.view import local_events as local
from pi_tui.view.of_entries import load_entries
from pi_tui.view.reduce import reduce
from pi_tui.view.state import State

PALETTE = Palette(builtin_theme("dark").colors, "truecolor")
OURS = re.compile(r"\x1b\[[0-9;]*m")
HARMFUL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

sequences = st.sampled_from(
    [
        *(
            "\x1b]52;c;aGk=\x07",
            "\x1b]0;owned\x1b\\",
            "\x1bP$q\x1b\\",
            "\x1bc",
            "\x1b[2J",
            "\x1b[31",
            "\x1b",
            "\x9b2J",
            "\x07",
        ),
        *(
            "\x1b[31mred\x1b[0m",
            "\r",
            "\n",
            "\t",
            "\x08",
            "\u202e",
            "\ud800",
            "`",
            "```",
            "- ",
            "| a |",
            "[x](javascript:y)",
        ),
        *(
            "[x](http://a\x1b.b)",
            "\x1b]8;;http://x\x1b\\",
            "word ",
            "漢",
            "👩\u200d💻",
            "&#27;[2J",
            "&#x9b;2J",
            "&#x202e;",
            "&#10;",
            "&#13;",
            "[x](http://y&#10;z)",
            "~~~&#x202e;\n",
            "<\x1b>",
            "\\",
        ),
    ]
)
hostile = st.lists(sequences, min_size=1, max_size=6).map("".join)


def message(text: str) -> AssistantMessage:
    call = ToolCall("c", text, {"command": text, "path": text, "content": text, text: text})
    content = (ThinkingContent(text), TextContent(text), call)
    return AssistantMessage(
        api="a", provider=text, model=text, content=content, stop_reason="error", error_message=text
    )


def entries(text: str, tool: str):
    result = ToolResultMessage(
        tool_call_id="d", tool_name=tool, content=(TextContent(text),), details={"diff": f"-1 {text}\n+1 {text}!"}
    )
    call = ToolCall("d", tool, {"command": text, "path": text, "content": text, "pattern": text, "glob": text})
    messages = [
        UserMessage(content=text),
        AssistantMessage(api="a", provider="p", model="m", content=(call,)),
        result,
        message(text),
        BashExecutionMessage(command=text, output=text, exit_code=1, full_output_path=text),
    ]
    yield from (
        MessageEntry(id=str(number), parent_id=None, timestamp="", message=each) for number, each in enumerate(messages)
    )
    yield CompactionEntry(id="c", parent_id=None, timestamp="", summary=text, first_kept_entry_id="0", tokens_before=1)
    yield CustomMessageEntry(id="m", parent_id=None, timestamp="", custom_type=text, content=text)


def drawn(state: State, look: Look) -> str:
    rows = []
    for block in state.blocks:
        laid_out = lay_out(block, look)
        for row in laid_out.window(0, len(laid_out)):
            rows.append("".join(PALETTE.style(run, row.fill).sgr() + run.text for run in row))
            assert all(HARMFUL.search(run.link or "") is None for run in row)
    return "".join(rows)


@settings(max_examples=60)
@example("\x1b[31mred\x1b[0m", "read", True, 30)
@given(hostile, st.sampled_from("bash read edit write grep find ls other".split()), st.booleans(), st.integers(1, 90))
def test_a_transcript_of_hostile_text_only_colours_it(text, tool, expanded, width):
    state = State()

    load_entries(state, entries(text, tool))
    for event in (
        local.NoticeShown(text=text),
        local.BashStarted(id="1", command=text),
        local.BashEnded(id="1", error=text),
        ExtensionErrorEvent(extension_path=text, event=text, error=text, stack=text),
    ):
        reduce(state, event)

    assert HARMFUL.search(OURS.sub("", drawn(state, Look(width=width, expanded=expanded)))) is None
