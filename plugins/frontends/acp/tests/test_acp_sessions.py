"""Sessions of an editor: stored, listed, loaded, forked, closed, deleted, and two at once."""

from __future__ import annotations

import asyncio
import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds


async def test_a_loaded_session_is_replayed_and_goes_on(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.say(session, "think Hello")
        await editor.say(session, 'call read {"path": "tide.py"}')
    async with run_acp() as editor:
        await editor.start()

        loaded = await editor.agent.load_session(cwd=str(work), session_id=session, mcp_servers=[])

        assert loaded.modes.current_mode_id == "ask"
        assert editor.of("user_message_chunk")[0]["content"]["text"] == "think Hello"
        assert editor.text(session, "agent_thought_chunk") == "Hm. "
        assert editor.of("tool_call")[0]["title"] == "Read tide.py"
        assert "return 0" in json.dumps(editor.of("tool_call_update")[-1]["content"])
        assert editor.of("tool_call_update")[-1]["status"] == "completed"
        before = len(editor.updates)
        await editor.say(session, "Again")
        assert "Again" in json.dumps([update for _, _, update in editor.updates[before:]])


async def test_edits_are_replayed_as_differences(run_acp, work):
    edit = {"path": "tide.py", "edits": [{"oldText": "return 0", "newText": "return 1"}]}
    wrong = {"path": "tide.py", "edits": [{"oldText": "return 9", "newText": "return 1"}]}
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        for arguments in (edit, wrong):
            await editor.say(session, f"call edit {json.dumps(arguments)}")
        editor.updates.clear()

        await editor.agent.load_session(cwd=str(work), session_id=session, mcp_servers=[])

        changed, failed = editor.of("tool_call_update")
        path = str(work / "tide.py")
        assert changed["content"] == [{"type": "diff", "path": path, "oldText": "return 0", "newText": "return 1"}]
        assert (failed["status"], failed["content"][0]["type"]) == ("failed", "content")


async def test_commands_of_the_user_are_replayed(run_acp, work, tmp_path):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.say(session, "Hello")
        await editor.agent.close_session(session_id=session)
        (file,) = (tmp_path / "sessions").rglob("*.jsonl")
        last = json.loads(file.read_text().splitlines()[-1])["id"]
        ran = {"role": "bashExecution", "command": "ls -a", "output": "tide.py", "exitCode": 0, "timestamp": 1}
        entry = {"type": "message", "id": "ran", "parentId": last, "timestamp": "2026-01-01T00:00:00Z", "message": ran}
        with file.open("a") as lines:
            lines.write(f"{json.dumps(entry)}\n")
        editor.updates.clear()

        await editor.agent.load_session(cwd=str(work), session_id=session, mcp_servers=[])

        (call,) = editor.of("tool_call")
        assert (call["title"], call["kind"], call["status"]) == ("ls -a", "execute", "completed")
        assert call["content"][0]["content"]["text"] == "tide.py"


async def test_a_resumed_session_is_not_replayed(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.say(session, "Hello")
        await editor.agent.close_session(session_id=session)
        editor.updates.clear()

        await editor.agent.resume_session(cwd=str(work), session_id=session)

        assert editor.of("user_message_chunk") == []
        assert (await editor.say(session, "Again")).stop_reason == "end_turn"


async def test_sessions_are_listed_by_folder_newest_first_and_deleted(run_acp, work, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    async with run_acp() as editor:
        await editor.start()
        ids = []
        for folder in (work, work, other):
            ids.append((await editor.agent.new_session(cwd=str(folder), mcp_servers=[])).session_id)
            await editor.say(ids[-1], f"Hello {len(ids)}")
        await editor.say(ids[0], "/name Tides")
        await editor.say(ids[0], "the last word")

        here = (await editor.agent.list_sessions(cwd=str(work))).sessions
        everywhere = (await editor.agent.list_sessions()).sessions
        await editor.agent._conn.send_request("session/delete", {"sessionId": ids[1]})
        left = (await editor.agent.list_sessions()).sessions

        assert [(each.session_id, each.title) for each in here] == [(ids[0], "Tides"), (ids[1], "Hello 2")]
        assert {each.session_id for each in everywhere} == {*ids}
        assert {each.session_id for each in left} == {ids[0], ids[2]}


async def test_a_session_that_another_process_uses_is_not_deleted(run_acp, work):
    from acp.exceptions import RequestError

    async with run_acp() as editor, run_acp() as other:
        await editor.start()
        await other.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.say(session, "Hello")

        with pytest.raises(RequestError, match="open in another process"):
            await other.agent._conn.send_request("session/delete", {"sessionId": session})

        assert [each.session_id for each in (await editor.agent.list_sessions()).sessions] == [session]


async def test_a_fork_has_the_conversation_and_an_id_of_its_own(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.say(session, "Hello")

        forked = (await editor.agent.fork_session(session_id=session, cwd=str(work))).session_id
        await editor.say(forked, "only in the fork")
        await editor.agent.load_session(cwd=str(work), session_id=forked, mcp_servers=[])
        await editor.agent.load_session(cwd=str(work), session_id=session, mcp_servers=[])

        assert forked != session
        messages = {
            each: [update["content"]["text"] for update in editor.of("user_message_chunk", each)]
            for each in (session, forked)
        }
        assert messages == {session: ["Hello"], forked: ["Hello", "only in the fork"]}


async def test_two_sessions_work_in_two_folders_at_once(run_acp, work, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    async with run_acp() as editor:
        await editor.start()
        first = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        second = (await editor.agent.new_session(cwd=str(other), mcp_servers=[])).session_id

        stalled = asyncio.create_task(editor.say(first, "stall here"))
        await editor.until(lambda: "stall here" in editor.text(first))
        await editor.say(second, "call look {}")
        await editor.agent.cancel(session_id=first)
        await editor.say(first, "call look {}")

        assert (await stalled).stop_reason == "cancelled"
        (seen_first,) = [each for each in editor.of("tool_call_update", first) if each["status"] == "completed"]
        (seen_second,) = [each for each in editor.of("tool_call_update", second) if each["status"] == "completed"]
        assert seen_first["content"][0]["content"]["text"] == str(work)
        assert seen_second["content"][0]["content"]["text"] == str(other)


async def test_extensions_of_one_folder_do_not_reach_a_session_in_another(run_acp, work, tmp_path, acp_agent_dir):
    other = tmp_path / "other"
    for folder, name in ((work, "first"), (other, "second")):
        extensions = folder / ".pi" / "extensions"
        extensions.mkdir(parents=True)
        (extensions / "own.py").write_text(
            f"def activate(pi):\n    pi.register_command({name!r}, description='Own')(print)\n"
        )
    settings = {**json.loads((acp_agent_dir / "settings.json").read_text()), "defaultProjectTrust": "always"}
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "settings.json").write_text(json.dumps(settings))
    async with run_acp(PI_CODING_AGENT_DIR=str(tmp_path / "agent")) as editor:
        await editor.start()

        for folder in (work, other):
            await editor.agent.new_session(cwd=str(folder), mcp_servers=[])
        await editor.until(lambda: len(editor.of("available_commands_update")) == 2)

        names = [
            {each["name"] for each in sent["availableCommands"]} for sent in editor.of("available_commands_update")
        ]
        assert [each & {"first", "second"} for each in names] == [{"first"}, {"second"}]
