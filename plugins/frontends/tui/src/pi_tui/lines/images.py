"""Rows of a message's images: a description, then a picture that the terminal or half blocks draw."""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.declared_settings import SHOW_IMAGES
from pi_tui.lines.wrap import wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PIL.Image import Image as Picture

    from pi_hookspecs import SettingsView
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Image

__all__ = ["can_draw", "image_rows", "opened"]

_HEAD = 32
"""Characters of base64 data that are decoded for the description: the first 24 bytes."""

_WIDEST, _HIGHEST = 80, 30
"""Maximum columns and rows of a picture, in cells."""

_MOST_BYTES, _MOST_PIXELS = 20_000_000, 16_000_000
"""Limits of an image that is decoded, since the screen waits meanwhile."""

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")

_VISIBLE = 128
"""Minimum opacity, out of 255, of a pixel that is drawn."""

_PIXEL = 4
"""Number of values of a pixel: its colours and its opacity."""


def can_draw(settings: SettingsView, depth: str) -> bool:
    """Whether to draw images: there are colours and a decoder (the extra ``images``), and no setting forbids it."""
    return depth != "none" and SHOW_IMAGES.read(settings) and _has_decoder()


@lru_cache(maxsize=1)
def _has_decoder() -> bool:
    from importlib.util import find_spec

    return find_spec("PIL") is not None


def image_rows(images: Sequence[Image], look: Look, width: int) -> list[Line]:
    """Return for each image a row with its type and its size, then the rows of its picture if it is to be drawn."""
    rows: list[Line] = []
    picture_width = max(min(width, _WIDEST, look.image_width), 1)
    for each in images:
        drawn = look.graphics.rows(each.data, picture_width) if look.pictures and look.graphics is not None else None
        hint = look.hints.get("expand") if look.pictures and drawn is None and not look.expanded else None
        name = f"{each.mime_type.removeprefix('image/')}, {_measure(each.data)}{f', {hint} to display' if hint else ''}"
        rows += wrap_text(f"[image: {name}]", width, Run("", "muted"))
        if drawn is not None:
            rows += drawn
        elif look.pictures and look.expanded:
            rows += _picture(each.data, picture_width)
    return rows


def _measure(data: str) -> str:
    """Return a size such as ``640x480`` from the first bytes of a PNG or GIF, or else the size of the data."""
    try:
        head = base64.b64decode(data[:_HEAD])
    except (ValueError, binascii.Error):
        head = b""
    if head.startswith(b"\x89PNG") and len(head) >= 24:  # noqa: PLR2004 - the end of the two numbers
        return f"{int.from_bytes(head[16:20])}x{int.from_bytes(head[20:24])}"
    if head.startswith(b"GIF8") and len(head) >= 10:  # noqa: PLR2004 - as above
        return f"{int.from_bytes(head[6:8], 'little')}x{int.from_bytes(head[8:10], 'little')}"
    size = len(data) * 3 // 4
    return f"{size / 1024:,.0f} KB" if size >= 1024 else f"{size} bytes"  # noqa: PLR2004 - a kilobyte


@lru_cache(maxsize=16)
def _picture(data: str, width: int) -> list[Line]:
    """Return the rows of a picture; no rows for an image that is damaged, too large or of an unknown format."""
    image = opened(data, (width * 2, _HIGHEST * 4))
    try:
        return [] if image is None else [*_drawn(_scaled(image, width))]
    except Exception:  # noqa: BLE001 - a decoder that raises later, at the first pixel
        return []


def opened(data: str, least: tuple[int, int] | None = None) -> Picture | None:
    """Return an image, rotated for display; None if it is damaged, too large or of an unknown format.

    Args:
        data: The image's file, in base64.
        least: Columns and rows of pixels that are needed, if decoding fewer than all is cheaper.
    """
    import io
    import warnings

    if len(data) > _MOST_BYTES:
        return None
    try:
        from PIL import Image, ImageOps

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the limit below holds instead
            image: Picture = Image.open(io.BytesIO(base64.b64decode(data)), formats=_FORMATS)
            if image.width * image.height > _MOST_PIXELS:
                return None
            if least is not None:
                image.draft("RGB", least)
            return ImageOps.exif_transpose(image)
    except Exception:  # noqa: BLE001 - decoders raise anything for a corrupt file, and Pillow may be absent
        return None


def _scaled(image: Picture, width: int) -> Picture:
    """Return an image scaled so that each cell has one column and two rows of pixels."""
    factor = min(1.0, width / image.width, 2 * _HIGHEST / image.height)
    size = max(1, round(image.width * factor)), max(1, round(image.height * factor))
    return image.convert("RGBA").resize(size)


def _drawn(picture: Picture) -> Iterator[Line]:
    values, width = picture.tobytes(), picture.width
    pixels = [_color(values[at : at + _PIXEL]) for at in range(0, len(values), _PIXEL)]
    for start in range(0, len(pixels), 2 * width):
        upper = pixels[start : start + width]
        lower = pixels[start + width : start + 2 * width] or [None] * width
        yield Line.of(*[_cell(*pair) for pair in zip(upper, lower, strict=True)])


def _color(pixel: bytes) -> str | None:
    return f"#{pixel[:3].hex()}" if pixel[3] >= _VISIBLE else None


def _cell(upper: str | None, lower: str | None) -> Run:
    if upper is None:
        return Run(" ") if lower is None else Run("\N{LOWER HALF BLOCK}", lower)
    return Run("\N{UPPER HALF BLOCK}", upper, background=lower)
