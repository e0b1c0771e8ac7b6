"""A repository that names a program in every place where git looks for one; each writes its name when it runs."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

HOOKS = (
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change"
    " post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push"
    " pre-rebase pre-receive prepare-commit-msg push-to-checkout reference-transaction sendemail-validate update"
).split()

PROGRAMS = (
    "core.alternateRefsCommand core.askPass core.editor core.fsmonitor core.gitProxy core.pager core.sshCommand"
    " credential.helper credential.https://example.invalid.helper diff.bait.command diff.bait.textconv diff.external"
    " filter.bait.clean filter.bait.smudge filter.proc.process gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand"
    " interactive.diffFilter lfs.customtransfer.bait.path lfs.standalonetransferagent merge.bait.driver pager.branch"
    " pager.diff pager.log pager.show pager.status pager.worktree remote.origin.receivepack remote.origin.uploadpack"
    " sequence.editor trailer.bait.command uploadpack.packObjectsHook hook.bait.command"
).split()

SETTINGS = {
    "advice.detachedHead": "true",
    "commit.gpgSign": "true",
    "diff.submodule": "diff",
    "filter.bait.required": "true",
    "filter.proc.required": "true",
    "hook.bait.event": "reference-transaction",
    "log.showSignature": "true",
    "protocol.ext.allow": "always",
    "remote.origin.url": "ssh://example.invalid/tides",
    "remote.origin.promisor": "true",
    "remote.origin.partialCloneFilter": "blob:none",
    "submodule.recurse": "true",
    "submodule.sub.update": "!sh -c 'exit 0'",
    "user.name": "me",
    "user.email": "me@localhost",
}


def git(folder, *arguments, check=True):
    """Run git as a user does."""
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "init.defaultBranch=main")
    command = ["git", *identity, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=check, stdin=subprocess.DEVNULL)
    return done.stdout.strip()


def entry(key, value):
    """Return the lines of a configuration that set a key."""
    section, _, rest = key.partition(".")
    name, _, variable = rest.rpartition(".")
    title = f'{section} "{name}"' if name else section
    return f'[{title}]\n\t{variable} = "{value}"\n'


class Baited:
    """A repository full of baits.

    Attributes:
        top: Its work tree.
    """

    def __init__(self, top, marks):
        self.top = top
        self.marks = marks

    @property
    def bitten(self):
        """The baits that ran."""
        return sorted({mark.name for mark in self.marks.iterdir()})

    def program(self, name):
        """Write a program that records that it ran, and passes on what it filters; return its path."""
        path = self.marks.parent / "programs" / name
        path.parent.mkdir(exist_ok=True)
        then = "exec cat" if name.endswith(("clean", "smudge")) else ""
        path.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(self.marks / name))}\n{then}\n")
        path.chmod(0o755)
        return path

    def bait(self, repository, prefix=""):
        """Put a bait into every key and hook of a repository, half of them in a file that is included."""
        git_dir = repository / ".git"
        lines = [[], []]
        for number, key in enumerate(PROGRAMS):
            program = self.program(prefix + key.replace("/", "_")).name
            lines[number % 2].append(entry(key, f"!{program}" if key.startswith("credential.") else program))
        lines[0] += [entry(key, value) for key, value in SETTINGS.items()]
        with (git_dir / "config").open("a") as file:
            file.writelines([*lines[0], entry("include.path", "more")])
        (git_dir / "more").write_text("".join(lines[1]))
        for name in HOOKS:
            (git_dir / "hooks").mkdir(exist_ok=True)
            (git_dir / "hooks" / name).symlink_to(self.program(f"{prefix}hook-{name}"))

    def touch(self):
        """Make every file look changed, so that git has to read it again."""
        for file in (each for suffix in ("txt", "bin", "md") for each in self.top.glob(f"**/tide.{suffix}")):
            file.write_text(f"{file.read_text()}more\n")


@pytest.fixture
def baited(tmp_path, monkeypatch):
    # By name, because git starts some of them with a shell, where a blank in a path ends it, and some without.
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "programs"), os.environ["PATH"]]))
    marks = tmp_path / "marks"
    marks.mkdir()
    top = tmp_path / "tides"
    for folder in (top, top / "sub"):
        folder.mkdir()
        git(folder, "init", "--quiet", "--template=")
        (folder / ".gitattributes").write_text("*.txt filter=bait diff=bait merge=bait\n*.bin filter=proc\n")
        (folder / "tide.txt").write_text("high\n")
        (folder / "tide.bin").write_text("low\n")
        (folder / "tide.md").write_text("tide\n")
    git(top / "sub", "add", "--all")
    git(top / "sub", "commit", "--quiet", "-m", "begin")
    (top / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n')
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "begin")
    repository = Baited(top, marks)
    repository.bait(top)
    repository.bait(top / "sub", "sub-")
    repository.touch()
    return repository


@pytest.fixture(autouse=True)
def quiet_git(monkeypatch):
    """Without git's variables of the shell that runs the tests."""
    for name in [each for each in os.environ if each.startswith("GIT_")]:
        monkeypatch.delenv(name)
