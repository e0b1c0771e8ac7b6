"""Images small enough for a model: at most 2000x2000 pixels and 4.5 MB of base64."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["MAX_BASE64", "MAX_SIDE", "OMITTED", "Fitted", "fit"]

MAX_SIDE = 2000
MAX_BASE64 = int(4.5 * 1024 * 1024)
OMITTED = "[Image omitted: could not be resized below the inline image size limit.]"

_MAX_PIXELS = 200_000_000
"""More would take gigabytes to decode."""
_QUALITIES = (80, 70, 55, 40)
_SCALES = (1.0, 0.75, 0.5, 0.35, 0.25)


class Fitted(NamedTuple):
    """An image for the model: base64, MIME type, and notes about its conversion."""

    data: str
    mime: str
    notes: tuple[str, ...]


def fit(content: bytes, mime: str, *, resize: bool = True) -> Fitted | None:
    """Return the image within the limits, its bytes unchanged where they fit; None when that fails.

    A bitmap becomes a PNG in any case, since models do not accept them.
    """
    if not resize and mime != "image/bmp":
        return Fitted(_base64(content), mime, ())
    try:
        return _fit(content, mime, resize=resize)
    except Exception:  # noqa: BLE001 - decoders raise anything for a corrupt file, Pillow may be absent
        return None


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _fit(content: bytes, mime: str, *, resize: bool) -> Fitted | None:
    import io
    import warnings

    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pixel limit below is enforced instead
        image: Image.Image = Image.open(io.BytesIO(content))
        if image.width * image.height > _MAX_PIXELS:
            return None
        image.load()
    fits = max(image.size) <= MAX_SIDE and len(content) * 4 <= MAX_BASE64 * 3
    if mime != "image/bmp" and fits:
        return Fitted(_base64(content), mime, ())
    image = ImageOps.exif_transpose(image)
    width, height = image.size
    if not resize:
        return Fitted(_base64(_encode(image, "PNG")), "image/png", _converted(mime, "image/png"))
    for scale in _SCALES:
        target = _target(width, height, scale)
        small = image if target == (width, height) else _scaled(image, target)
        best = _smallest(small)
        if best is not None:
            data, best_mime = best
            return Fitted(data, best_mime, (*_converted(mime, best_mime), *_dimension_note((width, height), target)))
    return None


def _converted(mime: str, now: str) -> tuple[str, ...]:
    return (f"[Image converted from {mime} to {now}.]",) if mime == "image/bmp" else ()


def _target(width: int, height: int, scale: float) -> tuple[int, int]:
    factor = min(1.0, MAX_SIDE / max(width, height)) * scale
    return max(1, round(width * factor)), max(1, round(height * factor))


def _dimension_note(original: tuple[int, int], shown: tuple[int, int]) -> tuple[str, ...]:
    if original == shown:
        return ()
    factor = f"{original[0] / shown[0]:.2f}"
    sizes = f"original {original[0]}x{original[1]}, displayed at {shown[0]}x{shown[1]}"
    return (f"[Image: {sizes}. Multiply coordinates by {factor} to map to original image.]",)


def _scaled(image: Image, size: tuple[int, int]) -> Image:
    from PIL import Image as Pillow

    if image.mode not in ("RGB", "RGBA", "L", "LA"):
        image = image.convert("RGBA" if "transparency" in image.info or image.mode in ("P", "PA") else "RGB")
    return image.resize(size, Pillow.Resampling.LANCZOS)


def _smallest(image: Image) -> tuple[str, str] | None:
    """Return the first encoding that fits: PNG, then JPEG of falling quality."""
    data = _base64(_encode(image, "PNG"))
    if len(data) <= MAX_BASE64:
        return data, "image/png"
    opaque = _opaque(image)
    for quality in _QUALITIES:
        data = _base64(_encode(opaque, "JPEG", quality))
        if len(data) <= MAX_BASE64:
            return data, "image/jpeg"
    return None


def _opaque(image: Image) -> Image:
    """Return the image on white: JPEG has no transparency."""
    from PIL import Image as Pillow

    if image.mode in ("RGB", "L"):
        return image
    layer = image.convert("RGBA")
    white = Pillow.new("RGBA", layer.size, "white")
    return Pillow.alpha_composite(white, layer).convert("RGB")


def _encode(image: Image, form: str, quality: int = 80) -> bytes:
    import io

    out = io.BytesIO()
    if form == "PNG" and image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
        image = image.convert("RGB")
    if form == "JPEG":
        image.save(out, form, quality=quality)
    else:
        image.save(out, form)
    return out.getvalue()
