"""Files and terminals of the editor: its unsaved text is what pi works on."""

from __future__ import annotations

import json
import os

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

FILES = {"readTextFile": True, "writeTextFile": True}


def call(tool: str, **arguments) -> str:
    return f"call {tool} {json.dumps(arguments)}"


EDIT = call("edit", path="tide.py", edits=[{"oldText": "return 1", "newText": "return 2"}])


async def test_edits_see_unsaved_text_and_land_in_the_editor(run_acp, work):
    file = work / "tide.py"
    async with run_acp() as editor:
        await editor.start(fs=FILES)
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.files[str(file)] = "return 1\n"

        await editor.say(session, EDIT)
        await editor.say(session, call("read", path="tide.py"))

        (diff,) = editor.asked["session/request_permission"][0]["toolCall"]["content"]
        assert (diff["oldText"], diff["newText"]) == ("return 1\n", "return 2\n")
        assert editor.files[str(file)] == "return 2\n"
        assert "return 0" in file.read_text()
        assert "return 2" in json.dumps(editor.of("tool_call_update")[-1]["content"])


async def test_a_new_file_is_written_by_the_editor(run_acp, work):
    async with run_acp() as editor:
        await editor.start(fs=FILES)
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, call("write", path="new/file.txt", content="x\n"))

        assert editor.files == {str(work / "new" / "file.txt"): "x\n"}


async def test_files_elsewhere_binary_and_large_ones_are_the_disks(run_acp, work, tmp_path):
    (work / "raw.txt").write_bytes(b"raw\0bytes")
    (work / "large.txt").write_text("large\n" * 300_000)
    (tmp_path / "out.txt").write_text("outside\n")
    async with run_acp() as editor:
        await editor.start(fs=FILES)
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        for name in ("raw.txt", "large.txt", "../out.txt"):
            await editor.say(session, call("read", path=name))

        assert "fs/read_text_file" not in editor.asked
        assert "outside" in json.dumps(editor.of("tool_call_update")[-1]["content"])


async def test_an_editor_that_fails_leaves_the_file_on_disk_to_pi(run_acp, work):
    async with run_acp() as editor:
        await editor.start(fs=FILES)
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, call("read", path="tide.py"))  # the editor has no such file, and answers an error

        assert editor.asked["fs/read_text_file"]
        assert "return 0" in json.dumps(editor.of("tool_call_update")[-1]["content"])


async def test_commands_run_in_terminals_of_the_editor_only_when_that_is_set(run_acp, work, tmp_path, acp_agent_dir):
    settings = json.loads((acp_agent_dir / "settings.json").read_text())
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "settings.json").write_text(json.dumps({**settings, "acp": {"terminal": True}}))
    seen = []
    for agent_dir in (acp_agent_dir, tmp_path / "agent"):
        async with run_acp(PI_CODING_AGENT_DIR=os.fspath(agent_dir)) as editor:
            await editor.start(terminal=True)
            session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
            await editor.say(session, call("bash", command="echo a line; pwd"))
            content = json.dumps(editor.of("tool_call_update")[-1]["content"])
            stored = "".join(each.read_text() for each in (tmp_path / "sessions").rglob(f"*{session}*"))
            seen.append(("terminal/create" in editor.asked, f"a line\\n{work}" in stored, '"terminal"' in content))

    assert seen == [(False, True, False), (True, True, True)]
    updates = [each["content"] for each in editor.of("tool_call_update") if "content" in each]
    assert updates == [[{"type": "terminal", "terminalId": "t1"}]] * len(updates)
