"""Images of servers, small enough for a model, in a format that all models take."""

from __future__ import annotations

import base64
import io
import re
import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["decoded_base64", "fitted"]

_SIDE = 2000
"""Pixels; the limits are those of the tool ``read``."""
_MOST_BASE64 = int(4.5 * 1024 * 1024)
_MOST_PIXELS = 200_000_000
"""More would take gigabytes to decode."""
_TAKEN = ("image/png", "image/jpeg", "image/gif", "image/webp")
_FAULTS_IGNORED = threading.Lock()
"""Held while Pillow's switch for faults, which is one for the process, is on."""
_ENCODINGS = (("PNG", 0), ("JPEG", 80), ("JPEG", 40))


def fitted(data: str, *, resize: bool = True) -> tuple[str, str] | None:
    """Return base64 and MIME type of an image within the limits, its bytes unchanged if they fit.

    The type is that of the bytes: servers may name another one.

    Args:
        data: Base64.
        resize: Whether it may be shrunk; else one that is too large is not returned either.

    Returns:
        None for what cannot be decoded, because a model's API refuses the whole conversation for it.
    """
    from PIL import Image, ImageOps

    try:
        raw = decoded_base64(data)
        image, is_sound = _decoded(raw)
        text, mime_type = base64.b64encode(raw).decode(), Image.MIME.get(image.format or "", "")
        if is_sound and mime_type in _TAKEN and max(image.size) <= _SIDE and len(text) <= _MOST_BASE64:
            return text, mime_type
        image = ImageOps.exif_transpose(image)
        if resize:
            image.thumbnail((_SIDE, _SIDE))
        return _encoded(image) if max(image.size) <= _SIDE else None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def decoded_base64(data: str) -> bytes:
    """Return the bytes of a base64 text, which may be a ``data:`` URL, or lack its padding, or use ``-`` and ``_``.

    Raises:
        ValueError: It is not base64.
    """
    text = re.sub(r"\A\s*data:[^,]*,|\s", "", data).replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _decoded(raw: bytes) -> tuple[Image, bool]:
    """Return an image, and whether it has no fault; servers send some with wrong checksums, which viewers ignore.

    Raises:
        OSError: It is none.
        ValueError: It is too large.
    """
    from PIL import ImageFile

    try:
        return _opened(raw), True
    except (OSError, SyntaxError):
        with _FAULTS_IGNORED:
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            try:
                return _opened(raw), False
            finally:
                ImageFile.LOAD_TRUNCATED_IMAGES = False


def _opened(raw: bytes) -> Image:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the limit of pixels is checked here
        image: Image.Image = Image.open(io.BytesIO(raw))
        if image.width * image.height > _MOST_PIXELS:
            raise ValueError("it has too many pixels")
        image.load()
    return image


def _encoded(image: Image) -> tuple[str, str] | None:
    for form, quality in _ENCODINGS:
        out = io.BytesIO()
        if form == "JPEG":
            image.convert("RGB").save(out, form, quality=quality)
        else:
            (image if image.mode in ("1", "L", "LA", "P", "RGB", "RGBA") else image.convert("RGBA")).save(out, form)
        text = base64.b64encode(out.getvalue()).decode()
        if len(text) <= _MOST_BASE64:
            return text, f"image/{form.lower()}"
    return None
