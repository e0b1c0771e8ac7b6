"""What the tests of work trees share: git without the user's configuration, and all that is in a folder."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

_ENV = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
_OPTIONS = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "gc.auto=0")


@pytest.fixture(scope="session")
def git():
    """``git(root, "add", "."):`` run git in a repository."""

    def run(root, *arguments):
        command = ["git", *_OPTIONS, *arguments]
        return subprocess.run(command, cwd=root, env=_ENV, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="session")
def everything():
    """``everything(root)``: what is in a work tree but its own git folder, as path to kind, permissions and content."""

    def read(root):
        found = {}
        for here, folders, names in os.walk(root):
            if Path(here) == Path(root):
                folders[:] = [each for each in folders if each != ".git"]
            for path in (Path(here, name) for name in (*names, *folders)):
                mode = path.lstat().st_mode
                about = ("link", str(path.readlink())) if stat.S_ISLNK(mode) else (oct(stat.S_IMODE(mode)),)
                content = path.read_bytes() if stat.S_ISREG(mode) else stat.S_ISDIR(mode)
                found[str(path.relative_to(root))] = (*about, content)
        return found

    return read
