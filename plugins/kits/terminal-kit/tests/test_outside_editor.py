"""The user's own editor."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pi_terminal_kit.outside_editor import edit_outside, editor_command


def test_a_setting_comes_before_the_environment() -> None:
    environ = {"VISUAL": "code -w", "EDITOR": "nano"}

    assert editor_command("vim", environ) == "vim"
    assert editor_command(" ", environ) == "code -w"
    assert editor_command(None, {"EDITOR": "nano"}) == "nano"
    assert editor_command(None, {})


async def test_what_is_saved_is_the_text() -> None:
    seen = []

    async def run(words):
        file = Path(words[-1])
        seen.append((words[:-1], file.read_text(), stat.S_IMODE(file.stat().st_mode)))
        file.write_text("changed\n\n")
        return 0

    assert await edit_outside("draft", "code --wait 'a b'", run) == "changed\n"
    assert seen == [(["code", "--wait", "a b"], "draft", 0o600)]


async def test_an_editor_that_fails_changes_nothing_and_leaves_no_file() -> None:
    files = []

    async def run(words):
        files.append(Path(words[-1]))
        return 1

    with pytest.raises(ChildProcessError, match="vi ended with exit code 1"):
        await edit_outside("draft", "vi", run)

    assert not files[0].exists()
