"""Images that fit a model's limits: what is unchanged, shrunk, converted and left out."""

from __future__ import annotations

import base64
import io
import os
import struct
import zlib

import pytest
from PIL import Image

from pi_core import ImageLimits, decode_base64, fit_image, limits_of
from pi_core.base.images.fitting import encode_base64
from pi_core.base.images.header import read_header
from pi_hookspecs import Model
from pi_testing import PNG, for_each

DAMAGED = "[Image omitted: its data is damaged or incomplete.]"
FORMAT = "[Image omitted: could not be converted to a supported inline image format.]"
SIZE = "[Image omitted: could not be resized below the inline image size limit.]"


def saved(form="PNG", size=(8, 4), mode="RGB", **options):
    out = io.BytesIO()
    Image.new(mode, size).save(out, form, **options)
    return out.getvalue()


def noise(width, height):
    out = io.BytesIO()
    Image.frombytes("RGB", (width, height), os.urandom(width * height * 3)).save(out, "PNG")
    return out.getvalue()


def chunk(kind, data, checksum=None):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum or zlib.crc32(kind + data))


def png_of(width, height, checksum=None):
    """Return a PNG whose header names this size, without the pixels of it."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = zlib.compress(b"\0\x80" * 4)
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", pixels, checksum) + chunk(b"IEND", b"")


def size_of(fitted):
    return Image.open(io.BytesIO(base64.b64decode(fitted.data))).size


@for_each("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_an_image_that_fits_is_unchanged_and_named_by_its_bytes(form):
    content = saved(form)

    assert fit_image(content) == (encode_base64(content), f"image/{form.lower()}", ())
    assert fit_image(f"data:image/x;base64,{base64.b64encode(content).decode()}").data == encode_base64(content)


@for_each(
    "what, content, size, factor",
    [
        ("too wide", saved(size=(2500, 40)), (2000, 32), "1.25"),
        ("too high", saved(size=(30, 4000)), (15, 2000), "2.00"),
        ("both", saved(size=(3000, 2500)), (2000, 1667), "1.50"),
        ("palette", saved(size=(2500, 40), mode="P"), (2000, 32), "1.25"),
        ("transparent", saved(size=(2500, 40), mode="RGBA"), (2000, 32), "1.25"),
        ("JPEG", saved("JPEG", (2500, 40)), (2000, 32), "1.25"),
        ("CMYK", saved("JPEG", (2500, 40), "CMYK"), (2000, 32), "1.25"),
    ],
)
def test_a_large_image_is_shrunk_with_a_note(what, content, size, factor):
    fitted = fit_image(content)
    was = "{}x{}".format(*Image.open(io.BytesIO(content)).size)

    assert size_of(fitted) == size, what
    note = f"[Image: original {was}, displayed at {size[0]}x{size[1]}. Multiply coordinates by {factor} to map to "
    assert fitted.notes == (f"{note}original image.]",)


@for_each(
    "form, mime",
    [("BMP", "image/bmp"), ("TIFF", "image/tiff"), ("ICO", "image/x-icon"), ("PPM", "image/x-portable-anymap")],
)
def test_another_format_becomes_a_png(form, mime):
    fitted = fit_image(saved(form, (16, 16)))

    assert (fitted.mime_type, size_of(fitted)) == ("image/png", (16, 16))
    assert fitted.notes == (f"[Image converted from {mime} to image/png.]",)


@for_each(
    "what, image, reason",
    [
        ("nothing", "", "[Image omitted: it has no data.]"),
        ("no base64", "!!!", "[Image omitted: its data is not base64.]"),
        ("a word", "https://example.com/a.png", "[Image omitted: its data is not base64.]"),
        ("no image", base64.b64encode(b"plain text").decode(), FORMAT),
        ("a drawing", b"<svg/>", FORMAT),
        ("only the signature", b"\x89PNG\r\n\x1a\n", DAMAGED),
        ("half a PNG", noise(20, 20)[:400], DAMAGED),
        ("half a JPEG", saved("JPEG", (64, 64))[:300], DAMAGED),
        ("half a GIF", saved("GIF", (64, 64))[:-20], DAMAGED),
        ("half a WEBP", saved("WEBP", (64, 64))[:-9], DAMAGED),
        ("half a bitmap", saved("BMP", (64, 64))[:90], DAMAGED),
        ("a size of 0", png_of(0, 5), DAMAGED),
        ("pixels without data", png_of(100, 100), DAMAGED),
        ("a bomb", png_of(60_000, 60_000), "[Image omitted: 60000x60000 pixels are more than can be decoded.]"),
    ],
)
def test_a_broken_image_is_left_out_with_its_reason(what, image, reason):
    assert fit_image(image) == ("", "", (reason,)), what
    assert fit_image(image, resize=False).omitted


def test_a_wrong_checksum_which_viewers_ignore_is_corrected():
    fitted = fit_image(png_of(1, 4, checksum=1))

    assert size_of(fitted) == (1, 4)
    assert read_header(base64.b64decode(fitted.data)).complete


def test_without_resizing_only_what_an_api_refuses_is_shrunk():
    assert fit_image(saved(size=(2500, 40)), resize=False).notes == ()
    assert size_of(fit_image(saved(size=(9000, 120)), resize=False)) == (8000, 107)


def test_a_heavy_image_becomes_lighter_until_it_fits():
    content = noise(300, 300)

    assert fit_image(content, ImageLimits(size=100_000)).mime_type == "image/jpeg"
    assert size_of(fit_image(content, ImageLimits(size=10_000)))[0] < 300
    assert fit_image(content, ImageLimits(size=10)).notes == (SIZE,)


def test_grey_with_16_bits_keeps_its_brightness():
    out = io.BytesIO()
    Image.new("I;16", (2500, 10), 0x8000).save(out, "PNG")

    small = Image.open(io.BytesIO(base64.b64decode(fit_image(out.getvalue()).data)))

    assert small.convert("L").getpixel((5, 5)) == 0x80


def test_a_photo_is_turned_as_its_camera_was_held():
    turned = Image.Exif()
    turned[0x0112] = 6  # a quarter

    assert size_of(fit_image(saved("JPEG", (2400, 1200), exif=turned))) == (1000, 2000)


def test_formats_that_pi_does_not_decode_go_to_models_that_take_them():
    heic = b"\0\0\0\x18ftypheic" + b"\0" * 20

    assert fit_image(heic).notes == (FORMAT,)
    assert fit_image(heic, limits_of(model(api="google-generative-ai"))).mime_type == "image/heic"


@for_each("text", ["aGk", "aGk=", " aG\nk= ", "data:text/plain;base64,aGk="])
def test_base64_is_read_in_every_spelling(text):
    assert decode_base64(text) == b"hi"


def test_base64_of_many_pieces_is_complete():
    content = os.urandom(3_000_001)

    assert encode_base64(content) == base64.b64encode(content).decode()
    assert decode_base64(encode_base64(content)) == content
    with pytest.raises(ValueError, match="base64"):
        decode_base64("A" * (1 << 20) + "!!!!")


# Limits


def model(**fields):
    return Model(**{"id": "m", "name": "m", "api": "anthropic-messages", "provider": "acme"} | fields)


def test_limits_are_those_of_the_provider_then_the_api_and_then_the_smallest():
    assert limits_of(model()).per_request == 100
    assert limits_of(model(api="openai-completions", provider="groq")).per_request == 5
    assert limits_of(model(api="openai-completions", provider="vllm")) == limits_of(None) == ImageLimits()
    assert "image/gif" not in limits_of(model(api="google-generative-ai")).formats


def test_a_models_own_limits_take_precedence():
    given = {"maxRequestBytes": 9, "images": {"maxPerRequest": 2, "resize": {"maxWidth": 640, "maxBytes": "x"}}}

    limits = limits_of(model(extra={"inputLimits": given}))

    assert (limits.request, limits.per_request, limits.width) == (9, 2, 640)
    assert limits.size == ImageLimits().size
    assert limits_of(model(extra={"inputLimits": {"images": 7}})) == limits_of(model())


def test_the_pixel_of_the_tests_fits():
    assert fit_image(PNG) == (PNG, "image/png", ())
