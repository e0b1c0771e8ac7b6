"""A session stores system prompt and tools in front of the turn that they apply to."""

from __future__ import annotations

from pi_core import AuthStorage, SessionManager
from pi_hookspecs import BeforeAgentStartResult, hookimpl, tool
from pi_testing import text, tool_call


@tool
def tide(hour: int) -> str:
    """Return the tide."""
    return "high"


@tool
def moon() -> str:
    """Return the moon."""
    return "new"


class Prompts:
    """Changes the prompt of a run."""

    def __init__(self, change):
        self.change = change

    @hookimpl
    def before_agent_start(self, event):
        return BeforeAgentStartResult(system_prompt=self.change(event.system_prompt))


def records(session):
    messages = [entry.message for entry in session.session_manager.get_branch() if entry.type == "message"]
    return [message for message in messages if message.role == "system"]


async def asked(session, script, *prompts):
    for prompt in prompts:
        script.turn(text(f"re {prompt}"))
        await session.prompt(prompt)


async def test_the_first_prompt_stores_prompt_and_tools_in_front_of_it(session_of, script):
    session = session_of(tools=[tide])
    await asked(session, script, "one", "two")

    (record,) = records(session)
    roles = [entry.message.role for entry in session.session_manager.get_branch() if entry.type == "message"]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    assert "\n\n".join(record.sections.values()) == script.requests[0].system_prompt == session.system_prompt
    assert [*record.tools_added] == [{"name": "tide", "description": "Return the tide.", "parameters": tide.parameters}]
    assert (record.content, record.tools_removed) == ("", None)


async def test_known_secrets_are_not_stored_in_it(session_of, script):
    @tool
    def look() -> str:
        """Look with sk_env_123456 and stored-1234567."""
        return ""

    secrets = "run-1234567 stored-1234567 sk_env_123456"
    keys = AuthStorage.in_memory(
        {"acme": {"type": "api_key", "key": "stored-1234567"}}, environ={"ACME_KEY": "sk_env_123456"}
    )
    keys.set_runtime_api_key("other", "run-1234567")
    session = session_of(Prompts(lambda prompt: f"{prompt}\n\nUse {secrets}."), tools=[look], auth_storage=keys)
    await asked(session, script, "one", "two")

    (record,) = records(session)
    assert record.sections["run"] == "Use [redacted] [redacted] [redacted]."
    assert not any(secret in str(record.tools_added) for secret in secrets.split())
    assert secrets in script.requests[1].system_prompt


async def test_it_is_not_sent(session_of, script):
    session = session_of(tools=[tide])
    await asked(session, script, "one", "two")

    assert [message.role for message in script.requests[1].messages] == ["user", "assistant", "user"]
    assert [message.role for message in session.messages] == ["user", "assistant"] * 2
    assert session.get_session_stats().total_messages == 5


async def test_a_change_of_tools_is_stored_as_a_change(session_of, script):
    session = session_of(tools=[tide, moon])
    await asked(session, script, "one")
    session.set_active_tools(["moon"])
    await asked(session, script, "two", "three")

    _, change = records(session)
    assert change.tools_removed == ({"name": "tide"},)
    assert change.tools_added is None
    assert change.sections is None


async def test_tools_that_a_tool_switches_are_stored_before_the_next_request(session_of, script):
    @tool
    def switch() -> str:
        """Offer another tool."""
        session.set_active_tools(["moon"])
        return "done"

    session = session_of(tools=[switch, moon])
    session.set_active_tools(["switch"])
    script.turn(tool_call("switch")).turn(text("ok"))
    await session.prompt("go")

    roles = [entry.message.role for entry in session.session_manager.get_branch() if entry.type == "message"]
    assert roles == ["system", "user", "assistant", "toolResult", "system", "assistant"]
    assert [each["name"] for each in records(session)[1].tools_added] == ["moon"]


async def test_what_a_plugin_adds_to_the_prompt_is_a_section_of_its_own(session_of, script):
    days = iter(["Monday", "Tuesday"])
    session = session_of(Prompts(lambda prompt: f"{prompt}\n\nToday is {next(days)}."))
    await asked(session, script, "one", "two")

    first, second = records(session)
    assert first.sections["run"] == "Today is Monday."
    assert second.sections == {"run": "Today is Tuesday."}
    assert "\n\n".join(first.sections.values()) == script.requests[0].system_prompt


async def test_a_prompt_that_a_plugin_replaced_is_stored_as_it_was_sent(session_of, script):
    session = session_of(Prompts(lambda _: "You are a pirate."))
    await asked(session, script, "one")

    (record,) = records(session)
    assert record.sections == {"preamble": "You are a pirate."}


async def test_without_prompt_and_tools_nothing_is_stored(session_of, script):
    session = session_of(Prompts(lambda _: ""))
    await asked(session, script, "one")

    assert records(session) == []


async def test_a_session_that_is_opened_again_stores_nothing_twice(session_of, script, tmp_path, installed_host):
    first = session_of(session_manager=SessionManager.create(tmp_path, host=installed_host), tools=[tide])
    await asked(first, script, "one")
    await first.dispose()
    again = session_of(
        session_manager=SessionManager.open(first.session_manager.file, host=installed_host), tools=[tide]
    )
    await asked(again, script, "two")

    assert len(records(again)) == 1
    assert [message.role for message in script.requests[1].messages] == ["user", "assistant", "user"]


async def test_a_session_without_a_record_gets_one_with_its_next_prompt(session_of, script):
    manager = SessionManager.in_memory()
    session = session_of(session_manager=manager)
    await asked(session, script, "one")
    manager.branch(next(entry.id for entry in manager.get_entries() if entry.type == "thinking_level_change"))
    await asked(session, script, "two")

    assert len(records(session)) == 1


async def test_after_a_compaction_the_record_is_not_repeated(session_of, script):
    session = session_of(tools=[tide])
    await asked(session, script, "one", "two")
    last = session.session_manager.get_branch()[-1]
    session.session_manager.append_compaction("They talked.", last.id, 100)
    session.runtime.transcript.take_branch()
    await asked(session, script, "three")

    assert len(records(session)) == 1
    assert [message.role for message in script.requests[-1].messages] == ["user", "assistant", "user"]
