"""A conversation of an editor with pi: prompts, edits, permissions, modes, options, dialogs."""

from __future__ import annotations

import asyncio
import json

import pytest

from pi_acp.prompt import read_prompt
from pi_testing import PNG, for_each

pytestmark = pytest.mark.slow  # each starts programs that take seconds


def call(tool: str, **arguments) -> str:
    return f"call {tool} {json.dumps(arguments)}"


EDIT = call("edit", path="tide.py", edits=[{"oldText": "return 0", "newText": "return hour % 12"}])


@pytest.mark.slow
async def test_an_edit_is_asked_about_and_displayed_as_a_diff(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        answer = await editor.say(session, EDIT)

        assert answer.stop_reason == "end_turn"
        (asked,) = editor.asked["session/request_permission"]
        diff = {
            "type": "diff",
            "path": str(work / "tide.py"),
            "oldText": "def tide(hour):\n    return 0\n",
            "newText": "def tide(hour):\n    return hour % 12\n",
        }
        assert asked["toolCall"]["content"] == [diff]
        assert [each["kind"] for each in asked["options"]] == [
            "allow_once",
            "allow_always",
            "reject_once",
            "reject_always",
        ]
        updates = [*editor.of("tool_call"), *editor.of("tool_call_update")]
        assert [each["status"] for each in updates] == ["pending", "pending", "in_progress", "completed"]
        assert updates[1]["title"] == "Edit tide.py"
        assert updates[1]["locations"] == [{"path": str(work / "tide.py")}]
        assert updates[2]["locations"] == [{"path": str(work / "tide.py"), "line": 2}]
        assert updates[3]["content"] == [diff]
        assert (work / "tide.py").read_text() == diff["newText"]


async def test_a_whole_conversation(run_acp, work):
    """Every message of it is validated by the schema when the editor ends."""
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        edited = await editor.say(session, EDIT)
        stalled = asyncio.create_task(editor.say(session, "stall"))
        await editor.until(lambda: "stall" in editor.text(session))
        await editor.agent.cancel(session_id=session)
        cancelled = await stalled
        displayed = [each["content"][0]["type"] for each in editor.of("tool_call_update")[-1:]]
        editor.updates.clear()
        await editor.agent.load_session(cwd=str(work), session_id=session, mcp_servers=[])
        forked = (await editor.agent.fork_session(session_id=session, cwd=str(work))).session_id
        answer = await editor.say(forked, "on the fork")

        assert [each.stop_reason for each in (edited, cancelled, answer)] == ["end_turn", "cancelled", "end_turn"]
        assert len(editor.asked["session/request_permission"]) == 1
        assert displayed == ["diff"]
        replayed = [each["content"]["text"] for each in editor.of("user_message_chunk", session)]
        assert replayed == [EDIT, "stall"]
        assert editor.of("tool_call_update", session)[0]["content"][0]["type"] == "diff"
        assert editor.text(forked) == "on the fork"


async def test_a_rejected_call_is_not_carried_out(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.allow = lambda asked: "reject"

        await editor.say(session, EDIT)

        assert "return 0" in (work / "tide.py").read_text()
        assert editor.of("tool_call_update")[-1]["status"] == "failed"
        assert "The user rejected this call" in json.dumps(editor.of("tool_call_update")[-1]["content"])


async def test_what_is_always_allowed_is_asked_once_for_each_file(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.allow = lambda asked: "allow-always"

        for name in ("a.txt", "a.txt", "b.txt"):
            await editor.say(session, call("write", path=name, content="x\n"))

        first, second = editor.asked["session/request_permission"]
        assert [first["options"][1]["name"], second["options"][3]["name"]] == [
            "Always allow write a.txt",
            "Always reject write b.txt",
        ]
        assert (work / "b.txt").read_text() == "x\n"


async def test_commands_with_the_same_beginning_are_allowed_together_but_not_compound_ones(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.allow = lambda asked: "allow-always"

        for command in ("echo one", "echo one two", "echo one; echo three"):
            await editor.say(session, call("bash", command=command))

        titles = [asked["toolCall"]["title"] for asked in editor.asked["session/request_permission"]]
        assert titles == ["echo one", "echo one; echo three"]


async def test_reading_is_not_asked_about(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, call("look"))
        await editor.say(session, call("read", path="tide.py", offset=2))

        assert "session/request_permission" not in editor.asked
        assert next(each["locations"] for each in editor.of("tool_call_update") if "locations" in each) == [
            {"path": str(work / "tide.py"), "line": 2}
        ]
        assert "return 0" in json.dumps(editor.of("tool_call_update")[-1]["content"])


async def test_modes_decide_what_is_asked_about(run_acp, work, tmp_path):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.agent.set_session_mode(session_id=session, mode_id="accept-edits")
        await editor.say(session, call("write", path="in.txt", content="x"))
        await editor.say(session, call("write", path=str(tmp_path / "out.txt"), content="x"))
        await editor.agent.set_session_mode(session_id=session, mode_id="auto")
        await editor.say(session, call("bash", command="echo done"))

        titles = [asked["toolCall"]["title"] for asked in editor.asked["session/request_permission"]]
        assert titles == [f"Write {tmp_path / 'out.txt'}"]
        assert [each["currentModeId"] for each in editor.of("current_mode_update")] == ["accept-edits", "auto"]


async def test_options_are_changed_and_changes_of_commands_arrive(run_acp, work):
    async with run_acp() as editor:
        await editor.start(session={"configOptions": {"boolean": {}}})
        made = await editor.agent.new_session(cwd=str(work), mcp_servers=[])
        options = {each.id: each for each in made.config_options}

        answer = await editor.agent.set_config_option("model", made.session_id, "fake/other")
        await editor.agent.set_config_option("thought_level", made.session_id, "high")
        last = await editor.agent.set_config_option("auto_compaction", made.session_id, False)

        assert options["model"].current_value == "fake/echo"
        assert answer.config_options[0].current_value == "fake/other"
        assert [each.current_value for each in last.config_options] == ["fake/other", "high", False]
        assert editor.of("config_option_update")


async def test_text_and_thoughts_arrive_merged_and_complete(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, "flood 5000")
        await editor.say(session, "think twice")

        expected = "".join(f"{number} " for number in range(5000))
        assert editor.text(session) == expected + "think twice"
        assert len(editor.of("agent_message_chunk")) < 500
        assert editor.text(session, "agent_thought_chunk") == "Hm. "


async def test_commands_plan_usage_and_name_are_displayed(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, "Hello")
        await editor.say(session, "/plan")
        await editor.say(session, "/name Tides")
        await editor.say(session, "/more")

        names = [
            [each["name"] for each in update["availableCommands"]] for update in editor.of("available_commands_update")
        ]
        assert "ask" in names[0]
        assert "late" not in names[0]
        assert "late" in names[-1]
        assert editor.of("plan")[0]["entries"] == [
            {"content": "Look", "priority": "medium", "status": "pending"},
            {"content": "Mend", "priority": "high", "status": "in_progress"},
        ]
        assert editor.of("usage_update")[0]["size"] > 0
        assert editor.of("session_info_update")[0]["title"] == "Tides"


async def test_an_answer_says_what_it_used(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        one, two, none = [await editor.say(session, each) for each in ("Hello", call("read", path="tide.py"), "/plan")]

        assert (one.usage.input_tokens, one.usage.output_tokens, one.usage.total_tokens) == (100, 10, 110)
        assert two.usage.total_tokens == 220
        assert none.usage is None


async def test_tools_get_the_trace_that_the_editor_sent_with_the_prompt(run_acp, work):
    parent = f"00-{'a' * 32}-{'b' * 16}-01"
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        asked = {"sessionId": session, "prompt": [{"type": "text", "text": "call trace {}"}]}

        for meta in ({"traceparent": parent, "baggage": "x", "tracestate": 7}, [], None):
            await editor.agent._conn.send_request("session/prompt", {**asked, "_meta": meta})

        texts = [
            each["content"][0]["content"]["text"]
            for each in editor.of("tool_call_update")
            if each["status"] == "completed"
        ]
        assert [json.loads(each) for each in texts] == [{"traceparent": parent}, {}, {}]


async def test_dialogs_of_plugins_are_questions_and_forms_of_the_editor(run_acp, work):
    async with run_acp() as editor:
        await editor.start(elicitation={"form": {}})
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.allow = lambda asked: asked["options"][-1 if "Which" in asked["toolCall"]["title"] else 0]["optionId"]
        editor.form = {"text": "Ada", "depth": 5, "zone": "b"}

        await editor.say(session, "/ask")

        assert json.loads(editor.text(session)) == [True, "two", "Ada", {"depth": 5, "zone": "b"}]
        assert {each["status"] for each in editor.of("tool_call_update")} == {"completed"}


async def test_dialogs_that_an_editor_does_not_have_are_dismissed(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.allow = lambda asked: None

        await editor.say(session, "/ask")

        assert json.loads(editor.text(session)) == [False, None, None, None]


async def test_what_is_embedded_and_linked_is_in_the_prompt(run_acp, work):
    from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block, text_block

    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        blocks = [
            text_block("Look at "),
            resource_link_block("tide.py", (work / "tide.py").as_uri()),
            resource_link_block("Manual", "https://tides.example/"),
            resource_block(embedded_text_resource("file:///a.md", "with ``` in it")),
            image_block(PNG, "image/png"),
        ]

        await editor.agent.prompt(session_id=session, prompt=blocks)

        assert editor.text(session) == (
            "Look at @tide.py [Manual](https://tides.example/)\n\nfile:///a.md\n````\nwith ``` in it\n````"
        )


@for_each(
    ("texts", "prompt"),
    [
        (["Explain", None], "Explain @l.txt"),
        (["Explain\n", None], "Explain\n@l.txt"),
        (["Explain ", None, "please"], "Explain @l.txt please"),
        (["Explain (", None, "), then ", None, "."], "Explain (@l.txt), then @l.txt."),
        ([None, None, " both"], "@l.txt @l.txt both"),
        (["Colon:", None, "", "and"], "Colon: @l.txt and"),
        (["one", "two"], "onetwo"),
        ([None], "@l.txt"),
    ],
)
def test_a_link_never_touches_a_word(texts, prompt, tmp_path):
    link = {"type": "resource_link", "name": "l.txt", "uri": (tmp_path / "l.txt").as_uri()}
    blocks = [link if each is None else {"type": "text", "text": each} for each in texts]

    assert read_prompt(blocks, tmp_path) == (prompt, ())


async def test_servers_of_the_editor_are_registered_for_their_session_alone(run_acp, work):
    from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio

    servers = [
        McpServerStdio(name="my docs", command="/bin/docs", args=["-x"], env=[EnvVariable(name="A", value="1")]),
        HttpMcpServer(type="http", name="web", url="http://x.example", headers=[HttpHeader(name="K", value="v")]),
    ]
    async with run_acp() as editor:
        await editor.start()
        first = (await editor.agent.new_session(cwd=str(work), mcp_servers=servers)).session_id
        second = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(first, "/servers")
        await editor.say(second, "/servers")

        assert json.loads(editor.text(first)) == {
            "my_docs": {"command": "/bin/docs", "args": ["-x"], "env": {"A": "1"}},
            "web": {"type": "http", "url": "http://x.example", "headers": {"K": "v"}},
        }
        assert json.loads(editor.text(second)) == {}


async def test_a_page_is_opened_by_the_editor(run_acp, work):
    async with run_acp() as editor:
        await editor.start(elicitation={"url": {}})
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, "/page")
        await editor.say(session, "Hello")

        (page,) = await editor.until(lambda: editor.asked.get("elicitation/create"))
        assert page["url"] == "https://tides.example/"


async def test_a_user_who_takes_long_is_waited_for(run_acp, work, tmp_path, acp_agent_dir):
    settings = {
        **json.loads((acp_agent_dir / "settings.json").read_text()),
        "hooks": {"plugins": {"acp-session": {"timeout": 2}}},
    }
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "settings.json").write_text(json.dumps(settings))
    async with run_acp(PI_CODING_AGENT_DIR=str(tmp_path / "agent")) as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.hesitation = 3

        await editor.say(session, EDIT)

        assert "return hour % 12" in (work / "tide.py").read_text()


async def test_a_question_that_is_too_late_is_withdrawn(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        editor.hesitation = 3600

        await editor.say(session, "/hurry")

        (question,) = (each["id"] for each in editor.messages if each.get("method") == "session/request_permission")
        assert [each["params"] for each in editor.messages if each.get("method") == "$/cancel_request"] == [
            {"requestId": question}
        ]
        assert "answer: False" in editor.text(session)


async def test_edits_outside_are_asked_about_however_their_path_is_written(run_acp, work, tmp_path):
    (work / "link").symlink_to(tmp_path)
    paths = ["~/a.txt", "@~/b.txt", (tmp_path / "c.txt").as_uri(), "../d.txt", "link/e.txt", "sub/../../f.txt"]
    async with run_acp() as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.agent.set_session_mode(session_id=session, mode_id="accept-edits")
        editor.allow = lambda asked: "reject"

        for path in paths:
            await editor.say(session, call("write", path=path, content="x"))

        assert len(editor.asked["session/request_permission"]) == len(paths)
        assert [*tmp_path.glob("*.txt")] == []


async def test_the_user_is_asked_about_the_call_as_other_plugins_leave_it(run_acp, work, tmp_path):
    changing = tmp_path / "changing.py"
    changing.write_text(
        "from pi_hookspecs import ToolCallResult, hookimpl\n\n\n"
        "@hookimpl\ndef tool_call(event):\n    return ToolCallResult(input={**event.input, 'content': 'changed'})\n"
    )
    async with run_acp("-e", str(changing)) as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id

        await editor.say(session, call("write", path="a.txt", content="as the model wrote it"))

        (asked,) = editor.asked["session/request_permission"]
        assert asked["toolCall"]["rawInput"]["content"] == "changed"
        assert (work / "a.txt").read_text() == "changed"
