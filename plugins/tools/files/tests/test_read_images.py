"""Images as ``read`` shows them."""

from __future__ import annotations

import base64
import io
import os

import pytest
from PIL import Image

from pi_core import ImageLimits
from pi_tools import ReadOptions, create_read_tool


def image_bytes(form, size=(8, 4), mode="RGB"):
    out = io.BytesIO()
    Image.new(mode, size, "red" if mode == "RGB" else 1).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize(("form", "mime"), [("PNG", "png"), ("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp")])
async def test_a_small_image_is_passed_on_unchanged_whatever_its_name(call, tmp_path, form, mime):
    data = image_bytes(form)
    (tmp_path / "picture.txt").write_bytes(data)

    result = await call("read", path="picture.txt", offset=3, limit=1)

    note, image = result.content
    assert note.text == f"Read image file [image/{mime}]"
    assert (image.mime_type, base64.b64decode(image.data)) == (f"image/{mime}", data)


async def test_a_wide_image_is_shrunk_with_a_note(call, tmp_path):
    (tmp_path / "a.png").write_bytes(image_bytes("PNG", (2500, 40)))

    note, image = (await call("read", path="a.png")).content

    assert note.text == (
        "Read image file [image/png]\n[Image: original 2500x40, displayed at 2000x32. "
        "Multiply coordinates by 1.25 to map to original image.]"
    )
    assert Image.open(io.BytesIO(base64.b64decode(image.data))).size == (2000, 32)


@pytest.mark.slow
async def test_a_heavy_image_is_made_lighter(call, tmp_path):
    noise = Image.frombytes("RGB", (1900, 1900), os.urandom(1900 * 1900 * 3))
    noise.save(tmp_path / "a.png")

    note, image = (await call("read", path="a.png")).content

    assert note.text.startswith("Read image file [image/jpeg]")
    assert len(image.data) <= ImageLimits().size


async def test_a_bitmap_becomes_a_png(call, tmp_path):
    (tmp_path / "a.bmp").write_bytes(image_bytes("BMP"))

    note, image = (await call("read", path="a.bmp")).content

    assert note.text == "Read image file [image/png]\n[Image converted from image/bmp to image/png.]"
    assert image.mime_type == "image/png"


async def test_a_corrupt_image_is_no_error(call, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 100)

    result = await call("read", path="a.png")

    assert [block.text for block in result.content] == [
        "Read image file [image/png]\n[Image omitted: its data is damaged or incomplete.]"
    ]


async def test_a_model_without_vision_gets_the_same_result_which_another_model_may_read_later(call, ctx, tmp_path):
    from attrs import evolve

    ctx.model = evolve(ctx.model, input=("text",))
    (tmp_path / "a.png").write_bytes(image_bytes("PNG"))

    result = await call("read", path="a.png")

    assert [each.type for each in result.content] == ["text", "image"]
    assert result.content[0].text == "Read image file [image/png]"


@pytest.mark.parametrize("how", ["option", "setting"])
async def test_resizing_can_be_turned_off(call, ctx, tmp_path, how):
    data = image_bytes("PNG", (2500, 40))
    (tmp_path / "a.png").write_bytes(data)
    if how == "setting":
        ctx.settings["images.autoResize"] = False
    options = ReadOptions(auto_resize_images=False if how == "option" else None)

    result = await call("read", tool=create_read_tool(tmp_path, options), path="a.png")

    assert base64.b64decode(result.content[1].data) == data
