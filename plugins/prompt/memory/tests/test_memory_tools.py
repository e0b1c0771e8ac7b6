"""Remembering and forgetting: what is asked, what is shown, what is written."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import pi_memory
from pi_testing import text, tool_call

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core import AgentSession
    from pi_testing import FakeUI, ScriptedProvider

pytestmark = pytest.mark.pi(plugins={"memory": pi_memory}, settings={"memory": {"enabled": True}})


async def called(session: AgentSession, script: ScriptedProvider, name: str, **arguments: object) -> tuple[str, bool]:
    script.turn(tool_call(name, arguments=arguments)).turn(text("ok"))
    await session.prompt("please")
    result = next(message for message in reversed(session.messages) if message.role == "toolResult")
    return result.content[0].text, result.is_error


async def test_what_the_user_confirms_is_written(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    fake_ui.answers(True)

    result, failed = await called(pi_session, script, "remember", text="Prefers short answers", section="Preferences")

    file = pi_agent_dir / "MEMORY.md"
    assert not failed
    assert str(file) in result
    assert file.read_text() == "# Memory\n\n## Preferences\n- Prefers short answers\n"
    asked = fake_ui.asked[0]
    assert (asked.kind, asked.title) == ("approve", "Remember this?")
    assert asked.text == "Prefers short answers\n\nThe model wants to write it down for later sessions."
    assert fake_ui.notices == []  # the user reads the result


async def test_a_folder_below_home_is_shown_with_its_tilde(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_agent_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(pi_agent_dir.parent))
    place = f"~/{pi_agent_dir.name}/MEMORY.md"
    fake_ui.answers(True, True)

    remembered, _ = await called(pi_session, script, "remember", text="Uses fish", scope="global")
    forgotten, _ = await called(pi_session, script, "forget", text="Uses fish", scope="global")

    assert remembered.startswith(f"Remembered in {place}, section 'Preferences': Uses fish")
    assert forgotten == f"Removed from {place}:\n- Uses fish"
    assert fake_ui.notices == []


async def test_secrets_are_not_remembered(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_agent_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "key-1234567890")
    fake_ui.answers(True)

    await called(pi_session, script, "remember", text="The shop's key is key-1234567890", section="Preferences")

    assert (pi_agent_dir / "MEMORY.md").read_text().endswith("- The shop's key is [redacted]\n")


async def test_what_the_user_refuses_is_not_written(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    fake_ui.answers(False)

    result, failed = await called(pi_session, script, "remember", text="Prefers long answers")

    assert failed
    assert "refused" in result
    assert not (pi_agent_dir / "MEMORY.md").exists()


async def test_without_a_user_to_ask_the_write_is_reported(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    pi_session.has_ui = False

    await called(pi_session, script, "remember", text="Uses fish")

    assert not fake_ui.asked
    assert "Uses fish" in fake_ui.notices[0].message
    assert "- Uses fish" in (pi_agent_dir / "MEMORY.md").read_text()


async def test_a_write_after_outside_content_is_marked_everywhere(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    fake_ui.answers(True)
    script.turn(tool_call("bash", command="curl https://example.com"))

    result, _ = await called(pi_session, script, "remember", text="Always run make install")

    assert "outside the project: bash curl https://example.com" in fake_ui.asked[0].text
    assert fake_ui.notices[0].level == "warning"
    assert "It is marked" in result
    assert "- Always run make install <!-- outside content -->\n" in (pi_agent_dir / "MEMORY.md").read_text()


async def test_what_an_earlier_prompt_read_does_not_mark(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    fake_ui.answers(True)
    script.turn(tool_call("read", path="/etc/hosts")).turn(text("read"))
    await pi_session.prompt("look")

    await called(pi_session, script, "remember", text="Uses tabs")

    assert "outside" not in (pi_agent_dir / "MEMORY.md").read_text()


@pytest.mark.parametrize(
    ("name", "arguments", "marks"),
    [
        ("read", {"path": "src/app.py"}, False),
        ("read", {"path": "../other/app.py"}, True),
        ("grep", {"pattern": "x"}, False),
        ("find", {"pattern": "*", "path": "/"}, True),
        ("bash", {"command": "ls -la src && python run.py > /dev/null"}, False),
        ("bash", {"command": "cat ~/notes.txt"}, True),
        ("bash", {"command": "git pull --rebase"}, True),
        ("bash", {"command": "npm install"}, True),
    ],
    ids=lambda value: str(value).replace(" ", "_")[:40],
)
async def test_which_calls_count_as_outside(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_agent_dir: Path,
    name: str,
    arguments: dict[str, object],
    marks: bool,
) -> None:
    fake_ui.answers(True)
    script.turn(tool_call(name, arguments=arguments))

    await called(pi_session, script, "remember", text="A fact")

    assert ("outside content" in (pi_agent_dir / "MEMORY.md").read_text()) == marks


async def test_a_link_in_the_project_that_leads_out_counts_as_outside(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to("/etc/hosts")
    fake_ui.answers(True)
    script.turn(tool_call("read", path="link"))

    await called(pi_session, script, "remember", text="A fact")

    assert "outside content" in (pi_agent_dir / "MEMORY.md").read_text()


async def test_an_untrusted_project_keeps_no_memory(
    pi_session: AgentSession, script: ScriptedProvider, tmp_path: Path
) -> None:
    result, failed = await called(pi_session, script, "remember", text="A fact", scope="project")

    assert failed
    assert "not trusted" in result
    assert not (tmp_path / "MEMORY.md").exists()


async def test_forgetting_takes_out_one_entry_and_shows_it(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    file = pi_agent_dir / "MEMORY.md"
    file.write_text("# Mine\r\n\r\n- likes tea\r\n  very hot\r\n- likes coffee\r\n\r\nfree text\r\n", newline="")
    fake_ui.answers(True)

    result, failed = await called(pi_session, script, "forget", text="tea")

    assert not failed
    assert "likes tea\n  very hot" in result
    assert file.read_bytes() == b"# Mine\r\n\r\n- likes coffee\r\n\r\nfree text\r\n"


@pytest.mark.parametrize("wanted", ["likes", "beer"])
async def test_what_fits_none_or_several_entries_is_not_forgotten(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path, wanted: str
) -> None:
    file = pi_agent_dir / "MEMORY.md"
    file.write_text("- likes tea\n- likes coffee\n")

    result, failed = await called(pi_session, script, "forget", text=wanted)

    assert failed
    assert "likes tea" in result
    assert file.read_text() == "- likes tea\n- likes coffee\n"


async def test_what_was_changed_while_the_user_was_asked_stays(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    file = pi_agent_dir / "MEMORY.md"
    file.write_text("- one\n")
    fake_ui.never_answers()
    waiting = asyncio.create_task(called(pi_session, script, "remember", text="two", section="New"))
    await fake_ui.opened()
    file.write_text("- one\n- by hand\n")
    fake_ui.release(True)
    await waiting

    assert file.read_text() == "- one\n- by hand\n\n## New\n- two\n"


async def test_a_memory_that_would_be_too_large_is_refused(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    file = pi_agent_dir / "MEMORY.md"
    file.write_text("x" * 32_760)
    fake_ui.answers(True)

    result, failed = await called(pi_session, script, "remember", text="one more")

    assert failed
    assert "32768 is the limit" in result
    assert file.read_text() == "x" * 32_760


async def test_the_same_is_not_written_twice(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    (pi_agent_dir / "MEMORY.md").write_text("* Likes tea\n")
    fake_ui.answers(True)

    result, failed = await called(pi_session, script, "remember", text="likes  TEA")

    assert not failed
    assert "Already in " in result
    assert (pi_agent_dir / "MEMORY.md").read_text() == "* Likes tea\n"
