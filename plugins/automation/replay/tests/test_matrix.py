"""``pi replay --matrix``: what it says, its table, and replays in processes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import PluginHost, SessionManager, Settings, run
from pi_hookspecs import PiError
from pi_replay.command import run as run_command
from pi_replay.html import page
from pi_replay.matrix import Cell, InvalidMatrix, Matrix, Outcome
from pi_replay.show import show_matrix
from pi_testing import for_each

NAMES = st.from_regex(r"[a-wyz][a-z0-9_.:/-]{0,8}", fullmatch=True).filter(lambda name: name not in {"all", "recorded"})


@pytest.fixture
def host(tmp_path, monkeypatch, pi_plugin_index):
    """That of a folder with a file; the agent directory is apart from the user's."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text("one two three\n")
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    monkeypatch.chdir(work)
    return PluginHost(Settings.load(work))


@pytest.fixture
def session(host):
    """The file of a session with two prompts."""
    for prompt in ("Count the words in notes.txt", "Create a file named hello.txt with the text 'hi'"):
        manager = SessionManager.continue_recent(Path.cwd(), host=host)
        run(prompt, model="offline/rules", host=host, session_manager=manager)
    return manager.file


def test_models_are_combined_with_plugin_sets():
    cells = Matrix.parse("recorded, acme/one:high x all, -memory, -skills  -memory").cells

    assert [each.names for each in cells] == [
        ("recorded", "all"),
        ("recorded", "-memory"),
        ("recorded", "-memory -skills"),
        ("acme/one:high", "all"),
        ("acme/one:high", "-memory"),
        ("acme/one:high", "-memory -skills"),
    ]


def test_without_plugin_sets_all_plugins_are_used():
    assert Matrix.parse("acme/max").cells == [Cell("acme/max")]


@given(
    st.lists(NAMES, min_size=1, max_size=4, unique=True),
    st.lists(st.frozensets(NAMES, max_size=3), min_size=1, max_size=4, unique=True),
)
def test_what_names_the_cells_is_read_again(models, sets):
    cells = Matrix(tuple(models), tuple(tuple(sorted(each)) for each in sets)).cells
    words = [dict.fromkeys(each.names[part] for each in cells) for part in (0, 1)]

    assert Matrix.parse(" x ".join(map(", ".join, words))).cells == cells


@for_each(
    ("text", "why"),
    [
        ("", "empty model"),
        ("a,,b", "empty model"),
        ("a x all,", "empty plugin set"),
        ("a x b x c", "more than one"),
        ("a b x all", "not a model"),
        ("-memory", "not a model"),
        ("a x memory", "not part of a plugin set"),
        ("a x all -memory", "not part of a plugin set"),
        ("a x -", "not part of a plugin set"),
        ("a, a", "twice"),
        ("a x -b -c, -c -b", "twice"),
    ],
)
def test_a_matrix_of_another_form_is_refused_with_the_reason(text, why):
    with pytest.raises(InvalidMatrix, match=why):
        Matrix.parse(text)


def test_the_table_has_a_row_for_each_combination_and_names_what_failed(capsys):
    usage = {"tokens": 5, "dollars": 0.02, "cacheRate": 0.5}
    turn = {"equalCalls": True, "textDistance": 0.0}
    equal = {"turns": [turn, turn], "divergence": None, "error": None, "recorded": usage, "replayed": usage}
    other = {**equal, "turns": [turn, {"equalCalls": False, "textDistance": 0.5}], "divergence": {"turn": 2}}
    failed = {**equal, "turns": [turn], "error": "Prompt 1 failed: \x1b[31mno money"}

    show_matrix([
        Outcome(Cell(None), equal, prompts=2),
        Outcome(Cell("acme/one", ("memory",)), other, prompts=2),
        Outcome(Cell("acme/two"), failed, prompts=2),
        Outcome(Cell("acme/three"), error="pi ended with 1: no key"),
    ])  # fmt: skip

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1][:7] == ["recorded", "all", "2", "of", "2", "2", "-"]
    assert rows[2][:11] == ["acme/one", "-memory", "2", "of", "2", "1", "prompt", "2", "25%", "differs", "0.0200"]
    assert rows[4][:3] == ["acme/three", "all", "failed"]
    assert " ".join(rows[6]) == "acme/two x all: Prompt 1 failed: \\x1b[31mno money"
    assert " ".join(rows[7]) == "acme/three x all: pi ended with 1: no key"
    assert " ".join(rows[8]) == "1 of 4 replays have no divergence."


@pytest.mark.parametrize(
    "arguments",
    [
        ["--matrix", "-memory"],
        ["--matrix", "recorded", "--model", "x"],
        ["--concurrency", "2"],
        ["y"],
        ["y", "--matrix", "recorded", "--until", "e"],
    ],
)
def test_wrong_use_is_refused(arguments, host):
    with pytest.raises(click.UsageError):
        run_command(["x", *arguments], host)


@pytest.mark.parametrize(("matrix", "says"), [("nobody/x", "nobody"), ("recorded x -memroy", "memory")])
def test_unknown_models_and_plugins_are_refused_before_the_first_replay(matrix, says, session, host, tmp_path):
    with pytest.raises(PiError, match=says):
        run_command([str(session), "--matrix", matrix], host)

    assert not (tmp_path / "agent" / "replays").exists()


@pytest.mark.slow
def test_every_combination_is_replayed_in_a_process_of_its_own(session, host, capsys):
    code = run_command([str(session), "--matrix", "recorded, offline/rules x all, -memory", "--json"], host)
    found = json.loads(capsys.readouterr().out)

    assert (code, found["prompts"]) == (0, 2)
    assert [(each["model"], each["disable"]) for each in found["replays"]] == [
        (None, []),
        (None, ["memory"]),
        ("offline/rules", []),
        ("offline/rules", ["memory"]),
    ]
    assert len({each["report"]["file"] for each in found["replays"]}) == 4
    assert all(turn["equalCalls"] for each in found["replays"] for turn in each["report"]["turns"])


@pytest.mark.slow
def test_several_sessions_are_replayed_with_each_combination_and_a_page_shows_all(session, host, capsys, tmp_path):
    manager = SessionManager.create(Path.cwd(), host=host)
    run("Say <b>&\ud800 hi", model="offline/rules", host=host, session_manager=manager)
    html = tmp_path / "report.html"
    several = [str(session), str(manager.file), str(session), "--html", str(html)]

    code = run_command([*several, "--matrix", "recorded x all, -memory"], host)
    rows = capsys.readouterr().out.splitlines()

    assert code == 0
    assert rows[0].startswith("session ")
    assert [line.split()[0] for line in rows[1:5]] == [
        Path(each).stem for each in (session, manager.file) for _ in range(2)
    ]
    assert rows[-1] == "4 of 4 replays have no divergence."
    page = html.read_text("utf-8")
    assert page.count("<details>") == 4
    assert "Create a file named hello.txt" in page
    assert "Say &lt;b&gt;&amp;? hi" in page
    assert "http" not in page


def test_a_page_shows_what_diverged_and_what_failed():
    call = {"name": "bash", "arguments": {"command": "echo '<x>'"}}
    side = {"dollars": 0.5, "cacheRate": None}
    turn = {"turn": 1, "prompt": "Fix", "equalCalls": False, "changedArguments": 1, "textDistance": 0.25}
    report = {
        "turns": [{**turn, "recorded": {**side, "calls": []}, "replayed": {**side, "calls": [call]}}],
        "divergence": {"turn": 1, "entry": "e1", "call": call, "recorded": None},
        "error": None, "recorded": side, "replayed": side, "notes": ["In an empty folder."], "file": "/s.jsonl",
    }  # fmt: skip

    made = page([Outcome(Cell("a/b"), report, session="s", prompts=3), Outcome(Cell("c/d"), error="<no key>")])

    assert "<td>1 of 3</td><td>0</td><td>prompt 1</td><td>25% differs</td>" in made
    assert "<td>0 -&gt; 1</td><td>1 changed</td><td>25% differs</td>" in made
    assert (
        "recorded: no more calls\nreplayed: bash {&quot;command&quot;: &quot;echo &#x27;&lt;x&gt;&#x27;&quot;}" in made
    )
    assert made.count("<details open>") == 2
    assert "<p>&lt;no key&gt;</p>" in made
    assert "<p>In an empty folder.</p>" in made


@pytest.mark.slow
def test_a_plugin_that_the_session_needs_fails_its_own_combination_only(session, host, capsys):
    code = run_command([str(session), "--matrix", "recorded x all, -provider-offline"], host)
    output = capsys.readouterr().out

    assert code == 1
    assert "recorded x -provider-offline: pi ended with 1: " in output
    assert "1 of 2 replays have no divergence." in output


@pytest.mark.slow
def test_live_replays_have_a_worktree_each(session, host, capsys, monkeypatch):
    for name in ("GLOBAL", "SYSTEM"):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", "/dev/null")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "notes.txt"], [*who, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *command], check=True)

    options = ["--tools", "live-in-worktree", "--json"]
    code = run_command([str(session), "--matrix", "recorded x all, -memory", *options], host)
    replays = json.loads(capsys.readouterr().out)["replays"]

    assert code == 0
    notes = [each["report"]["notes"][0] for each in replays]
    assert len(set(notes)) == 2
    assert all("hello.txt" in each for each in notes)
