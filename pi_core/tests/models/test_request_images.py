"""Images of a request that its API would refuse are fitted or replaced by a text; the conversation is unchanged."""

from __future__ import annotations

import base64
import io
from contextlib import aclosing

import pytest
from attrs import evolve
from PIL import Image

from pi_core import ModelRegistry, PluginHost, Settings
from pi_core.models.request_images import RequestImages
from pi_hookspecs import (
    Context,
    ImageContent,
    MessageBuilder,
    Model,
    StreamOptions,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pi_testing import PNG, for_each

CLAUDE = Model(id="m", name="m", api="anthropic-messages", provider="anthropic", input=("text", "image"))


def picture(width=8, height=4, form="PNG"):
    out = io.BytesIO()
    Image.new("RGB", (width, height)).save(out, form)
    return ImageContent(base64.b64encode(out.getvalue()).decode(), f"image/{form.lower()}")


def size_of(image):
    return Image.open(io.BytesIO(base64.b64decode(image.data))).size


class Server:
    """Records the contexts of its requests."""

    def __init__(self):
        self.seen = []

    async def stream(self, model, context, options):
        self.seen.append(context)
        yield MessageBuilder(model).done("stop")


@pytest.fixture
def send():
    """Send blocks as one message; return what the server got of it."""
    server, settings = Server(), {"images": {"autoResize": True, "blockImages": False}}
    images = RequestImages(Settings.in_memory(settings))

    async def send(*blocks, model=CLAUDE, images=images):
        context = Context(system_prompt="", messages=(UserMessage(content=tuple(blocks)),), tools=())
        stream = images.stream_with(server.stream)
        async with aclosing(stream(model, context, StreamOptions())) as events:
            assert [event.type async for event in events] == ["done"]
        assert context.messages[0].content == tuple(blocks)
        return server.seen[-1].messages[0].content

    return send


def outline(content):
    return [block.text if isinstance(block, TextContent) else block.mime_type for block in content]


async def test_images_that_the_api_takes_are_sent_as_they_are(send):
    blocks = (TextContent("look"), picture(), picture(form="JPEG"))

    assert all(sent is block for sent, block in zip(await send(*blocks), blocks, strict=True))
    assert all(sent is block for sent, block in zip(await send(*blocks), blocks, strict=True))


async def test_an_image_of_an_older_session_is_fitted_each_time_and_decoded_once(send, monkeypatch):
    large = picture(3000, 30)
    (first,) = await send(large)
    monkeypatch.setattr("PIL.Image.open", lambda *_: pytest.fail("it was decoded again"))
    (second,) = await send(large)

    assert first.data == second.data
    monkeypatch.undo()
    assert size_of(first) == (2000, 20)


@for_each(
    "data, reason",
    [
        ("!!!", "[Image omitted: its data is not base64.]"),
        ("", "[Image omitted: it has no data.]"),
        ("iVBORw0KGgo=", "[Image omitted: its data is damaged or incomplete.]"),
        ("PHN2Zy8+", "[Image omitted: could not be converted to a supported inline image format.]"),
    ],
)
async def test_a_broken_image_of_an_older_session_becomes_a_text(data, reason, send):
    assert outline(await send(TextContent("look"), ImageContent(data, "image/png"))) == ["look", reason]


async def test_a_type_that_is_not_that_of_the_bytes_is_corrected(send):
    image = picture()

    assert await send(evolve(image, mime_type="image/jpeg")) == (image,)


async def test_a_format_that_the_api_does_not_take_is_converted(send):
    google = evolve(CLAUDE, api="google-generative-ai", provider="google")

    assert outline(await send(picture(form="GIF"), model=google)) == ["image/png"]
    assert outline(await send(picture(form="GIF"))) == ["image/gif"]


async def test_a_model_without_image_input_gets_them_from_its_provider(send):
    broken = ImageContent("!!!", "image/png")

    assert await send(broken, model=evolve(CLAUDE, input=("text",))) == (broken,)


async def test_without_resizing_an_image_is_shrunk_to_what_the_api_takes(send):
    images = RequestImages(Settings.in_memory({"images": {"autoResize": False}}))
    wide, wider = picture(3000, 30), picture(9000, 90)

    sent = await send(wide, wider, images=images)
    many = await send(wide, *[picture()] * 20, images=images)

    assert [*map(size_of, sent)] == [(3000, 30), (8000, 80)]
    assert size_of(many[0]) == (2000, 20)


async def test_blocked_images_are_not_sent(send):
    images = RequestImages(Settings.in_memory({"images": {"blockImages": True}}))

    (line,) = await send(picture(), picture(), images=images)

    assert "images.blockImages" in line.text


@pytest.mark.parametrize("change", [list.append, lambda content, block: content.__setitem__(0, block)])
async def test_images_that_a_plugin_adds_to_a_message_in_place_are_blocked_too(change):
    server, images = Server(), RequestImages(Settings.in_memory({"images": {"blockImages": True}}))
    message = UserMessage(content=[TextContent("look")])
    context = Context(system_prompt="", messages=(message,), tools=())
    stream = images.stream_with(server.stream)
    for _ in range(2):
        async with aclosing(stream(CLAUDE, context, StreamOptions())) as events:
            assert [event.type async for event in events] == ["done"]
        change(message.content, picture())

    async with aclosing(stream(CLAUDE, context, StreamOptions())) as events:
        assert [event.type async for event in events] == ["done"]

    assert not [block for block in server.seen[-1].messages[0].content if block.type == "image"]


@for_each(
    "limits, number, kept",
    [
        ({"images": {"maxPerRequest": 3}}, 3, 3),
        ({"images": {"maxPerRequest": 3}}, 5, 3),
        ({"images": {"maxPerRequest": 10}}, 11, 9),
        ({"images": {"maxPerRequest": 10}}, 12, 10),
        ({"images": {"maxPerMessage": 2}}, 5, 2),
        ({"maxRequestBytes": 300}, 5, 2),
        ({"maxRequestBytes": 3}, 5, 1),
    ],
)
async def test_of_too_many_images_the_newest_are_sent(limits, number, kept, send):
    model = evolve(CLAUDE, extra={"inputLimits": limits})

    sent = outline(await send(*[ImageContent(PNG, "image/png")] * number, model=model))

    assert sent[number - kept :] == ["image/png"] * kept
    assert all("newer ones are sent" in line for line in sent[: number - kept])
    assert len(sent) == number


async def test_results_of_tools_and_programs_without_a_session_are_treated_alike(tmp_path):
    registry, server = (
        ModelRegistry(PluginHost(Settings.in_memory({}), installed=False), Settings.in_memory({})),
        Server(),
    )
    registry.register_api("anthropic-messages", server.stream)
    result = ToolResultMessage(tool_call_id="c", tool_name="t", content=(ImageContent("!!!", "image/png"),))
    context = Context(system_prompt="", messages=(result,), tools=())

    async for _ in registry.stream_of(CLAUDE)(CLAUDE, context, StreamOptions()):
        pass

    assert outline(server.seen[0].messages[0].content) == ["[Image omitted: its data is not base64.]"]
