"""The clipboard of the desktop that pi runs on, accessed through external programs.

Over SSH, this is not the user's desktop: nothing is read or written then; use ``clipboard_sequence`` instead.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ClipboardImage", "DesktopClipboard"]

_SECONDS = 5.0
"""Seconds to wait for a program, which may itself wait for the program that owns the clipboard."""

_MOST_BYTES = 50_000_000

_CHUNK = 65_536

_POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command")

_POWERSHELL_IMAGE = (
    "Add-Type -AssemblyName System.Windows.Forms, System.Drawing; "
    "$image = [System.Windows.Forms.Clipboard]::GetImage(); if ($image -eq $null) { exit 1 }; "
    "$bytes = New-Object System.IO.MemoryStream; $image.Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png); "
    "[Console]::OpenStandardOutput().Write($bytes.ToArray(), 0, $bytes.Length)"
)

_POWERSHELL_TEXT = "[Console]::OutputEncoding = [System.Text.Encoding]::UTF8; [Console]::Write((Get-Clipboard -Raw))"

_POWERSHELL_WRITE = (
    "[Console]::InputEncoding = [System.Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())"
)

_Use = Literal["image", "text", "write"]

_PROGRAMS: Mapping[str, Mapping[_Use, Sequence[Sequence[str]]]] = {
    "wayland": {
        "image": [("wl-paste", "--no-newline", "--type", f"image/{kind}") for kind in ("png", "jpeg", "webp", "gif")],
        "text": [("wl-paste", "--no-newline", "--type", "text")],
        "write": [("wl-copy",)],
    },
    "x11": {
        "image": [
            ("xclip", "-selection", "clipboard", "-target", f"image/{kind}", "-out")
            for kind in ("png", "jpeg", "webp", "gif")
        ],
        "text": [("xclip", "-selection", "clipboard", "-out"), ("xsel", "--clipboard", "--output")],
        "write": [("xclip", "-selection", "clipboard", "-in"), ("xsel", "--clipboard", "--input")],
    },
    "darwin": {"image": [("pngpaste", "-")], "text": [("pbpaste",)], "write": [("pbcopy",)]},
    "windows": {
        "image": [(*_POWERSHELL, _POWERSHELL_IMAGE)],
        "text": [(*_POWERSHELL, _POWERSHELL_TEXT)],
        "write": [(*_POWERSHELL, _POWERSHELL_WRITE)],
    },
}

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class ClipboardImage(NamedTuple):
    """An image from the clipboard: the bytes of an image file, and its media type, such as ``image/png``."""

    data: bytes
    mime_type: str


class DesktopClipboard:
    """The clipboard of the desktop. If there is no desktop or no program for its clipboard, methods find nothing.

    Args:
        platform: The value of ``sys.platform``.
        environ: The environment variables, which identify the desktop.
    """

    def __init__(self, platform: str, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._desktops = [*_desktops(platform, environ)]

    async def read_image(self) -> ClipboardImage | None:
        """Return the image in the clipboard; None if there is no image, or if it is larger than 50 MB."""
        for program in self._programs("image"):
            data = await self._output(program)
            for signature, mime_type in _SIGNATURES.items():
                if data is not None and data.startswith(signature):
                    return ClipboardImage(data, mime_type)
        return None

    async def read_text(self) -> str | None:
        """Return the text in the clipboard; None if there is no text."""
        for program in self._programs("text"):
            data = await self._output(program)
            if data:
                return data.decode("utf-8", "replace")
        return None

    async def write_text(self, text: str) -> bool:
        """Copy a text to the clipboard; return whether this succeeded."""
        for program in self._programs("write"):
            if await self._output(program, text.encode("utf-8", "replace")) is not None:
                return True
        return False

    def _programs(self, use: _Use) -> list[Sequence[str]]:
        return [program for desktop in self._desktops for program in _PROGRAMS[desktop][use]]

    async def _output(self, program: Sequence[str], given: bytes | None = None) -> bytes | None:
        """Return the output of a program; None if it cannot be started, fails, takes too long or prints too much.

        The output is not read if the program gets input: such a program leaves a process running that serves the
        text to other programs, and this process would keep the pipe open.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *program,
                stdin=DEVNULL if given is None else PIPE,
                stdout=PIPE if given is None else DEVNULL,
                stderr=DEVNULL,
                env=dict(self._environ),
            )
        except OSError:
            return None
        try:
            async with asyncio.timeout(_SECONDS):
                data = await _read(process) if given is None else await _write(process, given)
                return data if await process.wait() == 0 else None
        except (TimeoutError, ValueError, OSError):
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _read(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None  # noqa: S101 - for the type checker
    data = bytearray()
    while chunk := await process.stdout.read(_CHUNK):
        data += chunk
        if len(data) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
    return bytes(data)


async def _write(process: asyncio.subprocess.Process, given: bytes) -> bytes:
    assert process.stdin is not None  # noqa: S101 - for the type checker
    process.stdin.write(given)
    await process.stdin.drain()
    process.stdin.close()
    return b""


def _desktops(platform: str, environ: Mapping[str, str]) -> list[str]:
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return []
    if platform == "darwin":
        return ["darwin"]
    if platform == "win32" or environ.get("WSL_DISTRO_NAME") or environ.get("WSL_INTEROP"):
        return ["windows"]
    return ["wayland"] * bool(environ.get("WAYLAND_DISPLAY")) + ["x11"] * bool(environ.get("DISPLAY"))
