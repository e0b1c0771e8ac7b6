"""``generate_image`` writes new files below the working directory and displays them; the cost is the session's."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import pi_image_generation
from pi_hookspecs import ImageContent, UserError, hookimpl
from pi_image_generation.files import ImageFiles
from pi_testing import PNG, FakeWorkspace, for_each, image, text, tool_call, usage

BYTES = base64.b64decode(PNG)

pytestmark = pytest.mark.pi(
    plugins={"image-generation": pi_image_generation}, settings={"imageGeneration": {"enabled": True}}
)


class Elsewhere:
    """Redirects the files."""

    workspace = FakeWorkspace()

    @hookimpl
    def register_services(self):
        return [self.workspace]


async def result(pi_session, script, *steps, **arguments):
    script.turn(tool_call("generate_image", **{"prompt": "A red boat!", **arguments}))
    if steps:
        script.turn(*steps)
    script.turn(text("Done."))
    await pi_session.prompt("draw")
    return script.requests[-1].tool_results[0]


async def test_an_image_is_written_displayed_and_paid_for(pi_session, script):
    drawn = await result(pi_session, script, text("A boat."), image(), usage(input=3, output=4, cost=0.02))

    assert (Path(pi_session.cwd) / "images" / "a-red-boat.png").read_bytes() == BYTES
    assert drawn.text == (
        f"Wrote images/a-red-boat.png ({len(BYTES)} bytes, image/png)\nDrawn by scripted/painter for $0.0200\n"
        "The model wrote: A boat."
    )
    assert drawn.content[1] == ImageContent(PNG, "image/png")
    assert script.requests[1].model.id == "painter"
    (spent,) = [each for each in pi_session.session_manager.get_entries() if each.type == "usage"]
    assert (spent.kind, spent.usage.cost.total) == ("image", 0.02)


async def test_names_are_not_used_twice_and_the_suffix_is_that_of_the_image(pi_session, script):
    first = await result(pi_session, script, image(), image())
    named = await result(pi_session, script, image(), path="art/boat.jpg")

    assert "images/a-red-boat.png" in first.text
    assert "images/a-red-boat-2.png" in first.text
    assert "Wrote art/boat.png" in named.text


async def test_an_image_that_is_paid_for_is_kept_where_the_name_with_its_suffix_is_taken(pi_session, script):
    (Path(pi_session.cwd) / "boat.png").write_bytes(b"mine")

    drawn = await result(pi_session, script, image(), path="boat.jpg")

    assert "Wrote boat-2.png" in drawn.text
    assert (Path(pi_session.cwd) / "boat.png").read_bytes() == b"mine"


async def test_an_image_that_cannot_be_written_where_it_belongs_is_kept_in_a_temporary_file(pi_session, script):
    (Path(pi_session.cwd) / "images").write_text("a file, not a folder")

    drawn = await result(pi_session, script, image(), usage(cost=0.02))

    kept = Path(re.search(r"Wrote (\S+) instead", drawn.text)[1])
    assert drawn.text.startswith("images/a-red-boat cannot be written: Not a directory. Wrote ")
    assert kept.read_bytes() == BYTES
    assert not drawn.is_error
    kept.unlink()


async def test_an_image_that_can_be_written_nowhere_is_still_displayed(pi_session, script, monkeypatch):
    (Path(pi_session.cwd) / "images").write_text("a file, not a folder")
    monkeypatch.setattr("tempfile.tempdir", str(Path(pi_session.cwd) / "missing"))

    drawn = await result(pi_session, script, image())

    assert drawn.is_error
    assert "the image is only in this conversation" in drawn.text
    assert drawn.content[1] == ImageContent(PNG, "image/png")


async def test_a_full_disk_leaves_no_half_of_an_image(tmp_path):
    resource = pytest.importorskip("resource")
    files = ImageFiles(SimpleNamespace(cwd=tmp_path, file_operations=lambda: None))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(UserError, match="boat cannot be written"):
            await files.write(BYTES, "image/png", "", "boat")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.pi(plugins={"image-generation": pi_image_generation, "elsewhere": Elsewhere()})
async def test_no_file_of_another_machine_is_replaced(pi_session, script):
    files = Elsewhere.workspace.contents
    files.update({f"{pi_session.cwd}/{name}": b"mine" for name in ("images/a-red-boat.png", "boat.png")})

    refused = await result(pi_session, script, path="boat.png")
    drawn = await result(pi_session, script, image())

    assert "boat.png exists" in refused.text
    assert "Wrote images/a-red-boat-2.png" in drawn.text
    assert [files.pop(name) for name in sorted(files)] == [b"mine", BYTES, b"mine"]


async def test_an_image_to_start_from_is_sent(pi_session, script):
    (Path(pi_session.cwd) / "sketch.png").write_bytes(BYTES)

    await result(pi_session, script, image(), images=["sketch.png"], size="2K", aspect_ratio="16:9")

    request = script.requests[1]
    assert ImageContent(PNG, "image/png") in request.messages[0].content
    assert request.options.image_options == {"size": "2K", "aspect_ratio": "16:9"}


@for_each(
    ("path", "reason"),
    [
        ("../boat.png", "outside the working directory"),
        ("/elsewhere/boat.png", "outside the working directory"),
        (".git/hooks/boat.png", "hidden"),
        ("boat.py", "not the name of an image"),
        ("there.png", "exists"),
        ("link/boat.png", "behind a link"),
        ("\0", "not the path of a file"),
    ],
)
async def test_other_paths_are_refused_before_anything_is_drawn(pi_session, script, tmp_path_factory, path, reason):
    cwd = Path(pi_session.cwd)
    (cwd / "there.png").write_bytes(b"mine")
    if not (cwd / "link").exists():
        (cwd / "link").symlink_to(tmp_path_factory.mktemp("elsewhere"))

    refused = await result(pi_session, script, path=path)

    assert refused.is_error
    assert reason in refused.text
    assert "painter" not in [request.model.id for request in script.requests]
    assert (cwd / "there.png").read_bytes() == b"mine"


@for_each(
    ("steps", "reason"),
    [
        ([text("I cannot draw that.")], "returned no image; it answered 'I cannot draw that.'"),
        ([image("PGh0bWw+")], "not a PNG, JPEG, GIF or WebP image"),
    ],
)
async def test_a_model_that_returns_no_image_is_an_error_and_leaves_no_file(pi_session, script, steps, reason):
    failed = await result(pi_session, script, *steps)

    assert failed.is_error
    assert reason in failed.text
    assert not (Path(pi_session.cwd) / "images").exists()


async def test_a_large_image_is_written_and_not_put_into_the_conversation(pi_session, script):
    large = base64.b64encode(BYTES + bytes(4_000_000)).decode()

    drawn = await result(pi_session, script, image(large))

    assert "too large to be displayed here" in drawn.text
    assert len(drawn.content) == 1
    assert (Path(pi_session.cwd) / "images" / "a-red-boat.png").stat().st_size > 4_000_000


@pytest.mark.pi(settings={"imageGeneration": {"enabled": True, "model": "judge"}})
async def test_a_model_of_the_setting_that_cannot_draw_is_named(pi_session, script):
    failed = await result(pi_session, script)

    assert failed.is_error
    assert "judge" in failed.text
    assert "The known image models are scripted/painter" in failed.text
