"""The clipboard of a desktop whose programs are scripts."""

from __future__ import annotations

import base64
import os
import signal
from typing import TYPE_CHECKING

import pytest

from pi_terminal_kit import desktop_clipboard
from pi_terminal_kit.desktop_clipboard import ClipboardImage, DesktopClipboard

if TYPE_CHECKING:
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\nrest"


@pytest.fixture
def desktop(tmp_path: Path):
    """``desktop(**programs)``: the clipboard of a Wayland desktop with X11, whose programs are these scripts."""

    def start(platform: str = "linux", environ: dict[str, str] | None = None, **programs: str) -> DesktopClipboard:
        for name, script in programs.items():
            file = tmp_path / name.replace("_", "-")
            file.write_text(f"#!/bin/sh\n{script}\n")
            file.chmod(0o755)
        found = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "PATH": f"{tmp_path}:/usr/bin:/bin"}
        return DesktopClipboard(platform, found | (environ or {}))

    return start


def prints(data: bytes) -> str:
    return f"echo {base64.b64encode(data).decode()} | base64 -d"


async def test_an_image_is_read_with_its_type(desktop) -> None:
    clipboard = desktop(wl_paste=f'[ "$3" = image/png ] || exit 1\n{prints(PNG)}')

    assert await clipboard.read_image() == ClipboardImage(PNG, "image/png")


async def test_another_type_and_another_program_are_tried(desktop) -> None:
    jpeg = b"\xff\xd8\xffrest"
    clipboard = desktop(wl_paste="exit 1", xclip=f'[ "$4" = image/jpeg ] || exit 1\n{prints(jpeg)}')

    assert await clipboard.read_image() == ClipboardImage(jpeg, "image/jpeg")


async def test_what_is_no_image_is_none(desktop) -> None:
    clipboard = desktop(wl_paste="echo text", xclip="echo text")

    assert await clipboard.read_image() is None
    assert await clipboard.read_text() == "text\n"


async def test_a_text_is_copied_though_a_program_stays_to_hand_it_out(desktop, tmp_path: Path) -> None:
    clipboard = desktop(wl_copy=f"cat > '{tmp_path}/copied'\nsleep 60 &\necho $! > '{tmp_path}/pid'")

    assert await clipboard.write_text("für dich")
    assert (tmp_path / "copied").read_text() == "für dich"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)


async def test_without_a_program_nothing_is_found(desktop) -> None:
    clipboard = desktop(environ={"DISPLAY": ""}, wl_paste="exit 1", wl_copy="exit 1")

    assert await clipboard.read_image() is None
    assert await clipboard.read_text() is None
    assert not await clipboard.write_text("x")


async def test_a_program_that_hangs_or_prints_too_much_is_ended(desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop_clipboard, "_SECONDS", 0.2)
    monkeypatch.setattr(desktop_clipboard, "_MOST_BYTES", 1000)

    assert await desktop(wl_paste="exec sleep 60", xclip="exit 1").read_text() is None
    assert await desktop(wl_paste="exec head -c 2000 /dev/zero", xclip="exit 1").read_text() is None


@pytest.mark.parametrize("environ", [{"SSH_CONNECTION": "1 2 3 4"}, {"SSH_TTY": "/dev/pts/0"}])
async def test_over_ssh_it_is_not_the_user_s_clipboard(desktop, environ: dict[str, str]) -> None:
    clipboard = desktop(environ=environ, wl_paste="echo secret", wl_copy="exit 0")

    assert await clipboard.read_text() is None
    assert not await clipboard.write_text("x")


@pytest.mark.parametrize(
    ("platform", "environ", "program"),
    [("darwin", {}, "pbpaste"), ("win32", {}, "powershell.exe"), ("linux", {"WSL_INTEROP": "x"}, "powershell.exe")],
)
async def test_every_desktop_has_a_program_of_its_own(
    desktop, platform: str, environ: dict[str, str], program: str
) -> None:
    clipboard = desktop(platform, environ, **{program: "echo copied"})

    assert await clipboard.read_text() == "copied\n"
