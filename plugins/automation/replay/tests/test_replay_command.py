"""``pi replay`` on stored sessions of ``offline/rules``: output, exit codes, worktrees and compactions."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import click
import pytest

from pi_core import PluginHost, SessionManager, Settings, run
from pi_hookspecs import PiError
from pi_replay.command import run as run_command

pytestmark = pytest.mark.slow

EMPTY_CONFIG = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


@pytest.fixture
def work(tmp_path, monkeypatch, pi_plugin_index):
    """A folder with a file, in which pi works; the agent directory is apart from the user's."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("one two three\n")
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def host(work):
    return PluginHost(Settings.load(work))


@pytest.fixture
def session(host, work):
    """The file of a session with two prompts."""
    for prompt in ("Count the words in notes.txt", "Create a file named hello.txt with the text 'hi'"):
        manager = SessionManager.continue_recent(work, host=host)
        run(prompt, model="offline/rules", host=host, session_manager=manager)
    return manager.file


def replay(capsys, host, *arguments):
    code = run_command([*map(str, arguments)], host)
    output = capsys.readouterr()
    return code, output.out, output.err


def test_a_session_replays_without_divergence_and_touches_no_file(session, host, work, capsys):
    (work / "hello.txt").unlink()

    code, output, _ = replay(capsys, host, session)

    assert code == 0
    assert "No divergence in 2 prompts." in output
    assert "1 equal" in output
    assert not (work / "hello.txt").exists()
    assert SessionManager.continue_recent(work, host=host).file == session


def test_a_page_that_cannot_be_written_is_refused_before_the_replay(session, host, capsys, tmp_path):
    for arguments in ([session], [session, "--matrix", "recorded"]):
        with pytest.raises(PiError, match=r"^--html '.*' cannot be written: its folder does not exist"):
            replay(capsys, host, *arguments, "--html", tmp_path / "nowhere" / "report.html")

    assert SessionManager.continue_recent(Path.cwd(), host=host).file == session


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")  # noqa: PTH110
def test_a_report_is_printed_even_if_its_page_does_not_fit_on_the_disk(session, host, capsys):
    with pytest.raises(PiError, match="cannot be written to '/dev/full': No space left on device"):
        replay(capsys, host, session, "--html", "/dev/full")

    assert "No divergence in 2 prompts." in capsys.readouterr().out


def test_the_report_as_json_has_each_prompt_and_the_new_session(session, host, capsys):
    code, output, _ = replay(capsys, host, session, "--json")
    report = json.loads(output)

    assert (code, report["divergence"]) == (0, None)
    assert [turn["equalCalls"] for turn in report["turns"]] == [True, True]
    assert SessionManager.open(report["file"], host=host).get_header().parent_session == str(session)


def test_of_a_session_in_a_database_it_is_said_what_opens_the_new_one(host, work, capsys):
    pytest.importorskip("pi_session_sqlite")
    host.settings.set("sessionStore", "sqlite")
    host = PluginHost(Settings.load(work))
    manager = SessionManager.create(work, host=host)
    run("Count the words in notes.txt", model="offline/rules", host=host, session_manager=manager)

    code, output, _ = replay(capsys, host, manager.reference)
    options = output.partition("; pi ")[2].split()

    assert code == 0
    found = SessionManager.open(options[3], options[1], host=host)
    assert found.get_header().parent_session == manager.reference


def test_a_changed_recording_is_shown_beside_the_call_that_was_made(session, host, capsys):
    changed = session.with_name("changed.jsonl")
    changed.write_text(
        session.read_text().replace('"arguments":{"path":"notes.txt"', '"arguments":{"path":"other.txt"')
    )

    code, output, _ = replay(capsys, host, changed)

    assert code == 1
    assert "The replay diverges at prompt 1" in output
    assert 'recorded: read {"path": "other.txt"}' in output
    assert 'replayed: read {"path": "notes.txt"}' in output


def test_until_replays_the_prompts_up_to_an_entry(session, host, capsys):
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    first = next(line["id"] for line in lines if line.get("message", {}).get("role") == "user")

    _, output, _ = replay(capsys, host, session, "--until", first)

    assert "No divergence in 1 prompt." in output


@pytest.mark.parametrize("ignored", ["", "hello.txt\n"])
def test_live_tools_run_in_a_worktree_and_what_they_changed_is_kept(session, host, work, capsys, monkeypatch, ignored):
    for name, value in EMPTY_CONFIG.items():
        monkeypatch.setenv(name, value)
    (work / "hello.txt").unlink()
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / ".git" / "info" / "exclude").write_text(ignored)
    subprocess.run(["git", "add", "notes.txt"], cwd=work, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-qm", "Begin"], cwd=work, check=True)

    code, output, _ = replay(capsys, host, session, "--tools", "live-in-worktree")

    assert code == 0, output
    assert "The tools changed files, in " in output
    assert "hello.txt" in output
    assert not (work / "hello.txt").exists()


def test_a_compacted_session_says_where_its_replay_begins(session, host, capsys):
    manager = SessionManager.open(session, host=host)
    manager.append_compaction("Words were counted.", manager.get_leaf_id(), 1000)
    run("Count the words in notes.txt", model="offline/rules", host=host, session_manager=manager)

    code, output, _ = replay(capsys, host, session, "--json")
    report = json.loads(output)

    assert (code, len(report["turns"]), report["divergence"]) == (0, 1, None)
    assert report["notes"][0].startswith("The session was compacted")
    assert "Words were counted." in session.parents[3].joinpath(report["file"]).read_text()


@pytest.mark.parametrize("arguments", [[], ["x", "--tools", "live"], ["x", "--at", "HEAD"]])
def test_wrong_use_is_refused(arguments, host):
    with pytest.raises(click.UsageError):
        run_command(arguments, host)


def test_help_is_printed(host, capsys):
    code, output, _ = replay(capsys, host, "--help")

    assert code == 0
    assert "Usage: pi replay" in output


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--disable", "memroy"], "memory"), (["--model", "nobody/x"], "nobody"), (["--until", "x"], "no such entry")],
)
def test_unknown_names_are_refused(options, says, session, host):
    with pytest.raises(PiError, match=says):
        run_command([str(session), *options], host)


def test_a_session_whose_folder_is_gone_is_replayed_in_an_empty_one(session, host, work, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    work.rename(tmp_path / "elsewhere")

    code, output, _ = replay(capsys, host, str(session))

    assert code == 0
    assert f"The folder of the session, {str(work)!r}, does not exist: the replay ran in an empty one." in output


def test_tools_do_not_run_without_the_folder_of_the_session(session, host, work, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work.rename(tmp_path / "elsewhere")

    with pytest.raises(PiError, match="Restore it, or replay with the recorded tools"):
        run_command([str(session), "--tools", "live-in-worktree"], host)
