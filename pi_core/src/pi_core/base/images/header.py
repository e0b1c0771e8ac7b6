"""What an image is by its bytes: format, size in pixels, and whether its file is complete; nothing is decoded."""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["Header", "image_type", "read_header"]

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF", "image/webp"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
_BMP_HEADERS = (12, 40, 52, 56, 64, 108, 124)
_HEIF_BRANDS = {b"heic": "image/heic", b"heix": "image/heic", b"mif1": "image/heif", b"msf1": "image/heif"}
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that begin a frame, with its size."""
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))
"""Markers of JPEG without a length."""
_FILL = 0xFF
_SCAN = 0xDA
_WEBP_HEAD = 30


class Header(NamedTuple):
    """An image's MIME type, its size in pixels (0 where that is not read), and whether its file is complete."""

    mime_type: str
    width: int = 0
    height: int = 0
    complete: bool = True


def image_type(head: bytes) -> str | None:
    """Return the MIME type of an image by its first bytes; None if they are not those of a known image."""
    found = next((mime for magic, mime in _SIGNATURES if head.startswith(magic)), None)
    if found == "image/webp" and head[8:12] != b"WEBP":
        return None
    if found == "image/bmp" and int.from_bytes(head[14:18], "little") not in _BMP_HEADERS:
        return None
    return _HEIF_BRANDS.get(head[8:12]) if head[4:8] == b"ftyp" else found


def read_header(content: bytes) -> Header | None:
    """Return what an image is; None if its bytes are not those of a known image."""
    mime = image_type(content)
    read = _READERS.get(mime or "")
    if mime is None or read is None:
        return None if mime is None else Header(mime)
    try:
        width, height, complete = read(content)
    except (struct.error, IndexError):
        return Header(mime, complete=False)
    return Header(mime, width, height, complete and width > 0 and height > 0)


def _png(content: bytes) -> tuple[int, int, bool]:
    if content[12:16] != b"IHDR":
        return 0, 0, False
    width, height = struct.unpack_from(">II", content, 16)
    at, has_data = 8, False
    while at + 12 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        if kind == b"IEND":
            return width, height, has_data
        has_data = has_data or kind == b"IDAT"
        at += 12 + length
    return width, height, False


def _jpeg(content: bytes) -> tuple[int, int, bool]:
    width = height = 0
    at = 2
    while at + 4 <= len(content) and content[at] == _FILL:
        marker = content[at + 1]
        if marker == _FILL or marker in _BARE:
            at += 1 if marker == _FILL else 2
            continue
        if marker == _SCAN:
            return width, height, content.rfind(b"\xff\xd9") > at
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return width, height, False


def _gif(content: bytes) -> tuple[int, int, bool]:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height, content.rstrip(b"\0")[13:].endswith(b";")


def _webp(content: bytes) -> tuple[int, int, bool]:
    complete = int.from_bytes(content[4:8], "little") + 8 <= len(content)
    kind = content[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (each & 0x3FFF for each in struct.unpack_from("<HH", content, 26))
    return width, height, complete and len(content) > _WEBP_HEAD


_READERS = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
