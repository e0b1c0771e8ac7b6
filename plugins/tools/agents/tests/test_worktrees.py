"""Agents in worktrees: what they begin with, what is kept, how it comes into the user's files."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess

import pytest
from attrs import evolve

import pi_agents
from pi_agents.kept import repository as repository_for
from pi_agents.subcommand import run_subcommand
from pi_cli.worktree import enter_worktree
from pi_core import SessionManager, create_agent_session
from pi_hookspecs import CustomEntry, UserError
from pi_testing import stall, text, tool_call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.pi(
        plugins={"agents": pi_agents},
        entry_points=["session-jsonl", "tools"],
        stored=True,
        settings={"agents": {"enabled": True}},
    ),
]


def git(folder, *arguments):
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A repository with a committed, a staged, a changed, an untracked and an ignored file."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "tide.py").write_text("".join(f"line {number}\n" for number in range(20)))
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("main\n")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "begin")
    (tmp_path / "src" / "main.py").write_text("main, changed\n")
    (tmp_path / "staged.py").write_text("staged\n")
    git(tmp_path, "add", "staged.py")
    (tmp_path / "new.py").write_text("new\n")
    (tmp_path / "noise.log").write_text("noise\n")
    return tmp_path


def records(session):
    custom = (each for each in session.ctx.session.entries() if isinstance(each, CustomEntry))
    return [each.data for each in custom if each.custom_type == "agent"]


def state(folder):
    """What git knows of the user's own work: HEAD, branch, index, stash."""
    return [
        git(folder, *each.split())
        for each in ("rev-parse HEAD", "branch --show-current", "ls-files --stage", "stash list")
    ]


def bash(command):
    return tool_call("bash", command=command)


async def work(session, script, *turns, isolation="worktree", **arguments):
    """Let an agent work; return its result, whether it failed, and its id."""
    script.turn(tool_call("task", prompt="Work", description="Working", isolation=isolation, **arguments))
    for each in turns:
        script.turn(each)
    if turns:
        script.turn(text("Worked."))
    script.turn(text("Done."))
    await session.prompt("begin")
    message = next(each for each in reversed(session.messages) if each.role == "toolResult")
    found = re.search(r"\[agent ([0-9a-f]{8}),", message.content[0].text)
    return message.content[0].text, message.is_error, found and found[1]


async def test_an_agent_begins_with_the_users_files_and_leaves_them_alone(repository, pi_session, script, pi_agent_dir):
    before = state(repository)
    result, failed, member_id = await work(
        pi_session, script, bash("cat src/main.py staged.py new.py; ls; pwd; echo 2 > src/main.py; git status --short")
    )

    (worktree,) = (pi_agent_dir / "worktrees").glob("*/*")
    seen = script.requests[2].tool_results[0].content[0].text
    assert not failed
    assert seen.startswith("main, changed\nstaged\nnew\nnew.py\nsrc\nstaged.py\ntide.py\n" + str(worktree))
    assert f"kept in {worktree}, branch pi/{member_id}" in result
    assert " src/main.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)" in result
    assert (repository / "src" / "main.py").read_text() == "main, changed\n"
    assert git(repository, "show", f"pi/{member_id}:src/main.py") == "2"
    assert state(repository) == before


async def test_an_agent_works_in_the_same_subfolder(repository, pi_host, script, pi_agent_dir):
    below = repository / "src"
    async with create_agent_session(
        cwd=below, host=pi_host, settings=pi_host.settings, plugins={"script": script}, model=script.model,
        session_manager=SessionManager.in_memory(below),
    ) as session:  # fmt: skip
        await work(session, script, bash("pwd"))

    assert re.search(r"/worktrees/[^/]+/[0-9a-f]{8}/src\n?$", script.requests[2].tool_results[0].content[0].text)


async def test_a_worktree_without_changes_is_removed(repository, pi_session, script, pi_agent_dir):
    result, failed, _ = await work(pi_session, script, bash("cat tide.py; mkdir node_modules; touch node_modules/a"))

    assert not failed
    assert "It changed no files; its worktree is removed." in result
    assert list((pi_agent_dir / "worktrees").glob("*/*")) == []
    assert git(repository, "branch", "--list", "pi/*") == ""
    assert git(repository, "for-each-ref", "refs/pi") == ""
    assert git(repository, "worktree", "list").count("\n") == 0


async def test_two_agents_work_at_once_and_their_work_is_merged(repository, pi_session, script, fake_ui):
    def edit(request):
        line = request.user_text.removeprefix("line ")
        return bash(f"sed -i 's/^line {line}$/LINE {line}/' tide.py; echo {line} > {line}.txt")

    def answer(request):
        return edit(request) if request.messages[-1].role == "user" else text("Worked.")

    numbers = (2, 17)
    script.turn(*(tool_call("task", prompt=f"line {each}", isolation="worktree") for each in numbers))
    for _ in range(4):
        script.turn(answer)
    script.turn(text("Done."))
    await pi_session.prompt("begin")
    before = state(repository)
    (repository / "tide.py").write_text((repository / "tide.py").read_text().replace("line 9\n", "my line 9\n"))
    ids = [each["id"] for each in records(pi_session)]
    fake_ui.answers(True, True)
    for each in ids:
        await pi_session.prompt(f"/agents apply {each}")

    changed = [
        line for line in (repository / "tide.py").read_text().splitlines() if not re.fullmatch(r"line \d+", line)
    ]
    assert changed == ["LINE 2", "my line 9", "LINE 17"]
    assert [(repository / f"{each}.txt").read_text() for each in numbers] == ["2\n", "17\n"]
    assert [dialog.kind for dialog in fake_ui.asked] == ["confirm", "confirm"]
    assert "+LINE" in fake_ui.asked[0].text
    assert state(repository) == before


async def test_work_that_conflicts_changes_nothing_and_names_the_files(repository, pi_session, script, recorder):
    _, _, member_id = await work(pi_session, script, bash("sed -i 's/^line 2$/theirs/' tide.py; echo x > x.txt"))
    mine = (repository / "tide.py").read_text().replace("line 2\n", "mine\n")
    (repository / "tide.py").write_text(mine)
    before = state(repository)
    pi_session.subscribe(recorder, "extension_error")
    await pi_session.prompt(f"/agents apply {member_id}")

    (report,) = recorder.events
    assert f"The work of {member_id} conflicts with your files, and nothing was changed: tide.py." in report.error
    assert (repository / "tide.py").read_text() == mine
    assert not (repository / "x.txt").exists()
    assert state(repository) == before


async def test_the_command_line_applies_and_drops_work_and_reports_conflicts(
    repository, pi_session, script, pi_host, monkeypatch, capsys
):
    _, _, member_id = await work(pi_session, script, bash("sed -i 's/^line 2$/theirs/' tide.py; rm src/main.py"))
    monkeypatch.chdir(repository)

    def agents(*arguments):
        code = run_subcommand([*arguments], pi_host)
        output = capsys.readouterr()
        return code, json.loads(output.out) if "--json" in arguments else output.out + output.err

    (repository / "src" / "main.py").write_text("mine\n")
    conflict = agents("apply", "--json", member_id)
    said = agents("apply", member_id)
    (repository / "src" / "main.py").write_text("main, changed\n")
    applied = agents("apply", member_id, "--json")
    again = agents("apply", member_id)
    dropped = agents("drop", member_id, "--json")

    assert conflict == (1, {"id": member_id, "applied": False, "files": [], "conflicts": ["src/main.py"]})
    assert said[0] == 1
    assert "conflicts with your files, and nothing was changed: src/main.py." in said[1]
    assert applied == (
        0, {"id": member_id, "applied": True, "files": ["src/main.py", "tide.py"], "conflicts": [], "left": []}
    )  # fmt: skip
    assert "theirs" in (repository / "tide.py").read_text()
    assert again == (0, f"Your files already have the changes of {member_id}.\n")
    assert dropped[0] == 0
    assert dropped[1]["dropped"]
    assert agents("apply")[0] == agents("drop", "a", "b")[0] == 2
    with pytest.raises(UserError, match=f"There is no worktree '{member_id}'"):
        agents("drop", member_id)


async def test_work_that_was_applied_is_not_applied_twice(repository, pi_session, script, fake_ui):
    _, _, member_id = await work(pi_session, script, bash("echo x > x.txt"))
    fake_ui.answers(True)
    await pi_session.prompt(f"/agents apply {member_id}")
    await pi_session.prompt(f"/agents apply {member_id}")

    assert fake_ui.notices[-1].message.startswith(f"Your files already have the changes of {member_id}")


async def test_a_refused_preview_changes_nothing(repository, pi_session, script, fake_ui):
    _, _, member_id = await work(pi_session, script, bash("echo x > x.txt"))
    fake_ui.answers(False)
    await pi_session.prompt(f"/agents apply {member_id}")

    assert not (repository / "x.txt").exists()


async def test_a_worktree_is_dropped_with_its_branch(repository, pi_session, script, fake_ui, pi_agent_dir):
    _, _, member_id = await work(pi_session, script, bash("echo x > x.txt"))
    await pi_session.prompt("/agents worktrees")
    fake_ui.answers(True)
    await pi_session.prompt(f"/agents drop {member_id}")
    await pi_session.prompt("/agents worktrees")

    assert re.match(rf"{member_id}  pi/{member_id}  /.*\n x.txt \| 1 \+", fake_ui.notices[-3].message)
    assert fake_ui.notices[-1].message.startswith(
        f"{repository} has no worktrees of agents.\nIn the trash (/agents undo"
    )
    assert list((pi_agent_dir / "worktrees").glob("*/[!.]*")) == []
    assert git(repository, "branch", "--list", "pi/*") == ""


@pytest.mark.parametrize("named", [True, False])
async def test_a_dropped_worktree_comes_back_with_its_files_and_its_branch(
    repository, pi_session, script, fake_ui, pi_agent_dir, named
):
    _, _, member_id = await work(pi_session, script, bash("echo x > x.txt"))
    fake_ui.answers(True)
    await pi_session.prompt(f"/agents drop {member_id}")

    await pi_session.prompt(f"/agents undo {member_id}" if named else "/agents undo")

    (place,) = (pi_agent_dir / "worktrees").glob("*/[!.]*")
    assert fake_ui.notices[-1].message == f"{place} and the branch pi/{member_id} are back."
    assert (place / "x.txt").read_text() == "x\n"
    assert member_id in git(repository, "branch", "--list", "pi/*")


def test_the_repository_of_another_owner_is_refused_with_what_git_needs(repository):
    def foreign(request):
        return evolve(request, env={**request.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})

    with pytest.raises(UserError) as caught:
        repository_for(repository, prepare=foreign)

    assert str(caught.value) == (
        f"A worktree cannot be used: The repository '{repository}' belongs to another user, so git does not read it."
        f" If you trust its owner: git config --global --add safe.directory {repository}"
    )


async def test_uncommitted_work_of_a_session_with_w_is_applied(
    repository, pi_session, pi_agent_dir, fake_ui, monkeypatch
):
    monkeypatch.chdir(repository)
    folder = enter_worktree("tide", repository, {"PI_CODING_AGENT_DIR": str(pi_agent_dir)})
    (folder / "x.txt").write_text("x")
    fake_ui.answers(True)
    await pi_session.prompt("/agents apply tide")

    assert (repository / "x.txt").read_text() == "x"
    assert (repository / "src" / "main.py").read_text() == "main, changed\n"


async def test_what_the_agent_committed_elsewhere_is_on_its_branch(repository, pi_session, script):
    command = (
        "git checkout -q -b other; echo 1 > a; git add a; git -c user.name=a -c user.email=a commit -qm a; echo 2 > b"
    )
    _, _, member_id = await work(pi_session, script, bash(command))

    assert git(repository, "show", f"pi/{member_id}:a") == "1"
    assert git(repository, "show", f"pi/{member_id}:b") == "2"


async def test_programs_that_the_agent_configures_are_not_run(repository, pi_session, script, tmp_path):
    """The agent replaces the link to the repository by a repository of its own, whose configuration runs a program."""
    mark = tmp_path / "ran"
    command = f"rm .git; git init -q; git config core.fsmonitor 'touch {mark}; false'; echo x > x.txt"
    _, failed, member_id = await work(pi_session, script, bash(command))

    assert not failed
    assert git(repository, "show", f"pi/{member_id}:x.txt") == "x"
    assert not mark.exists()


async def test_an_aborted_agents_work_is_kept(repository, pi_session, script):
    script.turn(tool_call("task", prompt="Work", isolation="worktree"))
    script.turn(bash("echo x > x.txt")).turn(text("Thinking"), stall())
    prompt = asyncio.create_task(pi_session.prompt("begin"))
    await script.stalled()
    await pi_session.abort()
    await prompt

    (record,) = records(pi_session)
    assert record["status"] == "stopped"
    assert git(repository, "show", f"pi/{record['id']}:x.txt") == "x"


@pytest.mark.parametrize("word", ["apply", "drop"])
async def test_the_worktree_of_an_agent_that_works_is_left_alone(repository, pi_session, script, recorder, word):
    script.turn(tool_call("task", prompt="Work", isolation="worktree")).turn(text("Thinking"), stall())
    prompt = asyncio.create_task(pi_session.prompt("begin"))
    await script.stalled()
    await pi_session.prompt("/agents list")
    member_id = pi_session.ui.notices[-1].message.split()[0]
    pi_session.subscribe(recorder, "extension_error")
    await pi_session.prompt(f"/agents {word} {member_id}")
    await pi_session.abort()
    await prompt

    assert f"The agent {member_id} is still working. /agents stop {member_id} stops it" in recorder.events[0].error


@pytest.mark.parametrize("background", [False, True])
async def test_outside_a_repository_isolation_is_refused(pi_session, script, tmp_path, background):
    result, failed, _ = await work(pi_session, script, background=background)

    assert failed
    assert f"A worktree needs a git repository: '{tmp_path}' is not in a git repository" in result
    assert pi_session.children == ()


async def test_of_a_worktree_that_cannot_be_made_nothing_is_left(
    repository, pi_session, script, pi_agent_dir, monkeypatch
):
    monkeypatch.setattr("pi_agents.member.token_hex", lambda _: "0badcafe")
    (pi_agent_dir / "worktrees").mkdir()
    before = state(repository)
    await work(pi_session, script, bash("pwd"))  # makes the folder for worktrees, and leaves nothing in it
    (folder,) = (pi_agent_dir / "worktrees").iterdir()
    (folder / "0badcafe").mkdir()
    (folder / "0badcafe" / "file").touch()
    result, failed, _ = await work(pi_session, script)

    assert failed
    assert f"The worktree {folder / '0badcafe'} cannot be created: git worktree failed" in result
    assert len(pi_session.children) == 1
    assert state(repository) == before
    assert git(repository, "branch", "--list", "pi/*") == ""
    assert git(repository, "for-each-ref", "refs/pi") == ""


async def test_an_agent_that_removes_its_worktree_still_answers(repository, pi_session, script):
    result, failed, _ = await work(pi_session, script, bash('rm -rf "$PWD"'))

    assert not failed
    assert result.startswith("Worked.\n\nIts changes are kept in ")
    assert "no longer exists" in result


async def test_a_repository_without_commits_can_have_worktrees(tmp_path, pi_session, script):
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.py").write_text("a\n")
    _, failed, member_id = await work(pi_session, script, bash("cat a.py; echo b > b.py"))

    assert not failed
    assert git(tmp_path, "ls-tree", "--name-only", f"pi/{member_id}").split() == ["a.py", "b.py"]
