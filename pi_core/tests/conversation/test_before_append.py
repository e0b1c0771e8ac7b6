"""``session_before_append``: plugins change what is stored, and a failing one keeps the session out of its file."""

from __future__ import annotations

import asyncio
import json

import pytest
from attrs import evolve

from pi_core import SessionManager
from pi_hookspecs import (
    BashExecutionMessage,
    CustomEntry,
    MessageEntry,
    SessionBeforeAppendResult,
    UserMessage,
    hookimpl,
)
from pi_testing import text


class Plugin:
    """A plugin made of functions."""


def plugin(**hooks):
    made = Plugin()
    for name, function in hooks.items():
        setattr(made, name, hookimpl(function))
    return made


class Redactor:
    """Replaces the prompts of the user, and keeps the types of what it is asked about."""

    def __init__(self):
        self.types = []
        self.failing = False

    @hookimpl
    def session_before_append(self, event):
        if self.failing:
            raise RuntimeError("the rules cannot be read")
        self.types += [entry.type for entry in event.entries]
        return SessionBeforeAppendResult(entries=[redacted(entry) for entry in event.entries])


def redacted(entry):
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        return evolve(entry, message=evolve(entry.message, content="[gone]"))
    return entry


@pytest.fixture
def stored(tmp_path, installed_host):
    """A session that is stored, by the installed store."""
    return SessionManager.create(tmp_path, host=installed_host)


def lines(session):
    return [json.loads(line) for line in session.session_file.read_text().splitlines()]


def prompts(session):
    messages = [line["message"] for line in lines(session) if line["type"] == "message"]
    return [message["content"] for message in messages if message["role"] == "user"]


async def test_what_a_plugin_makes_of_entries_is_stored(session_of, script, stored):
    session = session_of(Redactor(), session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("my key is 1234")

    assert prompts(session) == ["[gone]"]


async def test_the_conversation_goes_on_with_the_originals(session_of, script, stored):
    session = session_of(Redactor(), session_manager=stored)
    script.turn(text("Hello")).turn(text("Again"))
    await session.prompt("my key is 1234")
    await session.prompt("and mine 5678")

    assert [each.text for each in script.requests[-1].messages] == ["my key is 1234", "Hello", "and mine 5678"]
    assert session.ctx.session.branch()[2].message.text == "my key is 1234"


async def test_plugins_are_asked_about_everything_that_is_stored(session_of, script, stored):
    redactor = Redactor()
    session = session_of(redactor, session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("one")
    session.append_entry("todo", {"text": "buy milk"})
    session.set_label(stored.leaf_id, "here")
    await session.set_session_name("A talk")
    stored.append_message(BashExecutionMessage(command="env", output="KEY=1", exit_code=0))
    kept = stored.leaf_id
    stored.append_compaction("Short.", kept, 9)
    stored.branch_with_summary(kept, "Left.")

    kinds = {"message", "custom", "label", "session_info", "compaction", "branch_summary"}
    assert kinds <= set(redactor.types)
    assert redactor.types == [line["type"] for line in lines(session)[1:]]


async def test_each_plugin_gets_what_the_one_before_made(session_of, script, stored):
    seen = []

    def look(event):
        seen.extend(each.message.text for each in event.entries if each.type == "message")

    session = session_of(Redactor(), plugin(session_before_append=look), session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("my key is 1234")

    assert "[gone]" in seen
    assert "my key is 1234" not in seen


async def test_a_plugin_that_fails_keeps_the_session_out_of_its_file(session_of, script, recorder, stored):
    redactor = Redactor()
    redactor.failing = True
    session = session_of(redactor, session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("my key is 1234")

    assert not session.session_file.exists()
    notice, *_ = [each.error for each in recorder.of("extension_error") if each.extension_path == "(session)"]
    assert "cannot be written" in notice
    assert "Disable it with --disable plugin-0" in notice


async def test_what_waited_for_a_plugin_is_stored_once_it_works_again(session_of, script, stored):
    redactor = Redactor()
    session = session_of(redactor, session_manager=stored)
    script.turn(text("one")).turn(text("two"))
    await session.prompt("first")
    redactor.failing = True
    session.append_entry("todo", 1)
    redactor.failing = False
    await session.prompt("second")

    assert prompts(session) == ["[gone]", "[gone]"]
    assert [line["id"] for line in lines(session)[1:]] == [each.id for each in session.ctx.session.entries()]


async def test_a_plugin_that_goes_on_failing_never_opens_the_gate(session_of, script, stored):
    redactor = Redactor()
    redactor.failing = True
    session = session_of(redactor, session_manager=stored)
    script.turn(*[text("Hello")])
    await session.prompt("my key is 1234")
    for number in range(10):
        session.append_entry("todo", number)
    await session.dispose()

    assert not session.session_file.exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda entry: evolve(entry, id="00000000"), "changed id of entry"),
        (lambda entry: evolve(entry, parent_id="00000000"), "changed parent_id of entry"),
        (
            lambda entry: CustomEntry(id=entry.id, parent_id=entry.parent_id, timestamp="", custom_type="x"),
            "returned CustomEntry",
        ),
    ],
    ids=["id", "parent", "type"],
)
async def test_what_would_damage_the_tree_is_refused(session_of, script, recorder, stored, change, problem):
    broken = plugin(
        session_before_append=lambda event: SessionBeforeAppendResult(entries=[change(each) for each in event.entries])
    )
    session = session_of(broken, session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert not session.session_file.exists()
    assert problem in next(each.error for each in recorder.of("extension_error") if each.extension_path == "plugin-0")


async def test_an_entry_cannot_be_left_out(session_of, script, recorder, stored):
    forgetful = plugin(session_before_append=lambda event: SessionBeforeAppendResult(entries=event.entries[1:]))
    session = session_of(forgetful, session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert not session.session_file.exists()
    assert "each must occur exactly once" in recorder.of("extension_error")[0].error


async def test_changing_an_entry_in_place_does_not_reach_the_conversation(session_of, script, stored):
    def mark(event):
        for entry in event.entries:
            if isinstance(entry, CustomEntry):
                entry.data["seen"] = True

    session = session_of(plugin(session_before_append=mark), session_manager=stored)
    session.append_entry("todo", {"text": "milk"})
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert [each.data for each in session.ctx.session.entries() if isinstance(each, CustomEntry)] == [{"text": "milk"}]


async def test_an_entry_that_the_hook_appends_is_stored_with_the_next(session_of, script, stored):
    counts = []

    def note(event, ctx):
        counts.append(len(event.entries))
        if len(counts) == 1:
            session.append_entry("audit", len(event.entries))

    session = session_of(plugin(session_before_append=note), session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("hi")
    session.append_entry("todo")

    assert [line["customType"] for line in lines(session) if line["type"] == "custom"] == ["audit", "todo"]
    assert sum(counts) == len(session.ctx.session.entries())


async def test_a_plugin_is_asked_once_about_an_entry_that_cannot_be_written_yet(
    session_of, script, stored, monkeypatch
):
    redactor = Redactor()
    session = session_of(redactor, session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("hi")
    store = stored.writer.stored
    append, asked = store.append, len(redactor.types)

    def full(entries):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "append", full)
    session.append_entry("todo", 1)
    monkeypatch.setattr(store, "append", append)
    session.append_entry("todo", 2)

    assert redactor.types[asked:] == ["custom", "custom"]
    assert [line["data"] for line in lines(session) if line["type"] == "custom"] == [1, 2]


async def test_a_session_in_memory_asks_no_plugin(session_of, script):
    redactor = Redactor()
    session = session_of(redactor, session_manager=SessionManager.in_memory())
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert redactor.types == []


async def test_another_conversation_in_its_place_is_guarded_too(session_of, script, stored):
    session = session_of(Redactor(), session_manager=stored)
    await session.new_session()
    script.turn(text("Hello"))
    await session.prompt("my key is 1234")

    assert prompts(session) == ["[gone]"]


async def test_an_async_implementation_is_refused_when_it_is_loaded(session_of, script, stored):
    async def late(event):
        """Wait for something."""

    session = session_of(plugin(session_before_append=late), session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("my key is 1234")

    assert any("write def instead of async def" in problem.message for problem in session.host.problems)
    assert not session.session_file.exists()


async def test_an_async_handler_is_refused_where_it_is_added(session_of):
    messages = []

    def activate(pi):
        async def late(event):
            """Wait for something."""

        with pytest.raises(TypeError) as caught:
            pi.on("session_before_append", late)
        messages.append(str(caught.value))

    await session_of(plugin(activate=activate)).start()

    assert "session_before_append is async" in messages[0]


async def test_a_handler_that_waits_all_the_same_stores_nothing(session_of, script, stored):
    class Waits:
        async def __call__(self, event):
            await asyncio.sleep(0)

    def activate(pi):
        pi.on("session_before_append", Waits())

    session = session_of(plugin(activate=activate), session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("my key is 1234")

    assert not session.session_file.exists()
    assert "nothing can be awaited" in session.session_manager.notices[0]


async def test_outside_a_task_a_guarded_session_stores_nothing(session_of, script, stored):
    session = session_of(Redactor(), session_manager=stored)
    script.turn(text("Hello"))
    await session.prompt("hi")
    before = len(lines(session))

    await asyncio.to_thread(session.append_entry, "todo", 1)
    kept_out = len(lines(session))
    session.append_entry("todo", 2)

    assert kept_out == before
    assert len(lines(session)) == before + 2
