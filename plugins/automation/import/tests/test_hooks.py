"""Programs of ``hooks.json`` in a session: what they get, and how their exit codes and answers are obeyed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pi_import
from pi_core import create_agent_session
from pi_testing import text, tool_call
from pi_testing.session import session_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = [pytest.mark.pi(plugins={"import": pi_import}, trusted=True), pytest.mark.slow]  # each starts programs


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))


@pytest.fixture
def hooks(pi_host: Any, tmp_path: Path) -> Any:
    """Write a ``hooks.json`` with one program for an event, which stores what it gets."""
    own = Path(pi_host.settings.agent_dir, "hooks.json")
    own.parent.mkdir(parents=True, exist_ok=True)

    def write(event: str, command: str, *, matcher: str | None = None, file: Path = own, **more: Any) -> None:
        group = {"hooks": [{"type": "command", "command": f"cat >>$SEEN; {command}"}], **more}
        if matcher is not None:
            group["matcher"] = matcher
        found = json.loads(file.read_text()) if file.exists() else {"hooks": {}}
        found["hooks"].setdefault(event, []).append(group)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(found))

    return write


@pytest.fixture
def seen(tmp_path: Path) -> Any:
    def read() -> list[dict[str, Any]]:
        decoder, found, rest = (
            json.JSONDecoder(),
            [],
            (tmp_path / "seen").read_text() if (tmp_path / "seen").exists() else "",
        )
        while rest:
            value, end = decoder.raw_decode(rest)
            found.append(value)
            rest = rest[end:].lstrip()
        return found

    return read


@pytest.fixture
async def started(*, tmp_path, script, fake_ui, pi_options, pi_host, fake_tools) -> AsyncIterator[Any]:
    """Return a function that starts a session; the files of hooks are written before."""
    sessions = []

    async def start() -> Any:
        options = session_options(
            cwd=tmp_path, script=script, ui=fake_ui, options=pi_options, host=pi_host, fake_tools=fake_tools
        )
        sessions.append(create_agent_session(**options))
        await sessions[-1].start()
        return sessions[-1]

    yield start
    for session in sessions:
        await session.dispose()


async def call(session: Any, script: Any, tool: str = "bash", /, **arguments: Any) -> str:
    script.turn(tool_call(tool, arguments=arguments)).turn(text("ok"))
    await session.prompt("please")
    return [message for message in session.messages if message.role == "toolResult"][-1].text


async def test_exit_code_2_refuses_a_call_and_the_program_gets_it_in_claude_codes_form(
    hooks, seen, started, script, fake_tools
):
    hooks("PreToolUse", "echo no deletions >&2; exit 2", matcher="Bash")
    session = await started()

    answer = await call(session, script, command="rm x", timeout=3)

    assert "no deletions" in answer
    assert fake_tools["bash"].calls == []
    (given,) = seen()
    assert given["hook_event_name"] == "PreToolUse"
    assert (given["tool_name"], given["tool_input"]) == ("Bash", {"command": "rm x", "timeout": 3000})
    assert given["session_id"] == session.session_manager.id
    assert given["cwd"] == str(session.session_manager.cwd)


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("exit 0", True),
        ("exit 1", True),
        ("echo plain text", True),
        ("exit 2", False),
        ("""echo '{"decision": "block", "reason": "R"}'""", False),
        ("""echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}'""", False),
        ("""echo '{"hookSpecificOutput": {"permissionDecision": "ask"}}'""", False),
        ("""echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'""", True),
        ("""echo '{"continue": false, "stopReason": "S"}'""", False),
        ("echo '{broken'", False),
        ("((", False),
    ],
)
async def test_each_answer_of_a_program_is_obeyed(hooks, started, script, fake_tools, fake_ui, command, runs):
    fake_ui.answers(False)
    hooks("PreToolUse", command)
    session = await started()
    script.turn(tool_call("bash", arguments={"command": "x"})).turn(text("ok"))

    await session.prompt("please")

    assert bool(fake_tools["bash"].calls) is runs


async def test_a_question_of_a_program_is_the_users_to_answer(hooks, started, script, fake_tools, fake_ui):
    fake_ui.answers(True)
    hooks(
        "PreToolUse",
        """echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "Sure?"}}'""",
    )
    session = await started()

    await call(session, script, command="make deploy")

    assert len(fake_tools["bash"].calls) == 1
    assert fake_ui.asked[0].text == "make deploy\n\nSure?"


async def test_a_program_changes_arguments_in_its_own_form(hooks, started, script, fake_tools):
    hooks("PreToolUse", """echo '{"hookSpecificOutput": {"updatedInput": {"file_path": "/b", "content": "y"}}}'""")
    session = await started()

    await call(session, script, "write", path="a", content="x")

    assert fake_tools["write"].calls[0] == {"path": "/b", "content": "y"}


@pytest.mark.parametrize(
    ("matcher", "number"), [("Bash", 1), ("Edit|Write", 0), ("*", 1), ("Ba", 0), (".*", 1), ("", 1)]
)
async def test_a_matcher_is_for_the_whole_name(hooks, seen, started, script, fake_tools, matcher, number):
    hooks("PreToolUse", "true", matcher=matcher)

    await call(await started(), script, command="x")

    assert len(seen()) == number


async def test_programs_of_gemini_cli_get_its_names(hooks, seen, started, script, fake_tools):
    hooks("PreToolUse", 'echo \'{"decision": "deny", "reason": "G"}\'', matcher="run_shell_command", agent="gemini")

    answer = await call(await started(), script, command="x")

    assert "G" in answer
    assert (seen()[0]["hook_event_name"], seen()[0]["tool_name"]) == ("BeforeTool", "run_shell_command")


async def test_what_a_program_says_after_a_call_joins_the_result(hooks, seen, started, script, fake_tools):
    hooks("PostToolUse", "echo format it >&2; exit 2")

    answer = await call(await started(), script, command="x")

    assert answer.endswith("[A hook says: format it]")
    assert "stdout" in seen()[0]["tool_response"]


async def test_context_of_session_and_prompt_reaches_the_model(hooks, seen, started, script):
    hooks("SessionStart", "echo branch is main")
    hooks("UserPromptSubmit", """echo '{"hookSpecificOutput": {"additionalContext": "ticket 7"}}'""")
    session = await started()
    script.turn(text("one")).turn(text("two"))

    await session.prompt("first")
    await session.prompt("second")

    said = [message.content for message in session.messages if message.role == "custom"]
    assert said == ["branch is main", "ticket 7", "ticket 7"]
    assert [each.get("prompt") or each.get("source") for each in seen()] == ["startup", "first", "second"]


async def test_a_refused_prompt_reaches_no_model(hooks, started, script, fake_ui):
    hooks("UserPromptSubmit", "echo no secrets >&2; exit 2")
    session = await started()

    await session.prompt("my password is x")

    assert script.requests == []
    assert any("no secrets" in each.message for each in fake_ui.notices)


async def test_stop_continues_the_run_until_the_program_is_content(hooks, seen, started, script):
    hooks("Stop", "test $(grep -o stop_hook_active $SEEN | wc -l) -ge 2 || { echo run the tests >&2; exit 2; }")
    session = await started()
    script.turn(text("done")).turn(text("tests pass"))

    await session.prompt("work")

    assert [each["stop_hook_active"] for each in seen()] == [False, True]
    assert seen()[1]["last_assistant_message"] == "tests pass"


async def test_stop_cannot_continue_for_ever(hooks, seen, started, script):
    hooks("Stop", "exit 2")
    session = await started()
    for _ in range(11):
        script.turn(text("done"))

    await session.prompt("work")

    assert len(seen()) == 11


@pytest.mark.pi(plugins={"import": pi_import}, trusted=False)
async def test_a_project_that_is_not_trusted_runs_nothing(hooks, seen, started, script, fake_tools, tmp_path):
    hooks("PreToolUse", "exit 2", file=tmp_path / ".pi" / "hooks.json")
    session = await started()

    await call(session, script, command="x")

    assert seen() == []
    assert len(fake_tools["bash"].calls) == 1


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"hooks": []}',
        '{"hooks": {"PreTool": []}}',
        '{"hooks": {"Stop": [{"hooks": [{"type": "prompt"}]}]}}',
        '{"hooks": {"PreToolUse": [{"matcher": "(", "hooks": [{"command": "x"}]}]}}',
    ],
)
async def test_a_file_that_cannot_be_read_refuses_all_tools(pi_host, started, script, fake_tools, content):
    Path(pi_host.settings.agent_dir, "hooks.json").write_text(content)
    session = await started()

    answer = await call(session, script, command="x")

    assert "hooks.json" in answer
    assert fake_tools["bash"].calls == []


async def test_a_program_that_does_not_end_refuses_the_call(hooks, pi_host, started, script, fake_tools):
    file = Path(pi_host.settings.agent_dir, "hooks.json")
    hook = {"type": "command", "command": "sleep 60", "timeout": 0.2}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    session = await started()

    assert "did not finish within 0.2 s" in await call(session, script, command="x")
