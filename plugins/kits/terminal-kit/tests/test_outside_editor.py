"""The user's own editor."""

from __future__ import annotations

import asyncio
import re
import shlex
import stat
import sys
from pathlib import Path

import pytest

from pi_terminal_kit.outside_editor import EditorFailed, edit_outside, editor_command
from pi_testing import for_each


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

    with pytest.raises(EditorFailed, match=r"'vi' ended with exit code 1$"):
        await edit_outside("draft", "vi", run)

    assert not files[0].parent.exists()


async def _run(words) -> int:
    process = await asyncio.create_subprocess_exec(*words)
    return await process.wait()


@for_each("command", ["nosucheditor", "./nosucheditor x", "''", "#", "vi 'unbalanced", "/", "vi \0", __file__])
async def test_a_command_that_cannot_run_is_named_with_what_to_do(command: str) -> None:
    with pytest.raises(EditorFailed, match=r"(?s)editor.*externalEditor"):
        await edit_outside("draft", command, _run)


def _editor(folder: Path, code: str) -> str:
    (folder / "editor.py").write_text(f"import os, pathlib, sys\nfile = pathlib.Path(sys.argv[1])\n{code}\n")
    return f"{sys.executable} {shlex.quote(str(folder / 'editor.py'))}"


@for_each(
    "code",
    [
        "file.write_text('the work'); os.kill(os.getpid(), 9)",
        "file.write_text('the work'); sys.exit(128 + 11)",
        r"file.write_bytes(b'the work \xff')",
    ],
)
async def test_what_was_saved_before_an_editor_broke_down_is_kept_and_named(code: str, tmp_path: Path) -> None:
    with pytest.raises(EditorFailed) as caught:
        await edit_outside("draft", _editor(tmp_path, code), _run)

    kept = re.search(r"What was saved there is in (.*)$", str(caught.value))
    assert kept is not None
    assert Path(kept[1]).read_bytes().startswith(b"the work")


@for_each(
    ("code", "why"),
    [
        ("os.kill(os.getpid(), 15)", "SIGTERM"),
        ("sys.exit(128 + 9)", "SIGKILL"),
        ("file.write_text('dropped'); sys.exit(3)", "exit code 3"),
        ("file.unlink()", "removed its file"),
        ("file.unlink(); file.mkdir()", "cannot be read"),
    ],
)
async def test_an_editor_that_ends_badly_is_named_with_the_reason(code: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(EditorFailed, match=why) as caught:
        await edit_outside("draft", _editor(tmp_path, code), _run)

    assert "is in" not in str(caught.value)


async def test_a_full_disk_is_an_editor_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))

    with pytest.raises(EditorFailed, match="no place for the file"):
        await edit_outside("draft", "true", _run)
