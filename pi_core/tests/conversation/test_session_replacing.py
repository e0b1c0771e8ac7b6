"""Another conversation in place of the present one: new, stored, forked, cloned."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pi_core import SessionManager, entry_message
from pi_hookspecs import (
    AssistantMessage,
    CustomMessage,
    SessionBeforeForkResult,
    SessionBeforeSwitchResult,
    ToolCall,
    UserError,
    UserMessage,
    hookimpl,
)
from pi_testing import stall, text


class Plugin:
    """A plugin made of functions."""


def plugin(**hooks):
    made = Plugin()
    for name, function in hooks.items():
        setattr(made, name, hookimpl(function))
    return made


def diary():
    """A plugin that records the session's lifecycle events."""
    lines = []

    def note(event, ctx):
        lines.append((event.type, getattr(event, "reason", None), ctx.session.id))

    names = "session_before_switch session_shutdown session_switch session_fork session_start resources_discover"
    made = plugin(**dict.fromkeys(names.split(), note))
    made.lines = lines
    return made


async def talked(session, script, *prompts):
    for prompt in prompts or ("one", "two"):
        script.turn(text(f"re {prompt}"))
        await session.prompt(prompt)
    return [entry for entry in session.session_manager.get_branch() if entry_message(entry) is not None]


@pytest.fixture
def stored(tmp_path, installed_host):
    """Make a session that is stored, by the installed store."""
    return lambda: SessionManager.create(tmp_path, host=installed_host)


async def test_a_new_conversation_begins_with_nothing_but_model_and_level(session_of, script):
    session = session_of()
    await talked(session, script)
    before = session.session_id

    assert await session.new_session()
    script.turn(text("hello"))
    await session.prompt("fresh")

    assert session.session_id != before
    assert [message.text for message in script.requests[-1].messages] == ["fresh"]
    assert [entry.type for entry in session.session_manager.get_branch()][:2] == [
        "model_change",
        "thinking_level_change",
    ]


async def test_plugins_receive_the_events_in_the_order_of_the_contract(session_of, script):
    reply = diary()
    session = session_of(reply)
    await talked(session, script, "one")
    old = session.session_id
    reply.lines.clear()
    await session.new_session()

    assert reply.lines == [
        ("session_before_switch", "new", old),
        ("session_shutdown", "new", old),
        ("session_switch", "new", session.session_id),
        ("session_start", "new", session.session_id),
        ("resources_discover", "startup", session.session_id),
    ]


async def test_a_plugin_may_keep_the_present_conversation(session_of, script):
    session = session_of(plugin(session_before_switch=lambda: SessionBeforeSwitchResult(cancel=True)))
    await talked(session, script, "one")
    before = session.session_id

    assert not await session.new_session()
    assert session.session_id == before
    assert len(session.messages) == 2


async def test_setup_puts_something_into_the_new_conversation(session_of, script):
    session = session_of()
    await session.new_session(setup=lambda manager: manager.append_message(UserMessage(content="before")) and None)
    script.turn(text("hello"))
    await session.prompt("after")

    assert [message.text for message in script.requests[-1].messages] == ["before", "after"]


async def test_a_run_that_is_going_on_is_aborted_first(session_of, script, recorder):
    session = session_of()
    script.turn(stall())
    prompt = asyncio.create_task(session.prompt("one"))
    await recorder.wait_for("message_end")

    await session.new_session()
    answer = await prompt

    assert answer is None or answer.stop_reason == "aborted"
    assert session.messages == []


async def test_a_conversation_whose_model_is_gone_goes_on_with_the_current_one_and_says_so(
    session_of, script, stored, recorder
):
    session = session_of(session_manager=stored())
    await talked(session, script, "one")
    first = session.session_manager.file
    await session.new_session()
    first.write_text(first.read_text().replace(f'"{script.model.id}"', '"retired"'))

    await session.switch_session(first)

    (lost,) = [event.error for event in recorder.events if event.type == "extension_error"]
    provider = script.model.provider
    assert lost.startswith(f"Could not restore model {provider}/retired. Using {script.model.reference}. Provider")
    assert session.model == script.model


async def test_a_stored_conversation_comes_back_with_its_messages(session_of, script, stored):
    session = session_of(session_manager=stored())
    await talked(session, script, "one")
    first = session.session_manager.file
    await session.new_session()
    await talked(session, script, "two")

    assert await session.switch_session(first)
    script.turn(text("again"))
    await session.prompt("three")

    assert [message.text for message in script.requests[-1].messages] == ["one", "re one", "three"]


async def test_a_file_that_is_no_session_leaves_the_present_one(session_of, script, stored, tmp_path):
    session = session_of(session_manager=stored())
    await talked(session, script, "one")
    (tmp_path / "notes.txt").write_text("dear diary")

    with pytest.raises(UserError):
        await session.switch_session(tmp_path / "notes.txt")

    assert len(session.messages) == 2


async def test_plugins_are_notified_that_a_conversation_that_could_not_be_replaced_continues(
    session_of, script, tmp_path
):
    reply = diary()
    session = session_of(reply)
    await talked(session, script, "one")
    reply.lines.clear()

    with pytest.raises(UserError):
        await session.switch_session(tmp_path)

    assert [line[:2] for line in reply.lines[1:]] == [
        ("session_shutdown", "resume"),
        ("session_start", "resume"),
        ("resources_discover", "startup"),
    ]
    assert {line[2] for line in reply.lines} == {session.session_id}


async def test_messages_queued_for_one_conversation_are_not_sent_in_another(session_of, script):
    session = session_of()
    await session.send_message(CustomMessage(custom_type="note", content="for the old one"), deliver_as="nextTurn")
    session.steer("for the old one, too")
    await session.new_session()
    script.turn(text("hello"))
    await session.prompt("fresh")

    assert [message.text for message in script.requests[-1].messages] == ["fresh"]


async def test_a_conversation_comes_back_with_its_thinking_level_and_is_not_changed_by_that(session_of, script, stored):
    session = session_of(session_manager=stored(), thinking_level="low")
    _, _, prompt_id, _ = await talked(session, script)
    await session.set_thinking_level("high")
    before = session.session_manager.file.read_bytes()

    await session.fork(prompt_id.id)
    forked = session.thinking_level, [entry.type for entry in session.session_manager.get_entries()]
    await session.switch_session(stored_before := session.session_manager.header.parent_session)

    assert forked == ("low", ["model_change", "thinking_level_change", "message", "message", "message"])
    assert session.thinking_level == "high"
    assert Path(stored_before).read_bytes() == before


async def test_the_stored_result_of_an_interrupted_call_is_used_when_a_conversation_is_resumed(session_of, stored):
    session = session_of(session_manager=stored())
    manager = session.session_manager
    manager.append_message(UserMessage(content="look around"))
    calls = tuple(ToolCall(id=each, name="task") for each in ("a", "b", "c"))
    manager.append_message(AssistantMessage(content=calls, api="a", provider="p", model="m", stop_reason="toolUse"))
    content = [{"type": "text", "text": "Found it."}]
    manager.append_custom_entry("finished_call", {"toolCallId": "b", "toolName": "task", "content": content})
    manager.append_custom_entry("finished_call", {"toolCallId": "c", "content": 3})
    file = manager.file
    await session.new_session()

    await session.switch_session(file)

    assert [(each.tool_call_id, each.text) for each in session.messages[2:]] == [("b", "Found it.")]
    assert any("tool calls that have no results: task, task." in notice for notice in manager.notices)


async def test_interrupted_tool_calls_are_reported_when_a_conversation_is_resumed(session_of, script, stored):
    session = session_of(session_manager=stored())
    manager = session.session_manager
    manager.append_message(UserMessage(content="sleep"))
    manager.append_message(
        AssistantMessage(
            content=(ToolCall(id="c", name="bash"),), api="a", provider="p", model="m", stop_reason="toolUse"
        )
    )
    file = manager.file
    await session.new_session()

    await session.switch_session(file)

    assert any("tool calls that have no results: bash" in notice for notice in manager.notices)
    assert len(script.requests) == 0


async def test_a_session_file_from_elsewhere_is_copied_and_gone_on_with(session_of, script, stored, tmp_path):
    away = session_of(session_manager=stored())
    await talked(away, script, "one")
    await away.export_jsonl(tmp_path / "away.jsonl")
    away.session_manager.file.unlink()
    session = session_of(session_manager=stored())

    assert await session.import_from_jsonl(tmp_path / "away.jsonl")
    assert [message.text for message in session.messages] == ["one", "re one"]
    assert session.session_manager.file != tmp_path / "away.jsonl"


@pytest.mark.parametrize("imported", [True, False])
async def test_a_session_whose_folder_is_gone_says_where_it_works_and_how_to_keep_it(
    session_of, script, stored, tmp_path, imported
):
    gone = tmp_path / "gone"
    gone.mkdir()
    away = session_of(session_manager=SessionManager.create(gone, tmp_path / "away"))
    await talked(away, script, "one")
    gone.rmdir()
    session = session_of(session_manager=stored())

    file = away.session_manager.file
    assert await (session.import_from_jsonl(file) if imported else session.switch_session(file))

    manager = session.session_manager
    assert manager.notices[-1] == (
        f"The folder of this session is gone: {str(gone)!r}. Its tools work in {str(session.cwd)!r}. "
        f"To keep it here, continue in a copy: --fork {manager.file}"
    )


async def test_a_fork_ends_before_the_user_message(session_of, script):
    session = session_of()
    _, _, prompt_id, _ = await talked(session, script)
    before = session.session_id
    outcome = await session.fork(prompt_id.id)

    assert (outcome.selected_text, outcome.cancelled) == ("two", False)
    assert session.session_id != before
    assert [message.text for message in session.messages] == ["one", "re one"]


async def test_a_clone_holds_the_branch(session_of, script):
    session = session_of()
    await talked(session, script)
    before = session.session_id

    assert await session.clone()
    assert session.session_id != before
    assert len(session.messages) == 4


async def test_a_plugin_may_keep_the_session_whole(session_of, script):
    session = session_of(plugin(session_before_fork=lambda: SessionBeforeForkResult(cancel=True)))
    prompt_id, *_ = await talked(session, script)

    assert (await session.fork(prompt_id.id)).cancelled
    assert not await session.clone()


async def test_a_fork_begins_only_before_a_user_message(session_of, script):
    session = session_of()
    _, answered, *_ = await talked(session, script)

    with pytest.raises(UserError, match="not a user message"):
        await session.fork(answered.id)
    with pytest.raises(UserError, match="nowhere"):
        await session.fork("nowhere")


async def test_user_messages_are_listed_for_a_fork(session_of, script):
    session = session_of()
    prompt_id = await talked(session, script)

    assert session.get_user_messages_for_forking() == [(prompt_id[0].id, "one"), (prompt_id[2].id, "two")]


async def test_what_was_queued_does_not_come_along(session_of, script):
    session = session_of()
    await session.start()
    session.follow_up("later")
    await session.new_session()

    assert not session.has_queued_messages()


# Subscribers


def life(session):
    """The events of a session's life that a subscriber gets, each with its reason."""
    kinds = ("session_start", "session_switch", "session_fork", "session_tree")
    seen = []
    session.subscribe(lambda event: seen.append((event.type, getattr(event, "reason", None))), *kinds)
    return seen


async def test_a_subscriber_learns_that_the_session_has_started(session_of):
    session = session_of()
    seen = life(session)
    await session.start()
    await session.start()

    assert seen == [("session_start", "startup")]


async def test_subscribers_learn_that_the_conversation_was_replaced(session_of, script, stored):
    session = session_of(session_manager=stored())
    user, *_ = await talked(session, script, "one")
    first = session.session_file
    seen = life(session)
    await session.new_session()
    await session.switch_session(first)
    await session.fork(user.id)

    assert seen == [
        ("session_switch", "new"),
        ("session_start", "new"),
        ("session_switch", "resume"),
        ("session_start", "resume"),
        ("session_fork", None),
        ("session_start", "fork"),
    ]


async def test_subscribers_learn_where_in_the_tree_the_conversation_continues(session_of, script, recorder):
    session = session_of()
    _, answered, _, last = await talked(session, script)
    await session.navigate_tree(answered.id)

    (event,) = recorder.of("session_tree")
    assert (event.new_leaf_id, event.old_leaf_id) == (answered.id, last.id)


async def test_subscribers_learn_of_a_reload(session_of, script):
    session = session_of()
    await session.start()
    seen = life(session)
    await session.reload()

    assert seen == [("session_start", "reload")]


async def test_a_plugin_has_finished_with_an_event_before_subscribers_get_it(session_of):
    order = []
    session = session_of(plugin(session_switch=lambda: order.append("plugin")))
    session.subscribe(lambda _: order.append("subscriber"), "session_switch")
    await session.new_session()

    assert order == ["plugin", "subscriber"]


async def test_a_listener_may_send_the_first_prompt_when_the_session_has_started(session_of, script):
    session = session_of()
    script.turn(text("hello"))

    async def begin(_):
        await session.prompt("hi")

    session.subscribe(begin, "session_start")
    await session.start()

    assert session.get_last_assistant_text() == "hello"
