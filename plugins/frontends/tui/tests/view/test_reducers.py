"""A session's events become blocks, and they become the same blocks in its process, over the wire and from its file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pi_core.wire import is_on_wire, to_wire
from pi_core.wire.events import event_from_wire
from pi_hookspecs import BashExecutionMessage, ExtensionErrorEvent, Line, Run, ToolResult, VirtualModel
from pi_testing import error, for_each, make_tool, stop, text, thinking, tool_call
from pi_tui.session.facts import facts_of
from pi_tui.view import local_events as local
from pi_tui.view.blocks import Answer, Bash, Error, Notice, Summary, Thinking, Tool, User
from pi_tui.view.changes import NOTHING, Changes
from pi_tui.view.numbers import model_text
from pi_tui.view.of_entries import load_entries
from pi_tui.view.of_tools import arguments_of
from pi_tui.view.reduce import reduce
from pi_tui.view.state import Footer, State

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import EventRecorder, ScriptedProvider

ECHO = make_tool("echo", updates=["half"], result=ToolResult.text("\x1b[32mgreen\x1b[0m\x1b]0;t\x07", details={"a": 1}))
BROKEN = make_tool("broken", result=ValueError("no such file"))

pytestmark = pytest.mark.pi(tools=[ECHO, BROKEN])


@pytest.fixture
def recorded(pi_session: AgentSession, recorder: EventRecorder) -> EventRecorder:
    pi_session.subscribe(recorder)
    return recorder


def replayed(events) -> State:
    state = State()
    for event in events:
        reduce(state, event)
    return state


def over_the_wire(events):
    lines = [json.dumps(to_wire(event)) for event in events if is_on_wire(event)]
    return [event_from_wire(json.loads(line)) for line in lines]


def kinds(state: State) -> list[str]:
    return [block.kind for block in state.blocks]


async def run_everything(session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(thinking("Let me\x07 see.", 3), text("I will \x1b[31mlook.", 4), tool_call("echo", path="a.py"))
    script.turn(tool_call("broken", n=1), tool_call("echo", path="b.py"))
    script.turn(text("Done: \u202eabc", 5))
    await session.prompt("Look\x1b[2J at this")
    await session.set_thinking_level("high")
    script.turn(text("half"), error("529 Overloaded"))
    await session.prompt("again")
    await session.set_session_name("demo\x1b]0;x\x07")


async def test_a_run_becomes_blocks_in_its_order(pi_session, script, recorded):
    await run_everything(pi_session, script)

    state = replayed(recorded.events)

    assert kinds(state) == "user thinking answer tool tool tool answer user answer error".split()
    user, thought, answer, tool, broken = state.blocks[:5]
    assert (user.text, str(thought.text), str(answer.text)) == ("Look at this", "Let me see.", "I will look.")
    assert (tool.status, tool.output, tool.details) == ("done", "\x1b[32mgreen\x1b[0m", {"a": 1})
    assert tool.arguments == {"path": "a.py"}
    assert (broken.status, broken.output) == ("error", "no such file")
    assert state.blocks[-1].text == "529 Overloaded"
    assert (state.footer.name, state.footer.level) == ("demo", "high")
    assert not state.work.running
    assert not state.unfinished


async def test_events_of_the_wire_give_the_same_state(pi_session, script, recorded):
    await run_everything(pi_session, script)

    state, remote = replayed(recorded.events), replayed(over_the_wire(recorded.events))

    assert len(state.blocks) == 10
    assert remote == state


async def test_the_stored_branch_gives_the_same_blocks(pi_session, script, recorded):
    await run_everything(pi_session, script)
    stored = State()

    changes = load_entries(stored, pi_session.session_manager.get_branch())

    live = replayed(recorded.events)
    assert changes.reload
    assert [block.kind for block in stored.blocks] == kinds(live)
    for one, other in zip(stored.blocks, live.blocks, strict=True):
        other.id = one.id
        assert one == other


async def test_a_delta_changes_only_its_block(pi_session, script, recorded):
    script.turn(text("one two three", 3))
    await pi_session.prompt("hello")
    state = State()

    seen = [(event, reduce(state, event)) for event in recorded.events]

    answer = next(block for block in state.blocks if isinstance(block, Answer))
    deltas = [
        each
        for event, each in seen
        if event.type == "message_update" and event.assistant_message_event.type == "text_delta"
    ]
    assert deltas == [Changes(blocks=frozenset([answer.id]))] * 3
    assert answer.done
    assert answer.revision >= 3


async def test_arguments_are_readable_while_they_are_received(pi_session, script, recorded):
    script.turn(tool_call("echo", path="a.py", content="x" * 10)).turn(text("ok"))
    await pi_session.prompt("hello")
    state, partial = State(), []

    for event in recorded.events:
        reduce(state, event)
        partial += [arguments_of(block) for block in state.blocks if isinstance(block, Tool) and block.received.length]

    assert [sorted(each) for each in partial][-1] in (["content", "path"], ["path"], ["content"])
    assert arguments_of(next(block for block in state.blocks if isinstance(block, Tool)))["content"] == "x" * 10


async def test_an_answer_at_the_output_limit_says_so(pi_session, script, recorded):
    script.turn(text("half"), stop("length"))
    await pi_session.prompt("hello")

    assert isinstance(replayed(recorded.events).blocks[-1], Notice)


async def test_figures_are_counted_over_all_answers(pi_session, script, recorded):
    await run_everything(pi_session, script)

    footer = replayed(recorded.events).footer
    stats = pi_session.session_manager.stats()

    assert (footer.input, footer.output) == (stats.tokens.input, stats.tokens.output)


async def test_the_footer_names_the_model_that_answers_for_a_virtual_one(pi_session, script, recorded):
    auto = VirtualModel(
        provider="router",
        id="auto",
        name="Auto",
        route=lambda request, ctx: (script.model, "medium"),
        thinking_levels=("off", "high"),
    )
    pi_session.models.register_provider("router", auto)
    await pi_session.set_model(pi_session.models.find("router/auto"))
    await pi_session.set_thinking_level("high")
    before = facts_of(pi_session)
    script.turn(text("Hello"))
    await pi_session.prompt("hi")
    after = facts_of(pi_session)

    texts = [model_text(State(footer=Footer(**{**facts, "providers": 1})).footer) for facts in (before, after)]
    assert texts == ["auto • high", "auto • high → model • medium"]
    for events in (recorded.events, over_the_wire(recorded.events)):
        assert model_text(replayed(events).footer).endswith("→ model • medium")
    pi_session.models.register_provider("router", auto)
    await pi_session.set_model(script.model)
    assert "→" not in model_text(replayed(recorded.events).footer)
    assert "→" not in model_text(Footer(**facts_of(pi_session)))


def test_a_block_of_the_stream_that_the_message_is_without_is_removed():
    from pi_hookspecs import (
        AssistantMessage,
        MessageBuilder,
        MessageEndEvent,
        MessageStartEvent,
        MessageUpdateEvent,
        Model,
    )

    builder = MessageBuilder(Model(id="m", name="m", api="a", provider="p"))
    state = State()
    start = builder.text_start()
    steps = [builder.start(), start, builder.text(start.content_index, "x"), builder.tool_call_start("c", "bash")]
    message = AssistantMessage(api="a", provider="p", model="m", stop_reason="aborted")

    reduce(state, MessageStartEvent(message=message))
    for step in steps:
        reduce(state, MessageUpdateEvent(assistant_message_event=step))
    gone = {block.id for block in state.blocks}
    changes = reduce(state, MessageEndEvent(message=message))

    assert kinds(state) == ["notice"]
    assert changes.removed == gone
    assert not state.unfinished


def test_only_lines_about_keys_replace_each_other():
    shown = [("a page", False), ("expanded", True), ("collapsed", True), ("a warning", False), ("expanded", True)]

    state = replayed(local.NoticeShown(text=text, replaces=replaces) for text, replaces in shown)

    assert [block.text for block in state.blocks] == ["a page", "collapsed", "a warning", "expanded"]


def test_calls_without_a_result_are_marked_in_a_stored_branch():
    from pi_hookspecs import AssistantMessage, MessageEntry, ToolCall

    message = AssistantMessage(api="a", provider="p", model="m", content=(ToolCall("c", "bash", {"command": "x"}),))
    state = State()

    load_entries(state, [MessageEntry(id="1", parent_id=None, timestamp="", message=message)])

    assert [(block.status, block.output) for block in state.blocks] == [
        ("error", "No result: pi ended while the call was running")
    ]


def test_a_command_of_the_user_grows_and_ends():
    from pi_hookspecs import BashExecutionUpdateEvent

    state = State()
    reduce(state, local.BashStarted(id="1", command="make"))
    for delta in ("10%\r", "20", "%\rdone\x1b", "[0;32m!\n", "next"):
        reduce(state, BashExecutionUpdateEvent(delta=delta, id="1"))
    reduce(state, BashExecutionUpdateEvent(delta="of another client", id="2"))
    block = state.blocks[0]
    grown = str(block.output)
    result = BashExecutionMessage(command="make", output="done!\nnext", exit_code=3)
    changes = reduce(state, local.BashEnded(id="1", message=result))

    assert grown == "done\x1b[0;32m!\nnext"
    assert changes.blocks == {block.id}
    assert (block.running, block.exit_code, str(block.output)) == (False, 3, "done!\nnext")


def test_output_of_a_command_is_bounded():
    from pi_hookspecs import BashExecutionUpdateEvent

    state = State()
    reduce(state, local.BashStarted(id="1", command="yes"))
    for _ in range(300):
        reduce(state, BashExecutionUpdateEvent(delta="line\n" * 200, id="1"))
    output = state.blocks[0].output

    assert 50_000 <= len(str(output)) <= 100_000
    assert output.dropped * 5 + len(str(output)) == 300_000


@for_each(
    ("event", "part"),
    [
        (local.StatusChanged(key="a", text="x\x1b[2Jy\nz"), "statuses"),
        (local.WidgetChanged(key="a", lines=("x\x1b[2J", Line.of(Run("y\x1b]0;t\x07\n", "error")))), "widgets"),
        (local.TitleChanged(title="a\nb\x07"), "title"),
        (local.WorkMessageChanged(text="a\nb"), "work"),
        (local.DialogOpened(id="1", kind="confirm", title="\x1bcSure?", options=("a\nb",)), "dialogs"),
    ],
)
def test_what_plugins_show_is_clean(event, part):
    state = State()

    changes = reduce(state, event)

    assert changes == Changes.of(part)
    shown = [*state.statuses.values(), *(str(row) for each in state.widgets.values() for row in each.lines)]
    shown += [state.title or "", state.work.message or "", *(each.title for each in state.dialogs)]
    shown += [option for each in state.dialogs for option in each.options]
    assert not [each for each in shown if "\x1b" in each or "\n" in each or "\x07" in each]


def test_a_removed_status_is_gone():
    state = replayed([local.StatusChanged(key="a", text="x"), local.StatusChanged(key="a")])

    assert state.statuses == {}


def test_a_closed_dialog_is_gone():
    opened = [local.DialogOpened(id=each, kind="input", title=each) for each in "ab"]
    state = replayed([*opened, local.DialogClosed(id="a")])

    assert [dialog.id for dialog in state.dialogs] == ["b"]


def test_a_plugin_s_failure_names_it():
    state = replayed([ExtensionErrorEvent(extension_path="todo", event="tool_call", error="boom", stack="Traceback")])

    (block,) = state.blocks
    assert isinstance(block, Error)
    assert block.text == "Plugin 'todo' failed in tool_call: boom"
    assert block.detail == "Traceback"


def test_a_failure_that_names_the_plugin_names_it_once():
    state = State()

    reduce(state, ExtensionErrorEvent(extension_path="todo", event="command", error="Plugin 'todo' failed in /x: boom"))

    assert state.blocks[0].text == "Plugin 'todo' failed in /x: boom"


@pytest.mark.parametrize("step", ["command", "shortcut"])
def test_a_mistake_of_the_user_is_not_displayed_as_a_failure_of_the_plugin(step):
    state = replayed([ExtensionErrorEvent(extension_path="todo", event=step, error="/todo: there is no to-do 7")])

    assert state.blocks[0].text == "/todo: there is no to-do 7"


def test_a_failure_that_repeats_itself_is_displayed_once():
    failures = [ExtensionErrorEvent(extension_path="todo", event="tool_call", error=error) for error in ("a", "a", "b")]

    assert [block.text[-1] for block in replayed(failures).blocks] == ["a", "b"]


def test_blocks_that_a_plugin_added_are_in_the_order_of_the_message():
    from pi_hookspecs import (
        AssistantMessage,
        MessageBuilder,
        MessageEndEvent,
        MessageStartEvent,
        MessageUpdateEvent,
        Model,
        TextContent,
        ToolCall,
    )

    builder = MessageBuilder(Model(id="m", name="m", api="a", provider="p"))
    call = builder.tool_call_start("c", "bash")
    content = (TextContent("added"), ToolCall("c", "bash", {}), TextContent("last"))
    message = AssistantMessage(api="a", provider="p", model="m", content=content)
    state = State()

    reduce(state, MessageStartEvent(message=message))
    reduce(state, MessageUpdateEvent(assistant_message_event=call))
    reduce(state, local.NoticeShown(text="meanwhile"))
    changes = reduce(state, MessageEndEvent(message=message))

    assert kinds(state) == ["answer", "notice", "tool", "answer"]
    assert changes.blocks == {block.id for block in state.blocks if block.kind != "notice"}
    assert [state.number(block.id) for block in state.blocks] == [0, 1, 2, 3]


def test_a_reload_keeps_what_is_displayed():
    from pi_hookspecs import SessionStartEvent

    assert reduce(State(), SessionStartEvent(reason="reload")) is NOTHING


def test_an_unknown_event_changes_nothing():
    class Foreign:
        type = "weather_changed"

    assert reduce(State(), Foreign()) is NOTHING


def test_another_conversation_has_to_be_loaded():
    from pi_hookspecs import SessionStartEvent

    assert reduce(State(), SessionStartEvent(reason="resume")).reload


def test_a_compaction_says_from_how_many_to_how_many_tokens():
    from pi_hookspecs import Compaction, CompactionEndEvent, CompactionEntry, EntryAppendedEvent

    state = State()
    entry = CompactionEntry(
        id="k", parent_id=None, timestamp="t", summary="All", first_kept_entry_id="a", tokens_before=9
    )
    reduce(state, EntryAppendedEvent(entry=entry))
    made = Compaction(summary="All", first_kept_entry_id="a", tokens_before=9, estimated_tokens_after=4)
    changes = reduce(state, CompactionEndEvent(reason="manual", result=made))

    (block,) = state.blocks
    assert (block.tokens_before, block.tokens_after) == (9, 4)
    assert block.id in changes.blocks


def test_a_failed_retry_and_a_failed_compaction_are_reported():
    from pi_hookspecs import AutoRetryEndEvent, AutoRetryStartEvent, CompactionEndEvent, CompactionStartEvent

    state = State(explain=lambda detail: detail.removeprefix("529 "))
    reduce(state, AutoRetryStartEvent(attempt=1, max_attempts=3, delay_ms=2000, error_message="529 busy"), now=5.0)
    waiting = state.work.retry
    reduce(state, AutoRetryEndEvent(success=False, attempt=3, final_error="529 busy"))
    reduce(state, CompactionStartEvent(reason="manual"))
    compacting = state.work.compacting
    reduce(state, CompactionEndEvent(reason="manual", error_message="Nothing to compact (session too small)"))

    assert (waiting.attempt, waiting.started, compacting) == (1, 5.0, "manual")
    assert [block.text for block in state.blocks] == [
        "Retry failed after 3 attempts: busy",
        "Compaction failed: Nothing to compact (session too small)",
    ]


def test_a_compaction_s_summary_is_a_block():
    from pi_hookspecs import CompactionEntry, EntryAppendedEvent

    entry = CompactionEntry(id="1", parent_id=None, timestamp="", summary="s", first_kept_entry_id="0", tokens_before=9)
    state = replayed([EntryAppendedEvent(entry=entry)])

    assert state.blocks == [Summary(id="b0", of="compaction", text="s", tokens_before=9)]


def test_blocks_of_one_content_are_equal():
    assert User(id="1", text="a") == User(id="1", text="a", revision=4)
    assert Thinking(id="1") != Answer(id="1")
    assert Bash(id="1", command="a") != Bash(id="1", command="b")


def test_of_a_very_long_result_the_end_is_kept():
    from pi_hookspecs import ToolExecutionEndEvent, ToolExecutionStartEvent

    state = replayed(
        [
            ToolExecutionStartEvent(tool_call_id="c", tool_name="x", args={}),
            ToolExecutionEndEvent(
                tool_call_id="c", tool_name="x", result=ToolResult.text("x" * 10_000_000 + "\x1b[2Jend"), is_error=False
            ),
        ]
    )

    (block,) = state.blocks
    assert block.output.startswith("... (9,950,107 characters are left out)\nxxx")
    assert block.output.endswith("xend")
    assert len(block.output) < 51_000
