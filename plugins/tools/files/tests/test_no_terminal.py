"""Programs that want a terminal: an editor says that there is none and ends, unless the command chose one itself."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from pi_hookspecs import AbortController, CommandRequest
from pi_tools.commands.shell import environment
from pi_tools.user_command import ShellRunner

WORD = "There is no terminal here, so no editor can be opened."


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with two commits and something to commit; the user's git opens vim."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"):
        monkeypatch.delenv(name, raising=False)
    (home / ".gitconfig").write_text("[user]\nname = n\nemail = a@b\n[core]\neditor = vim\n")
    script = "git init -q; for n in 1 2; do echo $n > a; git add a; git commit -qm $n; done; echo 3 > a; git add a"
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    ["git commit", "git tag -a v1", "git commit --amend", "git rebase -i HEAD~1", "git stash -q; git rebase -i HEAD~1"],
)
@pytest.mark.parametrize("editor", [None, "vi", "nano", "code --wait"])
async def test_an_editor_ends_at_once_with_a_word(text, repository, monkeypatch, command, editor):
    if editor is not None:
        monkeypatch.setenv("EDITOR", editor)
        monkeypatch.setenv("VISUAL", editor)

    shown = await text("bash", command=command, timeout=60)

    assert WORD in shown or "cannot rebase" in shown
    assert "Command exited with code" in shown


@pytest.mark.parametrize(
    "command",
    [
        "git -c core.editor=true commit --amend",
        "EDITOR=true git commit --amend",
        "GIT_EDITOR=: git commit --amend",
        "git config core.editor 'sed -i s/2/two/'; git commit --amend",
        "git stash -q; GIT_SEQUENCE_EDITOR=true git rebase -i HEAD~1",
        "git stash -q; GIT_EDITOR=true git rebase -i HEAD~1",
        "git stash -q; git -c sequence.editor=: rebase -i HEAD~1",
        "git stash -q; EDITOR=true git rebase -i HEAD~1",
    ],
)
async def test_an_editor_that_the_command_chose_is_used(call, repository, command):
    result = await call("bash", command=command)

    assert not result.is_error, result.content[0].text


async def test_other_programs_find_no_editor_and_no_pager_either(text, ctx, monkeypatch):
    monkeypatch.setenv("GPG_TTY", "/dev/pts/1")
    monkeypatch.setenv("KUBE_EDITOR", "vi")

    shown = await text(
        "bash", command='sh -c "$EDITOR file"; sh -c "$KUBE_EDITOR file"; echo $MANPAGER ${GPG_TTY-unset}'
    )

    assert shown.count(WORD) == 2
    assert shown.endswith("cat unset\n")
    assert environment(ctx)["GIT_TERMINAL_PROMPT"] == "0"


async def user_command(command, ctx):
    request = CommandRequest(
        command=command, cwd=str(ctx.cwd), signal=AbortController().signal, on_output=lambda text: None
    )
    return (await ShellRunner().run_command(request, ctx)).output


async def test_an_editor_with_a_window_opens_for_the_user_alone(text, ctx, repository, monkeypatch):
    window = repository / "window"
    window.write_text('#!/bin/sh\necho by window > "$2"\n')
    window.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"{shlex.quote(str(window))} --wait")

    assert WORD in await text("bash", command="git commit")
    assert "by window" in await user_command("git commit", ctx)
    monkeypatch.setenv("VISUAL", "vim")
    assert WORD in await user_command("git commit --amend", ctx)
