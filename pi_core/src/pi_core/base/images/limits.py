"""What each API accepts of images, as data: size, format and number.

A server that refuses an image refuses the whole conversation, at every later prompt too, so the limits are those that
servers enforce. A model's own ``inputLimits``, as in models.json, take precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

if TYPE_CHECKING:
    from pi_hookspecs.models import Model

__all__ = ["ImageLimits", "known_limits", "limits_of"]

_COMMON = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MB = 1024 * 1024


@frozen(kw_only=True)
class ImageLimits:
    """Limits of images; None means that no limit is known.

    Attributes:
        width: Pixels to which an image is shrunk when it enters a session.
        height: The same for its height.
        size: Characters of base64 to which it is shrunk when it enters a session.
        quality: Quality of a JPEG, from 1 to 100.
        formats: MIME types that the API takes.
        side: Pixels of the longer side that the API takes.
        accepted: Characters of base64 that the API takes.
        per_request: Images in a request.
        per_message: Images in a message.
        request: Bytes of a request; images are left out above it, as far as they are the reason.
        many: A number of images; with more of them in a request, ``many_side`` is the limit of each.
        many_side: Pixels of the longer side, in a request with many images.
    """

    width: int = 2000
    height: int = 2000
    size: int = 4_718_592
    quality: int = 80
    formats: tuple[str, ...] = _COMMON
    side: int = 8000
    accepted: int = 5 * _MB
    per_request: int | None = None
    per_message: int | None = None
    request: int | None = None
    many: int | None = None
    many_side: int = 2000


_DEFAULT = ImageLimits()
"""Of servers that are not known: the smallest limits of those that are."""

_GOOGLE = ImageLimits(
    formats=("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"),
    accepted=20 * _MB,
    per_request=3600,
    request=20 * _MB,
)
_OPENAI = ImageLimits(accepted=20 * _MB, per_request=1500, request=512 * _MB)

_BY_API = {
    # Anthropic: "Vision" of its API documentation. The 5 MB are characters of base64, as its errors count them.
    "anthropic-messages": ImageLimits(per_request=100, request=32 * _MB, many=20),
    # Amazon: the Converse API takes 20 images a message, each of at most 3.75 MB, which are 5 MB of base64.
    "bedrock-converse-stream": ImageLimits(per_message=20),
    # Google: "Image understanding" of the Gemini API; GIF is not in its list. 20 MB are the limit of inline data.
    "google-generative-ai": _GOOGLE,
    "google-vertex": _GOOGLE,
    # Mistral: measured in earendil-works/pi#120.
    "mistral-conversations": ImageLimits(per_request=8),
    # Many servers have these.
    "openai-completions": _DEFAULT,
    "openai-responses": _DEFAULT,
    "azure-openai-responses": _OPENAI,
    "openai-codex-responses": _OPENAI,
}
_BY_PROVIDER = {
    # OpenAI: "Images and vision" of its API documentation.
    "openai": _OPENAI,
    # Groq: "Images and vision" of its documentation: 5 images, 4 MB of base64, 33 megapixels.
    "groq": ImageLimits(size=4_000_000, accepted=4_000_000, side=5000, per_request=5),
    # Meta: its own error, in anomalyco/opencode#48647.
    "meta": ImageLimits(per_request=50),
}


def limits_of(model: Model | None) -> ImageLimits:
    """Return the limits of a model: of its provider, else of its API, with the model's own on top."""
    return _DEFAULT if model is None else known_limits(model) or _DEFAULT


def known_limits(model: Model) -> ImageLimits | None:
    """Return the limits as ``limits_of`` does; None if neither its provider, its API nor its own limits are known."""
    known = _BY_PROVIDER.get(model.provider) or _BY_API.get(model.api)
    given = model.extra.get("inputLimits")
    return _with(known or _DEFAULT, given) if isinstance(given, dict) else known


def _with(limits: ImageLimits, given: dict[str, Any]) -> ImageLimits:
    """Return the limits with those of ``inputLimits``; what is not a number above 0 is not used."""
    images = _object(given.get("images"))
    resize = _object(images.get("resize"))
    found: dict[str, Any] = {
        "request": given.get("maxRequestBytes"),
        "per_request": images.get("maxPerRequest"),
        "per_message": images.get("maxPerMessage"),
        "width": resize.get("maxWidth"),
        "height": resize.get("maxHeight"),
        "size": resize.get("maxBytes"),
        "quality": resize.get("jpegQuality"),
    }
    changes: dict[str, Any] = {name: value for name, value in found.items() if type(value) is int and value > 0}
    return evolve(limits, **changes)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
