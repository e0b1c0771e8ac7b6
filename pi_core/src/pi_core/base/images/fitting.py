"""Makes one image fit: decodes it, shrinks it, converts it, or says why it has to be left out.

Functions here block for as long as it takes to decode and encode an image, so async code calls them in a thread; the
interpreter's lock is held for a few milliseconds at a time.
"""

from __future__ import annotations

import binascii
import threading
from typing import TYPE_CHECKING, NamedTuple

from pi_core.base.images.header import Header, read_header
from pi_core.base.images.limits import ImageLimits

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["FittedImage", "decode_base64", "encode_base64", "fit_image"]

_MAX_PIXELS = 200_000_000
"""More would take gigabytes to decode."""
_QUALITIES = (70, 55, 40)
"""Tried in this order if a JPEG of the wanted quality is too large."""
_SCALES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.1, 0.03)
_UNREAD = ("image/heic", "image/heif")
"""Formats that Pillow does not read: sent as they are to the models that take them."""
_DEPTH = 256
"""Levels of a grey pixel with 16 bits to one with 8."""
_PIECE = 1 << 20
"""Characters that are decoded at a time: the interpreter's lock is held for about a millisecond."""
_TOLERANT = threading.Lock()
"""Held while Pillow's switch for faulty files, which is one for the process, is on."""

_FORMAT = "[Image omitted: could not be converted to a supported inline image format.]"
_SIZE = "[Image omitted: could not be resized below the inline image size limit.]"
_DAMAGED = "[Image omitted: its data is damaged or incomplete.]"
_NO_BASE64 = "[Image omitted: its data is not base64.]"
_EMPTY = "[Image omitted: it has no data.]"
_BOMB = "[Image omitted: it has more pixels than can be decoded.]"
_TOO_MANY_PIXELS = "[Image omitted: {}x{} pixels are more than can be decoded.]"


class FittedImage(NamedTuple):
    """An image within limits, or the reason why there is none.

    Attributes:
        data: Base64; empty if the image has to be left out.
        mime_type: The type of the data, by its bytes.
        notes: Lines for the model: the conversion, the original size, or why the image is left out.
    """

    data: str
    mime_type: str
    notes: tuple[str, ...] = ()

    @property
    def omitted(self) -> bool:
        """Whether the image has to be left out; the only note says why."""
        return not self.data


def fit_image(image: str | bytes, limits: ImageLimits | None = None, *, resize: bool = True) -> FittedImage:
    """Return an image within limits; its bytes are unchanged if they fit.

    Args:
        image: The file's bytes, or their base64, which may be a ``data:`` URL.
        limits: What the model takes; None uses the limits that suit all.
        resize: Shrink it to ``limits.width``, ``height`` and ``size``, as the setting ``images.autoResize`` requests;
            otherwise only what the API would refuse is shrunk.
    """
    try:
        content = decode_base64(image) if isinstance(image, str) else image
    except ValueError:
        return _omitted(_NO_BASE64)
    return _fit_content(content, limits or ImageLimits(), resize=resize) if content else _omitted(_EMPTY)


def _fit_content(content: bytes, limits: ImageLimits, *, resize: bool) -> FittedImage:
    header = read_header(content)
    if header is not None and header.mime_type in _UNREAD and header.mime_type in limits.formats:
        is_small = _base64_length(content) <= limits.accepted
        return FittedImage(encode_base64(content), header.mime_type) if is_small else _omitted(_SIZE)
    try:
        return _fit(content, header, limits, resize=resize)
    except Exception as error:  # noqa: BLE001 - decoders raise anything for a damaged file
        if type(error).__name__ == "DecompressionBombError":  # Pillow's, which cannot be imported here
            return _omitted(_BOMB)
        return _omitted(_FORMAT if header is None or header.mime_type in _UNREAD else _DAMAGED)


def decode_base64(data: str) -> bytes:
    """Return the bytes of base64, which may be a ``data:`` URL, lack its padding, or use ``-`` and ``_``.

    Raises:
        ValueError: It is not base64.
    """
    try:
        return _decoded(data)
    except ValueError:
        text = data.lstrip()
        if text.startswith("data:"):
            text = text.partition(",")[2]
        text = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
        return _decoded(text + "=" * (-len(text) % 4))


def encode_base64(content: bytes) -> str:
    """Return bytes as base64."""
    size = _PIECE // 4 * 3
    pieces = (binascii.b2a_base64(content[at : at + size], newline=False) for at in range(0, len(content), size))
    return b"".join(pieces).decode("ascii")


def _decoded(text: str) -> bytes:
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return b"".join(binascii.a2b_base64(each, strict_mode=True) for each in pieces)


def _base64_length(content: bytes) -> int:
    return (len(content) + 2) // 3 * 4


def _omitted(why: str) -> FittedImage:
    return FittedImage("", "", (why,))


def _fit(content: bytes, header: Header | None, limits: ImageLimits, *, resize: bool) -> FittedImage:
    if header is not None and header.width * header.height > _MAX_PIXELS:
        return _omitted(_TOO_MANY_PIXELS.format(header.width, header.height))
    if header is not None and not header.complete:
        return _omitted(_DAMAGED)
    image, is_sound = _opened(content)
    if image.width * image.height > _MAX_PIXELS:
        return _omitted(_TOO_MANY_PIXELS.format(image.width, image.height))
    return _resized(image, header, content, limits, resize=resize, is_sound=is_sound)


def _resized(
    image: Image, header: Header | None, content: bytes, limits: ImageLimits, *, resize: bool, is_sound: bool
) -> FittedImage:
    from PIL import ImageOps

    mime = header.mime_type if header is not None else _mime_of(image)
    width, height, size = _targets(limits, resize=resize)
    kept = mime in limits.formats and is_sound
    if kept and image.width <= width and image.height <= height and _base64_length(content) <= size:
        return FittedImage(encode_base64(content), mime)
    image = ImageOps.exif_transpose(image)
    for scale in _SCALES:
        target = _target(image.size, (width, height), scale)
        encoded = _encoded(image if target == image.size else _scaled(image, target), size, limits)
        if encoded is not None:
            data, now = encoded
            notes = (*_conversion_note(mime, now, limits), *_dimension_note(image.size, target))
            return FittedImage(data, now, notes)
    return _omitted(_SIZE)


def _targets(limits: ImageLimits, *, resize: bool) -> tuple[int, int, int]:
    """Return the width, height and base64 length within which an image is left as it is."""
    if not resize:
        return limits.side, limits.side, limits.accepted
    return min(limits.width, limits.side), min(limits.height, limits.side), min(limits.size, limits.accepted)


def _opened(content: bytes) -> tuple[Image, bool]:
    """Return an image, and whether it has no fault.

    Some programs write wrong checksums, which viewers ignore.
    """
    from PIL import ImageFile

    try:
        return _loaded(content), True
    except (OSError, SyntaxError) as error:
        if "truncated" in str(error):
            raise
        with _TOLERANT:
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            try:
                return _loaded(content), False
            finally:
                ImageFile.LOAD_TRUNCATED_IMAGES = False


def _loaded(content: bytes) -> Image:
    import io
    import warnings

    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the limit of pixels is enforced here
        image: Image.Image = Image.open(io.BytesIO(content))
        if image.width * image.height <= _MAX_PIXELS:
            image.load()
    return image


def _mime_of(image: Image) -> str:
    from PIL import Image as Pillow

    return Pillow.MIME.get(image.format or "", f"image/{(image.format or 'unknown').lower()}")


def _target(size: tuple[int, int], most: tuple[int, int], scale: float) -> tuple[int, int]:
    factor = min(1.0, most[0] / size[0], most[1] / size[1]) * scale
    return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))


def _conversion_note(mime: str, now: str, limits: ImageLimits) -> tuple[str, ...]:
    return () if mime in limits.formats else (f"[Image converted from {mime} to {now}.]",)


def _dimension_note(original: tuple[int, int], shown: tuple[int, int]) -> tuple[str, ...]:
    if original == shown:
        return ()
    factor = f"{original[0] / shown[0]:.2f}"
    sizes = f"original {original[0]}x{original[1]}, displayed at {shown[0]}x{shown[1]}"
    return (f"[Image: {sizes}. Multiply coordinates by {factor} to map to original image.]",)


def _scaled(image: Image, size: tuple[int, int]) -> Image:
    from PIL import Image as Pillow

    if image.mode.startswith("I"):  # Pillow clips its 16 bits to 8
        image = image.convert("I").point(lambda level: level / _DEPTH).convert("L")
    elif image.mode not in ("RGB", "RGBA", "L", "LA"):
        image = image.convert("RGBA" if "transparency" in image.info or image.mode in ("P", "PA") else "RGB")
    return image.resize(size, Pillow.Resampling.LANCZOS)


def _encoded(image: Image, size: int, limits: ImageLimits) -> tuple[str, str] | None:
    """Return base64 and type of the first encoding that fits: PNG, which keeps text sharp, then JPEG."""
    data = encode_base64(_saved(image, "PNG"))
    if len(data) <= size:
        return data, "image/png"
    opaque = _opaque(image)
    for quality in (limits.quality, *_QUALITIES):
        data = encode_base64(_saved(opaque, "JPEG", quality))
        if len(data) <= size:
            return data, "image/jpeg"
    return None


def _opaque(image: Image) -> Image:
    """Return the image on white: JPEG has no transparency."""
    from PIL import Image as Pillow

    if image.mode in ("RGB", "L"):
        return image
    if image.mode.startswith("I"):
        return _scaled(image, image.size)
    layer = image.convert("RGBA")
    white = Pillow.new("RGBA", layer.size, "white")
    return Pillow.alpha_composite(white, layer).convert("RGB")


def _saved(image: Image, form: str, quality: int = 80) -> bytes:
    import io

    out = io.BytesIO()
    if form == "PNG" and image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
        image = image.convert("RGB")
    image.save(out, form, **({"quality": quality} if form == "JPEG" else {}))
    return out.getvalue()
