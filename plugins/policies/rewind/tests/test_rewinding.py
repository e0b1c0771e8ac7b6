"""A session that writes, ``/rewind``, ``pi rewind``, and undo."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess

import click
import pytest

import pi_rewind
import pi_tools
from pi_core import Settings, create_agent_session
from pi_hookspecs import CustomEntry, CustomMessage, UserError, hookimpl
from pi_rewind.about import split_name
from pi_rewind.command import rewind
from pi_rewind.points import Points
from pi_rewind.subcommand import run_subcommand
from pi_testing import text, tool_call


class Applying:
    """A plugin with a command that writes a file, and reports it."""

    @hookimpl
    def activate(self, pi):
        @pi.register_command("apply")
        def apply(_args, ctx):
            (ctx.cwd / "applied.txt").write_text("the work of an agent")
            pi.events.emit("files_changed")


@pytest.fixture
def pi_plugins():
    return {"rewind": pi_rewind, "tools": pi_tools, "applying": Applying()}


@pytest.fixture
def work(pi_session):
    """The session's folder, a repository with one file."""
    root = pi_session.cwd
    env = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    subprocess.run(["git", "init", "-q"], cwd=root, env=env, check=True)
    (root / "a.txt").write_text("one\n")
    return root


@pytest.fixture
def says(pi_session, script):
    """``await says("write two")``: a prompt that the model answers with a call that writes."""

    async def ask(words, path="a.txt"):
        script.turn(tool_call("write", path=path, content=f"{words}\n")).turn(text("done"))
        await pi_session.prompt(words)
        await settled()

    return ask


async def settled():
    """Wait until the last checkpoint is stored."""
    making = [each for each in asyncio.all_tasks() if each.get_coro().__qualname__.startswith("Recording._make")]
    await asyncio.gather(*making)


def points(session):
    return Points.of(session.ctx.session.entries(), session.ctx.session.branch())


async def test_each_prompt_has_a_checkpoint(pi_session, work, says):
    await says("two")
    await says("three")

    assert [each.text for each in points(pi_session).points] == ["two", "three"]
    kinds = [each.data["kind"] for each in pi_session.ctx.session.entries() if isinstance(each, CustomEntry)]
    assert kinds == ["before", "after", "before", "after"]


async def test_files_and_conversation_go_back_together(pi_session, work, says, fake_ui):
    await says("two")
    await says("three", "new.txt")
    fake_ui.answers(True)

    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry}")

    assert (work / "a.txt").read_text() == "one\n"
    assert not (work / "new.txt").exists()
    assert not any(
        entry.type == "message" and entry.message.role == "user" for entry in pi_session.ctx.session.branch()
    )


async def test_undo_brings_files_and_conversation_back(pi_session, work, says, fake_ui):
    await says("two")
    leaf = pi_session.ctx.session.leaf_id
    fake_ui.answers(True)
    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry}")

    await pi_session.prompt("/rewind undo")

    assert (work / "a.txt").read_text() == "two\n"
    assert leaf in [entry.id for entry in pi_session.ctx.session.branch()]


async def test_undo_brings_back_a_message_of_a_plugin_that_came_last(pi_session, work, says, fake_ui):
    await says("two")
    await pi_session.send_custom_message(CustomMessage(custom_type="agents", content="The agent is done."))
    fake_ui.answers(True)
    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry}")

    await pi_session.prompt("/rewind undo")

    assert "The agent is done." in [getattr(entry, "content", "") for entry in pi_session.ctx.session.branch()]


async def test_a_rewind_without_changed_files_says_so(pi_session, work, script, fake_ui):
    script.turn(tool_call("read", path="a.txt")).turn(text("done"))
    await pi_session.prompt("look " * 20)
    await settled()

    entry = points(pi_session).points[0].entry
    assert points(pi_session).points[0].text == f"{'look ' * 11}look…"
    await pi_session.prompt(f"/rewind {entry}")
    await pi_session.prompt("/rewind undo")

    assert [each.message for each in fake_ui.notices] == [
        "No file had changed. The prompt is in the editor; clear it first to undo the rewind with /rewind undo.",
        "Back to before the rewind.",
    ]


async def test_completion_keeps_the_words_before_the_one_that_is_typed(pi_session, work):
    offered = await pi_session.completions.arguments("rewind", "1f0c9a2e fi")

    assert [each.value for each in offered] == ["1f0c9a2e files"]


async def test_ignored_files_that_were_deleted_are_reported(pi_session, work, says, fake_ui):
    (work / ".gitignore").write_text("*.log\nbuild/\n")
    (work / "run.log").write_text("a day of results")
    (work / "kept.log").write_text("")
    (work / "build").mkdir()
    (work / "build" / "out").write_text("x")
    await says("two")
    (work / "run.log").unlink()
    shutil.rmtree(work / "build")
    fake_ui.answers(True)

    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry} files")

    assert "Deleted since, and in no checkpoint: build/, run.log." in fake_ui.notices[-1].message


async def test_the_files_alone_go_back(pi_session, work, says, fake_ui):
    await says("two")
    fake_ui.answers(True)

    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry} files")

    assert (work / "a.txt").read_text() == "one\n"
    assert len(points(pi_session).points) == 1


async def test_a_prompt_is_chosen_from_a_list(pi_session, work, says, fake_ui):
    await says("two")
    await says("three")
    second = points(pi_session).points[1]
    fake_ui.answers(f"{second.entry}  now  1 file  three", "Files", True)

    await pi_session.prompt("/rewind")

    assert (work / "a.txt").read_text() == "two\n"


async def test_the_list_counts_the_files_that_returning_changes(pi_session, work, says, script, fake_ui):
    await says("two")
    await says("also", path="b.txt")
    script.turn(text("nothing to do"))
    await pi_session.prompt("look")
    await settled()
    fake_ui.answers(None)

    await pi_session.prompt("/rewind")

    listed = [row.split("  ", 1)[1].split() for row in fake_ui.asked[-1].options]
    assert listed == ["now 0 files look".split(), "now 1 file also".split(), "now 2 files two".split()]


async def test_a_preview_that_is_refused_changes_nothing(pi_session, work, says, fake_ui):
    await says("two")
    fake_ui.answers(False)

    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry}")

    assert (work / "a.txt").read_text() == "two\n"


async def test_the_users_own_changes_are_not_lost_without_force(pi_session, work, says, fake_ui):
    await says("two")
    (work / "a.txt").write_text("mine\n")
    entry = points(pi_session).points[0].entry
    fake_ui.answers(True)  # it is refused before it asks

    with pytest.raises(UserError, match=r"Changed since the last checkpoint, and not by pi: a\.txt"):
        await rewind(f"{entry} files", pi_session.ctx)
    await rewind(f"{entry} files --force", pi_session.ctx)

    assert (work / "a.txt").read_text() == "one\n"


async def test_what_a_command_of_a_plugin_has_changed_is_not_the_users_own(pi_session, work, says, fake_ui):
    await says("two")
    await pi_session.prompt("/apply")
    await settled()
    fake_ui.answers(True)

    await rewind(f"{points(pi_session).points[0].entry} files", pi_session.ctx)

    assert not (work / "applied.txt").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("ffff", "no prompt has a checkpoint and the id 'ffff'"),
        ("undo", "Nothing was rewound"),
        ("a b", "Use /rewind"),
        ("", "No prompt of this conversation has a checkpoint yet"),
    ],
)
async def test_what_is_not_there_is_explained(pi_session, work, args, message):
    with pytest.raises(UserError, match=f"(?i){message}"):
        await rewind(args, pi_session.ctx)


async def test_without_git_the_command_says_what_is_missing(pi_session, work, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UserError, match="it is not on PATH"):
        await rewind("", pi_session.ctx)


async def test_outside_a_repository_nothing_is_stored_and_the_command_says_why(pi_session, says):
    await says("two")

    assert not (pi_session.settings.agent_dir / "rewind").exists()
    with pytest.raises(UserError, match=r'is not in a git repository\. "rewind": \{"enabled": true\}'):
        await rewind("", pi_session.ctx)


@pytest.mark.slow
@pytest.mark.pi(settings={"rewind": {"enabled": True}})
async def test_of_a_large_folder_without_a_repository_what_write_and_edit_change_comes_back(
    pi_session, says, script, fake_ui, monkeypatch
):
    monkeypatch.setattr("pi_rewind.places.MOST_FILES", 2)
    root = pi_session.cwd
    for name in ("a.txt", "b.txt", "c.txt"):
        (root / name).write_text("one\n")
    await says("two")
    await says("new", "sub/new.txt")
    (root / "b.txt").write_text("the user's\n")
    await says("three", "b.txt")
    assert "restores only what the tools write and edit have changed" in str(fake_ui.notices)
    fake_ui.answers(True)
    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry} files")
    rewound = {each: (root / each).read_text() for each in ("a.txt", "b.txt", "c.txt")}
    was_removed = not (root / "sub").exists()
    await pi_session.prompt("/rewind undo")

    assert rewound == {"a.txt": "one\n", "b.txt": "the user's\n", "c.txt": "one\n"}
    assert was_removed
    assert (root / "sub" / "new.txt").read_text() == "new\n"
    assert [(root / each).read_text() for each in ("a.txt", "b.txt")] == ["two\n", "three\n"]


async def test_what_the_user_changes_beside_an_edit_is_in_the_next_checkpoint(pi_session, work, says, fake_ui):
    await says("two")
    (work / "b.txt").write_text("mine\n")
    await says("three")
    (work / "b.txt").write_text("later\n")
    fake_ui.answers(True)

    await pi_session.prompt(f"/rewind {points(pi_session).points[1].entry} files --force")

    assert [(work / each).read_text() for each in ("a.txt", "b.txt")] == ["two\n", "mine\n"]


async def test_what_was_changed_before_a_refused_preview_is_in_the_next_checkpoint(pi_session, work, says, fake_ui):
    await says("two")
    (work / "b.txt").write_text("mine\n")
    fake_ui.answers(False)
    await pi_session.prompt(f"/rewind {points(pi_session).points[0].entry} files --force")
    await says("three")
    (work / "b.txt").unlink()
    fake_ui.answers(True)

    await pi_session.prompt(f"/rewind {points(pi_session).points[1].entry} files --force")

    assert (work / "b.txt").read_text() == "mine\n"


async def test_a_tool_that_only_reads_waits_for_no_checkpoint(pi_session, work, script):
    script.turn(tool_call("read", path="a.txt")).turn(text("done"))

    await pi_session.prompt("look")
    await settled()

    kinds = [each.data["kind"] for each in pi_session.ctx.session.entries() if isinstance(each, CustomEntry)]
    assert kinds == ["before"]


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / "a.txt").write_text("one\n")
    return root


@pytest.mark.slow
async def test_a_stored_session_is_listed_rewound_and_undone_from_the_command_line(
    tmp_path, repository, capsys, script
):
    settings = Settings.in_memory({}, tmp_path / "agent")
    script.turn(tool_call("write", path="a.txt", content="two\n")).turn(text("done"))
    options = {"model": script.model, "settings": settings, "cwd": repository}
    async with create_agent_session(plugins={"script": script}, **options) as session:
        await session.prompt("write two")
        await settled()
        file, host = str(session.session_file), session.host

    def run(*arguments):
        code = run_subcommand([file, *arguments], host)
        return code, capsys.readouterr().out

    code, listed = await asyncio.to_thread(run, "--list")
    entry = listed.split()[0]
    await asyncio.to_thread(run, "--to", entry, "-y")
    rewound = (repository / "a.txt").read_text()
    await asyncio.to_thread(run, "--undo")

    assert (code, rewound) == (0, "one\n")
    assert listed.endswith("  1 file  write two\n")
    assert (repository / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize("arguments", [["s"], ["s", "--list", "--undo"], ["--list"], ["s", "--nothing"]])
def test_wrong_use_of_the_command_line_is_refused(arguments):
    with pytest.raises(click.UsageError):
        run_subcommand(arguments, None)


async def test_objects_that_are_none_of_a_checkpoint_are_not_used(pi_session, work, says, fake_ui):
    fake_ui.dismiss_unexpected = True
    outside, failures = work.parent / "outside", []
    pi_session.subscribe(lambda event: failures.append(event.stack), "extension_error")
    for content in ("[]", "{", "7", json.dumps({"usual": 0o644, "modes": {}, "empty": ["../outside"]})):
        await says(content)
        blob = hashlib.sha1(f"blob {len(content) + 1}\0{content}\n".encode(), usedforsecurity=False).hexdigest()
        point = points(pi_session).points[-1]
        tree, _ = split_name(point.tree)
        data = {"kind": "before", "tree": f"{tree}:{blob}", "entry": point.entry}
        pi_session.append_entry("rewind", {**data, "ignored": blob})
        await pi_session.prompt(f"/rewind {point.entry} files --force")

    assert not outside.exists()
    assert not any(failures)  # a refusal has no stack


async def test_entries_that_are_none_of_this_version_are_passed_over(pi_session, work, says, fake_ui):
    await says("two")
    [point] = points(pi_session).points
    usual = {"kind": "before", "tree": point.tree, "entry": point.entry}
    pi_session.append_entry("rewind", {**usual, "ignored": point.tree.split(":")[0], "leftOut": 5})
    for data in (
        *(None, [], "text", {}, {"kind": "before", "entry": point.entry}),
        *({**usual, "tree": odd} for odd in (None, [], "", "--output=a.txt", "HEAD:a.txt")),
        {"kind": "restored", "tree": point.tree, "undo": "--output=a.txt"},
        {"kind": "restored", "tree": point.tree},
    ):
        pi_session.append_entry("rewind", data)
    found = points(pi_session)
    fake_ui.answers(True)
    await pi_session.prompt(f"/rewind {point.entry} files --force")

    assert [(each.tree, each.left_out) for each in found.points] == [(point.tree, ())]
    assert found.restored is None
    assert (work / "a.txt").read_text() == "one\n"
