"""Names the type of a file that is neither text nor an image, by its first bytes."""

from __future__ import annotations

__all__ = ["HEAD", "describe_binary", "is_binary"]

HEAD = 8 * 1024
"""Number of first bytes that are examined; a NUL among them makes a file binary."""

_BINARY = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
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


def is_binary(head: bytes) -> bool:
    """Whether the beginning of a file contains a NUL."""
    return b"\0" in head[:HEAD]


def describe_binary(head: bytes) -> str:
    """Return the MIME type of a binary file, ``application/octet-stream`` where it is not known."""
    return next((mime for magic, mime in _BINARY if head.startswith(magic)), "application/octet-stream")
