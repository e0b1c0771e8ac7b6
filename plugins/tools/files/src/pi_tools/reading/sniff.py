"""Detects a file's type by its first bytes: images that ``read`` shows, and names of other types."""

from __future__ import annotations

__all__ = ["HEAD", "describe_binary", "image_type", "is_binary"]

HEAD = 8 * 1024
"""Number of first bytes that are examined; a NUL among them makes a file binary."""

_WEBP_HEAD = 12
_BMP_HEADERS = (12, 40, 52, 56, 64, 108, 124)

_BINARY = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x7fELF", "application/x-elf"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\x00asm", "application/wasm"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"RIFF", "application/x-riff"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\xff\xfe\x00\x00", "text/plain; charset=utf-32le"),
    (b"\x00\x00\xfe\xff", "text/plain; charset=utf-32be"),
    (b"\xff\xfe", "text/plain; charset=utf-16le"),
    (b"\xfe\xff", "text/plain; charset=utf-16be"),
)


def image_type(head: bytes) -> str | None:
    """Return the MIME type of an image that models accept, or of a bitmap; None for everything else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:_WEBP_HEAD] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return "image/bmp"
    return None


def is_binary(head: bytes) -> bool:
    """Whether the beginning of a file contains a NUL."""
    return b"\0" in head[:HEAD]


def describe_binary(head: bytes) -> str:
    """Return the MIME type of a binary file, ``application/octet-stream`` where it is not known."""
    return next((mime for magic, mime in _BINARY if head.startswith(magic)), "application/octet-stream")
