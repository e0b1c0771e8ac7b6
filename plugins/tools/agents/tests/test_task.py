"""The tool ``task``: what the agent gets, what the model gets, what the session keeps."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import pi_agents
from pi_core import SessionManager, create_agent_session
from pi_hookspecs import CustomEntry, ToolCallResult, Usage, UsageEntry, hookimpl
from pi_testing import error, stall, text, tool_call, until, usage

pytestmark = pytest.mark.pi(
    plugins={"agents": pi_agents},
    entry_points=["session-jsonl", "tools"],
    stored=True,
    settings={"agents": {"enabled": True}},
)


class Guard:
    @hookimpl
    def tool_call(self, event):
        return ToolCallResult(block=True, reason="No commands here") if event.tool_name == "bash" else None


def result_of(session):
    """The latest result of a tool, as text and whether it is an error."""
    message = next(each for each in reversed(session.messages) if each.role == "toolResult")
    return message.content[0].text, message.is_error


async def ask(session, script, *answers, **arguments):
    """Let the model call the tool once; the agent gives the answers."""
    script.turn(tool_call("task", arguments={"prompt": "Look around", "description": "Looking", **arguments}))
    for each in answers:
        script.turn(*each) if isinstance(each, tuple) else script.turn(each)
    script.turn(text("Done."))
    await session.prompt("begin")
    return result_of(session)


def agent_file(folder, name, body="Be brief.", **values):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}: {value}" for key, value in {"name": name, "description": f"Does {name}", **values}.items()]
    (folder / f"{name}.md").write_text("\n".join(["---", *lines, "---", "", body, ""]))


async def test_the_model_gets_the_answer_and_a_line_about_the_agent(pi_session, script):
    result, failed = await ask(pi_session, script, (text("Found it."), usage(input=20, output=10, cost=0.02)))

    (child,) = pi_session.children
    found = re.fullmatch(r"Found it\.\n\n\[agent ([0-9a-f]{8}), 1 turn, \$0\.0200, session (.+)\]", result)
    assert not failed
    assert found[2] == child.file
    assert "Found it." in Path(child.file).read_text()
    assert script.requests[1].user_text == "Look around"


async def test_the_parent_stores_one_usage_entry_with_the_agents_name(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout")
    await ask(pi_session, script, (text("Found it."), usage(input=20, output=10)), agent="scout")

    entries = [each for each in pi_session.ctx.session.entries() if isinstance(each, UsageEntry)]
    assert [(each.kind, each.usage.total_tokens) for each in entries] == [("agent:scout", 30)]
    assert entries[0].extra == {"purpose": "agent:scout", "childSession": pi_session.children[0].id}


async def test_the_child_is_listed_with_its_agent_and_its_task(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout")
    await ask(pi_session, script, text("Found it."), agent="scout")

    listed = {each.name: each for each in await pi_session.ctx.sessions.list()}
    assert listed["scout: Looking"].parent_session_path == str(pi_session.session_file)


async def test_an_agent_has_the_tools_model_level_and_instructions_of_its_file(pi_session, script, pi_agent_dir):
    agent_file(
        pi_agent_dir / "agents",
        "scout",
        "Look, do not touch.",
        tools="Read, Grep",
        thinking="high",
        model="scripted/model",
    )
    await ask(pi_session, script, text("Found it."), agent="scout")

    request = script.requests[1]
    assert request.tools == ("read", "grep")
    assert request.options.reasoning == "high"
    assert "Look, do not touch." in request.system_prompt


async def test_a_general_agent_has_the_tools_of_its_session(pi_session, script):
    await ask(pi_session, script, text("Found it."))

    assert script.requests[1].tools == script.requests[0].tools


@pytest.mark.pi(session={"exclude_tools": ["bash"]})
async def test_what_the_user_excluded_is_excluded_for_agents(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout", tools="Read, Bash")
    await ask(pi_session, script, text("Found it."), agent="scout")

    assert script.requests[1].tools == ("read",)


@pytest.mark.pi(plugins={"agents": pi_agents, "guard": Guard()})
async def test_guards_hold_for_agents(pi_session, script):
    await ask(pi_session, script, tool_call("bash", command="date"), text("It was refused."))

    (refused,) = script.requests[2].tool_results
    assert "No commands here" in refused.content[0].text


@pytest.mark.pi(entry_points=["session-jsonl", "tools", "skills"])
async def test_an_agent_knows_the_skills_of_its_file(pi_session, script, pi_agent_dir):
    skill = pi_agent_dir / "skills" / "writing" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: writing\ndescription: Writes\n---\nUse short words.\n")
    agent_file(pi_agent_dir / "agents", "scout", skills="writing")
    await ask(pi_session, script, text("Found it."), agent="scout")

    assert f"# Skill writing ({skill})\n\nUse short words." in script.requests[1].system_prompt


async def test_agents_may_use_agents_which_may_not(pi_session, script):
    nested = tool_call("task", prompt="Deeper", description="Deeper")
    await ask(pi_session, script, nested, text("Deep."), text("Found it."))

    offered = ["task" in request.tools for request in script.requests]
    assert offered == [True, True, False, True, True]


async def test_agents_are_listed_for_the_model(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout", description="Finds <things>")
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    assert "scout: Finds &lt;things&gt;" in script.requests[0].system_prompt


@pytest.mark.parametrize(
    ("name", "message"), [("scot", "Did you mean scout? Use one of scout, general"), ("x", "scout")]
)
async def test_an_unknown_agent_is_an_error_that_names_the_known_ones(pi_session, script, pi_agent_dir, name, message):
    agent_file(pi_agent_dir / "agents", "scout")
    result, failed = await ask(pi_session, script, agent=name)

    assert failed
    assert message in result
    assert pi_session.children == ()


async def test_an_agent_with_an_unknown_tool_is_not_offered_and_its_file_is_named(
    pi_session, script, pi_agent_dir, fake_ui
):
    agent_file(pi_agent_dir / "agents", "scout", tools="read, reed")
    result, failed = await ask(pi_session, script, agent="scout")

    file = pi_agent_dir / "agents" / "scout.md"
    assert failed
    assert f"{file}: the agent 'scout' is not offered: Unknown tool: reed" in result
    assert "<agents>" not in script.requests[0].system_prompt
    assert [str(file) in notice.message for notice in fake_ui.notices] == [True]


async def test_a_model_family_that_is_not_there_becomes_the_sessions_model(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout", model="sonnet")
    result, failed = await ask(pi_session, script, text("Found it."), agent="scout")

    assert not failed
    assert result.startswith("Found it.\n\n(No model 'sonnet' can be used; the agent worked with scripted/model.)\n\n[")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model", "acme/none", "model 'acme/none' of the agent 'scout' cannot be used: "),
        ("skills", "writing", "there is no skill 'writing'. Known skills: none"),
    ],
)
async def test_what_a_file_asks_for_and_is_not_there_is_an_error(pi_session, script, pi_agent_dir, key, value, message):
    agent_file(pi_agent_dir / "agents", "scout", **{key: value})
    result, failed = await ask(pi_session, script, agent="scout")

    assert failed
    assert f"{pi_agent_dir / 'agents' / 'scout.md'}: {message}" in result


async def test_an_agent_of_an_earlier_run_is_listed_and_its_answer_read(pi_host, tmp_path, script, fake_ui):
    pi_host.add(script, "script")

    def session_of(manager):
        return create_agent_session(
            cwd=tmp_path, host=pi_host, settings=pi_host.settings, model=script.model, session_manager=manager
        )

    async with session_of(SessionManager.create(tmp_path, host=pi_host)) as first:
        result, _ = await ask(first, script, text("Found it."))
        file = first.session_file
    member_id = re.search(r"\[agent (\w+),", result)[1]
    async with session_of(SessionManager.open(file, host=pi_host)) as second:
        second.ui = fake_ui
        script.turn(tool_call("task_output", id=member_id)).turn(text("Done."))
        await second.prompt("and?")
        await second.prompt("/agents list")

        assert result_of(second) == ("Found it.", False)
    assert fake_ui.notices[-1].message.startswith(f"{member_id}  general  done  1 turn  ")


async def test_an_agent_without_an_answer_is_an_error_and_is_paid_for(pi_session, script):
    result, failed = await ask(pi_session, script, (usage(input=20, output=10), error("overloaded")))

    assert failed
    assert "The agent failed: overloaded" in result
    assert re.search(r"\n\[agent [0-9a-f]{8}, 1 turn, .*\]$", result)
    assert pi_session.ctx.totals.total_tokens == 30


async def test_an_agent_stops_at_the_limit_of_its_file_with_what_it_has(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout", maxTurns=1)
    result, failed = await ask(pi_session, script, (text("So far."), tool_call("ls", path=".")), agent="scout")

    assert failed
    assert result.startswith("So far.\n\nThe agent reached its limit: The usage limit requests=1 is reached")


async def test_a_long_answer_is_cut_and_kept_in_a_file(pi_session, script, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = "\n".join(f"line {number}" for number in range(2000))
    result, _ = await ask(pi_session, script, text(answer))

    body, last = result.rsplit("\n\n", 1)
    path = re.search(r"The whole answer: (.+)\]", body)[1]
    assert len(body) <= 8000
    assert last.startswith("[agent ")
    assert Path(path).read_text() == answer


async def test_a_prompt_of_the_model_is_no_command(pi_session, script):
    _, failed = await ask(pi_session, script, text("Fine."), prompt="/agents")

    assert not failed
    assert script.requests[1].user_text == "/agents"


@pytest.mark.pi(settings={"agents": {}})
async def test_without_agents_and_the_setting_there_is_no_tool(pi_session, script):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    assert "task" not in script.requests[0].tools


@pytest.mark.pi(settings={"agents": {}})
async def test_after_the_first_file_a_reload_offers_the_tool(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout")
    await pi_session.reload()
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    assert "task" in script.requests[0].tools


@pytest.mark.pi(settings={"agents": {"enabled": False}})
async def test_the_setting_can_withhold_the_tool(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout")
    await pi_session.reload()
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    assert "task" not in script.requests[0].tools


@pytest.mark.pi(settings={"agents": {}})
@pytest.mark.parametrize(
    "offered", [pytest.param(True, marks=pytest.mark.pi(trusted=True)), pytest.param(False, marks=pytest.mark.pi())]
)
async def test_agents_of_the_project_need_trust(pi_host, tmp_path, script, fake_ui, offered):
    agent_file(tmp_path / ".claude" / "agents", "scout")
    script.turn(text("Hello."))
    async with create_agent_session(
        cwd=tmp_path,
        host=pi_host,
        settings=pi_host.settings,
        plugins={"script": script},
        model=script.model,
        ui=fake_ui,
    ) as session:
        await session.prompt("hi")

    assert ("task" in script.requests[0].tools) is offered


# Several at a time


def play(request):
    """The answer of an agent to ``job N``; the one of job 3 never ends."""
    number = int(request.user_text.removeprefix("job "))
    if number == 3:
        return [usage(input=5, output=1, cost=0.001), text("Thinking"), stall()]
    return [text(f"answer {number}"), usage(input=10, output=number, cost=0.01)]


@pytest.mark.parametrize(
    "places",
    [4, pytest.param(8, marks=pytest.mark.pi(settings={"agents": {"enabled": True, "maxParallel": 8}}))],
)
async def test_of_eight_agents_seven_answer_and_the_one_that_hangs_is_stopped(pi_session, script, places):
    at_once = []
    pi_session.subscribe(lambda _: at_once.append(len(running(pi_session))), "child_session_start")
    script.turn(*(tool_call("task", prompt=f"job {number}") for number in range(8)))
    for _ in range(8):
        script.turn(play)
    script.turn(text("Done."))
    prompt = asyncio.create_task(pi_session.prompt("begin"))
    await until(lambda: sum(child.status == "done" for child in pi_session.children) == 7)
    await pi_session.prompt(f"/agents stop {await running_id(pi_session)}")
    await prompt

    results = [each for each in pi_session.messages if each.role == "toolResult"]
    kept = [each.usage for each in pi_session.ctx.session.entries() if isinstance(each, UsageEntry)]
    spent = sum((child.usage for child in pi_session.children), Usage())
    assert [each.content[0].text.split("\n")[0] for each in results] == [
        "Thinking" if number == 3 else f"answer {number}" for number in range(8)
    ]
    assert [each.is_error for each in results] == [number == 3 for number in range(8)]
    assert sorted(child.status for child in pi_session.children) == ["done"] * 7 + ["failed"]
    assert spent.total_tokens == sum(kept, Usage()).total_tokens == pi_session.ctx.totals.total_tokens == 101
    assert spent.cost.total == pytest.approx(0.071)
    assert max(at_once) == places


async def test_an_abort_stops_every_agent_and_those_that_wait_never_begin(pi_session, script):
    script.turn(*(tool_call("task", prompt="job") for _ in range(6)))
    for _ in range(4):
        script.turn(lambda request: [tool_call("ls", path="."), usage(input=5, output=1)])
    for _ in range(4):
        script.turn(stall())
    prompt = asyncio.create_task(pi_session.prompt("begin"))
    await until(lambda: len(script.requests) == 9)
    await pi_session.abort()
    await prompt

    assert [child.status for child in pi_session.children] == ["failed"] * 4
    assert pi_session.ctx.totals.total_tokens == 4 * 6
    assert [each["status"] for each in records(pi_session)] == ["stopped"] * 6


# In the background


def held_back():
    """An event, and a turn that answers when it is set."""
    go = asyncio.Event()

    async def answer(_request):
        await go.wait()
        return [text("Found it."), usage(input=20, output=10)]

    return go, answer


async def start_in_background(session, script, turn):
    """Let the model start an agent in the background; return its id."""
    is_agent = lambda request: request.user_text == "Look around"  # noqa: E731
    script.turn(tool_call("task", prompt="Look around", background=True))

    def either(request):
        return turn(request) if is_agent(request) else text("Started.")

    script.turn(either).turn(either)
    await session.prompt("begin")
    return re.search(r"\[agent ([0-9a-f]{8}), running\]", result_of(session)[0])[1]


async def test_an_agent_in_the_background_reports_when_it_is_done(pi_session, script, fake_ui):
    go, answer = held_back()
    member_id = await start_in_background(pi_session, script, answer)
    before, status = pi_session.ctx.totals.total_tokens, dict(fake_ui.statuses)
    go.set()
    await until(lambda: fake_ui.notices)
    script.turn(tool_call("task_output", id=member_id)).turn(text("Done."))
    await pi_session.prompt("and?")

    result, failed = result_of(pi_session)
    assert (before, pi_session.ctx.totals.total_tokens) == (0, 30)
    assert (status, fake_ui.statuses) == ({"agents": "1 agent working"}, {})
    assert fake_ui.notices[0].message == f"The agent {member_id} (general: Look around) is done."
    assert any(f"The agent {member_id}" in str(message.content) for message in script.requests[-1].messages)
    assert result.startswith(f"Found it.\n\n[agent {member_id}, 1 turn, ")
    assert not failed


async def test_the_output_of_an_agent_can_be_waited_for(pi_session, script):
    go, answer = held_back()
    member_id = await start_in_background(pi_session, script, answer)
    script.turn(tool_call("task_output", id=member_id)).turn(tool_call("task_output", id=member_id, wait=True))
    script.turn(text("Done."))
    prompt = asyncio.create_task(pi_session.prompt("and?"))
    await until(lambda: len(script.requests) == 5)
    go.set()
    await prompt

    first, second = [each.content[0].text for each in pi_session.messages if each.role == "toolResult"][-2:]
    assert first.startswith("The agent is not done: ")
    assert second.startswith("Found it.")


async def test_an_agent_in_the_background_can_be_stopped(pi_session, script):
    member_id = await start_in_background(pi_session, script, lambda _: [text("Thinking"), stall()])
    script.turn(tool_call("task_stop", id=member_id)).turn(tool_call("task_output", id=member_id)).turn(text("Done."))
    await pi_session.prompt("stop it")

    stopped, output = [each.content[0].text for each in pi_session.messages if each.role == "toolResult"][-2:]
    assert stopped.startswith(f"Stopped. [agent {member_id}, ")
    assert output.startswith("Thinking\n\nThe agent was stopped: It was stopped by task_stop")


async def test_an_abort_stops_agents_of_earlier_prompts(pi_session, script):
    await start_in_background(pi_session, script, lambda _: stall())
    await script.stalled()  # else the prompt could get the turn that is the agent's
    script.turn(stall())
    prompt = asyncio.create_task(pi_session.prompt("and now?"))
    await until(lambda: len(script.requests) == 4)
    await pi_session.abort()
    await prompt
    await until(lambda: not running(pi_session))

    assert [child.status for child in pi_session.children] == ["failed"]


async def test_the_end_of_the_session_stops_agents_in_the_background(pi_session, script):
    await start_in_background(pi_session, script, lambda _: [usage(input=20, output=10), text("Thinking"), stall()])
    await script.stalled()
    await pi_session.dispose()

    assert [child.status for child in pi_session.children] == ["failed"]
    assert '"kind":"agent:general"' in pi_session.session_file.read_text().replace(" ", "")


async def test_an_agent_that_the_end_of_the_session_stops_is_named(pi_session, script, fake_ui):
    member_id = await start_in_background(pi_session, script, lambda _: stall())
    await script.stalled()
    await pi_session.dispose()

    (notice,) = [each for each in fake_ui.notices if member_id in each.message]
    assert notice.level == "warning"
    assert "was still working and was stopped, because the session ended" in notice.message


async def test_an_agent_that_is_stopped_while_its_session_starts_asks_no_model(pi_session, script):
    stopping = []

    async def stop(_event):
        stopping.append(asyncio.create_task(pi_session.prompt(f"/agents stop {await running_id(pi_session)}")))
        await asyncio.sleep(0.02)

    pi_session.subscribe(stop, "child_session_start")
    result, failed = await ask(pi_session, script)
    await asyncio.gather(*stopping)

    assert failed
    assert result.startswith("The agent was stopped: The user stopped it")
    assert len(script.requests) == 2


async def test_the_output_of_an_agent_that_could_not_begin_is_the_reason(pi_session, script, pi_agent_dir):
    agent_file(pi_agent_dir / "agents", "scout", model="acme/none")
    first = await ask(pi_session, script, agent="scout")
    (member_id,) = (each["id"] for each in records(pi_session))
    script.turn(tool_call("task_output", id=member_id)).turn(text("Done."))
    await pi_session.prompt("and?")

    result, failed = result_of(pi_session)
    assert (result, failed) == first
    assert failed
    assert result.endswith(f"\n\n[agent {member_id}, 0 turns, $0.0000, session -]")


@pytest.mark.parametrize("tool", ["task_output", "task_stop"])
async def test_an_unknown_id_is_an_error(pi_session, script, tool):
    script.turn(tool_call(tool, id="deadbeef")).turn(text("Done."))
    await pi_session.prompt("begin")

    result, failed = result_of(pi_session)
    assert failed
    assert "Unknown agent id: deadbeef" in result


def records(session):
    custom = (each for each in session.ctx.session.entries() if isinstance(each, CustomEntry))
    return [each.data for each in custom if each.custom_type == "agent"]


def running(session):
    return [child for child in session.children if child.status == "running"]


async def running_id(session):
    notices = []
    session.ui.notices.clear()
    await session.prompt("/agents list")
    notices = session.ui.notices
    (line,) = (line for line in notices[-1].message.splitlines() if "  running  " in line)
    return line.split()[0]
