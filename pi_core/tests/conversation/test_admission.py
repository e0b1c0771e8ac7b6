"""Images are made to fit whichever way they enter a session: a table of ways and kinds of images."""

from __future__ import annotations

import asyncio
import base64
import io
import struct
import zlib
from types import SimpleNamespace

from attrs import evolve
from PIL import Image

from pi_core import ModelRegistry, PluginHost, Settings, convert_to_llm
from pi_hookspecs import (
    Context,
    CustomMessage,
    ImageContent,
    InputResult,
    MessageBuilder,
    MessageEndResult,
    Model,
    StreamOptions,
    TextContent,
    ToolResult,
    ToolResultResult,
    UserMessage,
    hookimpl,
)
from pi_testing import PNG, for_each, make_tool, text, tool_call


def saved(width=8, height=4, form="PNG"):
    out = io.BytesIO()
    Image.new("RGB", (width, height)).save(out, form)
    return out.getvalue()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb():
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def image(content, mime="image/png"):
    return ImageContent(content if isinstance(content, str) else base64.b64encode(content).decode(), mime)


FITTED = {
    "large": (image(saved(3000, 2500)), (2000, 1667), "image/png", "displayed at 2000x1667"),
    "a bitmap": (image(saved(form="BMP"), "image/bmp"), (8, 4), "image/png", "converted from image/bmp"),
    "TIFF": (image(saved(form="TIFF"), "image/tiff"), (8, 4), "image/png", "converted from image/tiff"),
    "a wrong type": (image(saved(form="JPEG")), (8, 4), "image/jpeg", ""),
}
BROKEN = {
    "truncated": (image(saved(40, 40)[:60]), "damaged or incomplete"),
    "only a signature": (image(b"\x89PNG\r\n\x1a\n"), "damaged or incomplete"),
    "a bomb": (image(bomb()), "60000x60000 pixels"),
    "no base64": (image("!!!"), "not base64"),
    "nothing": (image(""), "no data"),
    "a drawing": (image(b"<svg/>", "image/svg+xml"), "supported inline image format"),
}


# Ways into a session: each returns the stored message


async def by_prompt(session_of, script, picture):
    session = session_of()
    script.turn(text("ok"))
    await session.prompt("look", images=[picture])
    return session.messages[0]


async def by_steer(session_of, script, picture):
    session = session_of()
    session.steer("look", [picture])
    script.turn(text("ok"))
    await session.prompt("go")
    assert not session.agent.has_queued_messages()
    return session.messages[1]


async def by_follow_up(session_of, script, picture):
    session = session_of()
    session.follow_up("look", [picture])
    script.turn(text("1")).turn(text("2"))
    await session.prompt("go")
    assert not session.agent.has_queued_messages()
    return session.messages[2]


async def by_message(session_of, script, picture):
    session = session_of()
    script.turn(text("ok"))
    await session.prompt(UserMessage(content=(TextContent("look"), picture)))
    return session.messages[0]


async def by_text_of_a_plugin(session_of, script, picture):
    session = session_of()
    script.turn(text("ok"))
    await session.send_user_message([TextContent("look"), picture])
    return session.messages[0]


async def by_input_hook(session_of, script, picture):
    session = session_of(plugin(input=lambda event: InputResult(images=(picture,))))
    script.turn(text("ok"))
    await session.prompt("look")
    return session.messages[0]


async def by_message_of_a_plugin(session_of, script, picture):
    session = session_of()
    await session.send_custom_message(CustomMessage(custom_type="x", content=(TextContent("look"), picture)))
    return session.messages[0]


async def by_message_that_starts_a_turn(session_of, script, picture):
    session = session_of()
    message = CustomMessage(custom_type="x", content=(TextContent("look"), picture))
    script.turn(text("ok"))
    await session.send_custom_message(message, trigger_turn=True)
    return session.messages[0]


async def by_tool(session_of, script, picture):
    session = session_of(tools=[make_tool("look", ToolResult(content=(TextContent("look"), picture)))])
    script.turn(tool_call("look")).turn(text("ok"))
    await session.prompt("go")
    return session.messages[2]


async def by_tool_result_hook(session_of, script, picture):
    content = (TextContent("look"), picture)
    session = session_of(plugin(tool_result=lambda event: ToolResultResult(content=content)), tools=[make_tool("look")])
    script.turn(tool_call("look")).turn(text("ok"))
    await session.prompt("go")
    return session.messages[2]


async def by_message_end_hook(session_of, script, picture):
    def replaced(event):
        if event.message.role == "user":
            return MessageEndResult(message=evolve(event.message, content=(TextContent("look"), picture)))
        return None

    session = session_of(plugin(message_end=replaced))
    script.turn(text("ok"))
    await session.prompt("go")
    return session.messages[0]


OF_THE_USER = (by_prompt, by_steer, by_follow_up, by_message, by_text_of_a_plugin, by_input_hook, by_message_end_hook)
OF_OTHERS = (by_message_of_a_plugin, by_message_that_starts_a_turn, by_tool, by_tool_result_hook)


class Plugin:
    """Hooks of a test."""


def plugin(**hooks):
    made = Plugin()
    for name, function in hooks.items():
        setattr(made, name, hookimpl(function))
    return made


def outline(message):
    """Return the texts of a message, and the sizes and types of its images."""
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    images = [block for block in message.content if isinstance(block, ImageContent)]
    sizes = [Image.open(io.BytesIO(base64.b64decode(each.data))).size for each in images]
    return "\n".join(texts), sizes, [each.mime_type for each in images]


@for_each("way", [*OF_THE_USER, *OF_OTHERS])
@for_each("kind", FITTED)
async def test_an_image_fits_when_it_is_stored(way, kind, session_of, script):
    picture, size, mime_type, note = FITTED[kind]
    texts, sizes, types = outline(await way(session_of, script, picture))

    assert (sizes, types) == ([size], [mime_type])
    assert texts.startswith("look")
    assert note in texts


@for_each("way", OF_THE_USER)
@for_each("kind", BROKEN)
async def test_a_broken_image_of_a_user_is_left_out_with_its_reason(way, kind, session_of, script, recorder):
    picture, reason = BROKEN[kind]
    texts, sizes, _ = outline(await way(session_of, script, picture))

    assert sizes == []
    assert texts.startswith("look\n\n[Image omitted: ")
    assert reason in texts


@for_each("way", OF_OTHERS)
@for_each("kind", BROKEN)
async def test_a_broken_image_of_others_is_left_out_of_requests_alone(way, kind, session_of, script):
    picture, reason = BROKEN[kind]
    message = await way(session_of, script, picture)
    registry, sent = ModelRegistry.create(host=PluginHost(Settings.in_memory({}), installed=False), environ={}), []

    async def stream(model, context, options):
        sent.extend(block for block in context.messages[0].content if isinstance(block, TextContent))
        yield MessageBuilder(model).done()

    model = Model(id="m", name="m", api="openai-completions", provider="x", input=("text", "image"))
    registry.register_api("openai-completions", stream)
    context = Context(system_prompt="", messages=tuple(convert_to_llm([message])), tools=())
    async for _ in registry.stream_of(model)(model, context, StreamOptions()):
        pass

    assert message.content == (TextContent("look"), picture)
    assert reason in sent[-1].text


async def test_an_image_that_fits_leaves_its_message_as_it_is(session_of, script):
    message = UserMessage(content=(TextContent("look"), ImageContent(PNG, "image/png")))
    session = session_of()
    script.turn(text("ok"))
    await session.prompt(message)

    assert session.messages[0] is message


async def test_the_user_is_told_which_image_was_left_out(session_of, script):
    session, told = session_of(), []
    await session.bind_extensions(ui=SimpleNamespace(notify=lambda text, level="info": told.append((text, level))))
    script.turn(text("ok"))
    await session.prompt("look", images=[ImageContent("!!!", "image/png"), ImageContent(PNG, "image/png")])

    assert told == [("An image of the prompt was left out. [Image omitted: its data is not base64.]", "warning")]


async def test_images_of_a_prompt_are_shrunk_only_if_the_user_wants_that(session_of, script):
    session = session_of(settings={"images": {"autoResize": False}})
    picture = FITTED["large"][0]
    script.turn(text("ok"))
    await session.prompt("look", images=[picture])

    assert session.messages[0].content == (TextContent("look"), picture)


async def test_other_tasks_run_while_an_image_is_decoded(session_of, script):
    session, turns = session_of(), 0
    script.turn(text("ok"))
    prompting = asyncio.ensure_future(session.prompt("look", images=[FITTED["large"][0]]))
    while not session.messages:
        turns += 1
        await asyncio.sleep(0)
    await prompting

    assert turns > 50
