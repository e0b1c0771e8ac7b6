"""Names of tools, which of them are offered at once, how the others are found, and what results look like."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pi_mcp.entries import read_entry
from pi_mcp.offer import Exposures, tool_names
from pi_mcp.questions import form_fields
from pi_mcp.search import Found, search
from pi_mcp.sidecar.checked import sound_content
from pi_mcp.sidecar.content import as_result


def server(name: str, **entry: Any) -> Any:
    return read_entry(name, {"command": "x", **entry}, scope="user", origin="test")[0]


def tools(count: int, size: int = 10) -> list[dict[str, Any]]:
    return [{"name": f"t{n}", "description": "x" * size, "inputSchema": {"type": "object"}} for n in range(count)]


def no() -> bool:
    """Answer whether there is code mode, or whether it is active, in a session without it."""
    return False


@given(st.lists(st.text(max_size=90), unique=True, max_size=20))
def test_each_tool_has_a_name_of_its_own_that_every_api_takes(names: list[str]) -> None:
    found = tool_names("my-tides", names)

    assert len({name.lower() for name in found.values()}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in found.values())


def test_an_ordinary_name_is_kept_and_both_of_a_pair_get_a_suffix() -> None:
    found = tool_names("tide", ["high water", "high_water", "low"])

    assert found["low"] == "mcp__tide__low"
    assert found["high water"].startswith("mcp__tide__high_water_")
    assert found["high_water"] != "mcp__tide__high_water"


def test_small_servers_are_direct_and_the_largest_are_deferred() -> None:
    exposures = Exposures(128_000, no, no)
    exposures.decide({"big": (server("big"), tools(25)), "small": (server("small"), tools(6))})

    assert exposures.of(server("small"), "t0") == "direct"
    assert exposures.of(server("big"), "t0") == "deferred"


def test_tools_that_take_too_much_of_the_window_are_deferred() -> None:
    exposures = Exposures(8_000, no, no)
    exposures.decide({"wordy": (server("wordy"), tools(2, size=4_000))})

    assert exposures.of(server("wordy"), "t0") == "deferred"


def test_what_was_decided_stays_when_another_server_comes() -> None:
    exposures = Exposures(128_000, no, no)
    exposures.decide({"first": (server("first"), tools(28))})
    exposures.decide({"first": (server("first"), tools(28)), "later": (server("later"), tools(5))})

    assert exposures.of(server("first"), "t0") == "direct"
    assert exposures.of(server("later"), "t0") == "deferred"


def test_the_users_choice_for_a_tool_comes_before_that_for_its_server() -> None:
    entry = server("a", exposure="deferred", toolExposure={"read_*": "direct", "read_secret": "hidden"})
    exposures = Exposures(128_000, no, no)
    exposures.decide({"a": (entry, tools(1))})

    assert [exposures.of(entry, name) for name in ("read_x", "read_secret", "write")] == [
        "direct",
        "hidden",
        "deferred",
    ]


@pytest.mark.parametrize(
    ("code_mode", "of_code", "of_auto"),
    [(None, "deferred", "deferred"), (False, "code", "deferred"), (True, "code", "code")],
)
def test_scripts_call_what_is_not_declared_where_there_is_code_mode(code_mode, of_code, of_auto) -> None:
    exposures = Exposures(128_000, lambda: code_mode is not None, lambda: code_mode is True)
    chosen, large = server("chosen", exposure="codemode"), server("large")
    exposures.decide({"chosen": (chosen, tools(1)), "large": (large, tools(31))})

    assert exposures.of(chosen, "t0") == of_code
    assert exposures.of(large, "t0") == of_auto


FOUND = [
    Found(name="mcp__a__listTides", tool="listTides", description="Tides of a harbour", schema={}),
    Found(name="mcp__a__wind", tool="wind", description="How strong the wind is", schema={}),
    Found(
        name="mcp__b__post",
        tool="post",
        description="Sends a message",
        schema={"$defs": {"to": {"description": "a harbour master"}}, "properties": {"to": {"$ref": "#/$defs/to"}}},
    ),
]


def test_words_in_names_descriptions_and_referenced_arguments_are_found() -> None:
    assert [each.tool for each in search("tides", FOUND, 8)] == ["listTides"]
    assert [each.tool for each in search("strong wind", FOUND, 8)] == ["wind"]
    assert {each.tool for each in search("harbour", FOUND, 8)} == {"listTides", "post"}


def test_an_exact_name_comes_first_and_more_words_before_a_rare_one() -> None:
    assert search("post", FOUND, 1)[0].tool == "post"
    assert search("harbour tides", FOUND, 8)[0].tool == "listTides"


@given(st.text(max_size=30), st.integers(min_value=1, max_value=3))
def test_any_query_finds_at_most_what_was_asked_for(query: str, limit: int) -> None:
    assert len(search(query, FOUND, limit)) <= limit


def test_structured_content_is_json_where_there_is_no_text() -> None:
    found = as_result({"content": [], "structuredContent": [1, {"depth": 6}]})

    assert json.loads(found["content"][0]["text"]) == [1, {"depth": 6}]
    assert found["details"] == {"structured": [1, {"depth": 6}]}


def test_a_long_text_keeps_its_ends_and_all_of_it_is_in_a_private_file() -> None:
    found = as_result({"content": [{"type": "text", "text": "a" + "\U0001f30a" * 50_000 + "z"}]})
    text, path = found["content"][0]["text"], Path(found["details"]["path"])

    assert text.startswith("a\U0001f30a")
    assert text.endswith("\U0001f30az")
    assert f"30002 characters are left out here; all of it is in {path}" in text
    assert path.read_text(encoding="utf-8") == "a" + "\U0001f30a" * 50_000 + "z"
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()


def test_control_characters_and_half_characters_are_made_harmless() -> None:
    found = as_result({"content": [{"type": "text", "text": "red \x1b[31m\x07 \ud83d ok"}]})

    assert found["content"][0]["text"] == r"red \x1b[31m\x07 ? ok"


def picture(side: int, form: str = "PNG") -> str:
    out = io.BytesIO()
    Image.new("RGB", (side, 10), "teal").save(out, form)
    return base64.b64encode(out.getvalue()).decode()


def passed_on(data: str, mime_type: str, **how: Any) -> tuple[tuple[int, int], str]:
    *_, image = as_result({"content": [{"type": "image", "data": data, "mimeType": mime_type}]}, **how)["content"]
    return Image.open(io.BytesIO(base64.b64decode(image["data"]))).size, image["mimeType"]


def test_images_are_passed_on_in_a_size_and_a_format_that_models_take() -> None:
    small = picture(20)

    assert as_result({"content": [{"type": "image", "data": small, "mimeType": "image/png"}]})["content"] == [
        {"type": "image", "data": small, "mimeType": "image/png"}
    ]
    assert passed_on(picture(4000), "image/png") == ((2000, 5), "image/png")
    assert passed_on(picture(20, "BMP"), "image/bmp") == ((20, 10), "image/png")


def test_an_image_with_a_wrong_checksum_is_mended() -> None:
    raw = base64.b64decode(picture(20))
    at = raw.index(b"IDAT") - 4
    faulty = base64.b64encode(raw[:at] + b"\0\0\0\0tEXt" + b"\0\0\0\0" + raw[at:]).decode()

    (image,) = as_result({"content": [{"type": "image", "data": faulty, "mimeType": "image/png"}]})["content"]

    assert image["data"] != faulty
    assert passed_on(faulty, "image/png") == ((20, 10), "image/png")


TINY = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII="


@pytest.mark.parametrize(
    "written", [TINY, TINY.rstrip("="), f"data:image/png;base64,{TINY}", f"{TINY[:60]}\n{TINY[60:]}"]
)
@pytest.mark.parametrize("mime_type", ["image/png", "image/jpg", ""])
def test_an_image_of_one_pixel_arrives_however_its_base64_and_its_type_are_written(written, mime_type) -> None:
    found = as_result({"content": [{"type": "image", "data": written, "mimeType": mime_type}]})

    assert found["content"] == [{"type": "image", "data": TINY, "mimeType": "image/png"}]


def test_each_invalid_part_of_a_result_becomes_a_text_that_says_what_is_wrong() -> None:
    sound = {"type": "text", "text": "high water"}
    link = {"type": "resource_link", "uri": "tide://brest"}
    blob = {"type": "resource", "resource": {"uri": "tide://brest", "blob": 3}}
    picture = {"type": "image", "data": "x"}

    found = sound_content([sound, link, blob, picture, {"type": "video"}, 7, "plain"])

    assert (found[0], found[-1]) == (sound, {"type": "text", "text": "plain"})
    assert [each["text"] for each in found[1:-1]] == [
        found[1]["text"],
        found[2]["text"],
        "[Part 4 of 7 of this result, of type 'image', is left out, because it is not valid: mimeType: field required]",
        "[Part 5 of 7 of this result is left out, because it is not valid: its type is 'video']",
        "[Part 6 of 7 of this result is left out, because it is not valid: it is not an object]",
    ]
    assert found[1]["text"].endswith(
        "type 'resource_link', is left out, because it is not valid: name: field required]"
    )
    assert found[2]["text"].startswith("[Part 3 of 7 of this result, of type 'resource', is left out")


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [("iVBORw0KGgo=", "image/png"), ("<svg/>", "image/svg+xml"), (picture(4000)[:90], "image/png")],
)
def test_what_no_model_takes_as_an_image_is_saved(data: str, mime_type: str) -> None:
    found = as_result({"content": [{"type": "image", "data": data, "mimeType": mime_type}]})
    path = Path(found["details"]["path"])

    assert found["content"] == [{"type": "text", "text": f"[image {mime_type}, saved to {path}]"}]
    path.unlink()


def test_audio_is_saved() -> None:
    found = as_result({"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/x-wav"}]})
    path = Path(found["details"]["path"])

    assert path.read_bytes() == b"RIFF"
    path.unlink()


def test_a_resource_link_says_how_to_read_it() -> None:
    found = as_result({"content": [{"type": "resource_link", "uri": "tide://brest", "name": "brest"}]})

    assert found["content"][0]["text"] == "[resource tide://brest (brest); read_mcp_resource reads it]"


def test_every_kind_of_a_servers_question_is_a_field() -> None:
    properties = {
        "name": {"type": "string", "minLength": 2, "default": "Brest"},
        "zone": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
        "kind": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["p", "q"]}},
        "depth": {"type": "integer", "minimum": 0},
        "dry": {"type": "boolean", "default": True},
    }

    fields = {each.name: each for each in form_fields({"properties": properties, "required": ["name"]})}

    assert [each.type for each in fields.values()] == ["text", "choice", "choice", "choices", "integer", "boolean"]
    assert (fields["name"].default, fields["name"].required, fields["dry"].default) == ("Brest", True, True)
    assert [each.label for each in fields["zone"].options] == ["A", "B"]


def test_a_pattern_of_a_form_that_takes_for_ever_is_given_up() -> None:
    schema = {"properties": {"slow": {"type": "string", "pattern": "^(a+)+$"}, "plain": {"type": "string"}}}

    slow, plain = form_fields(schema)

    assert slow.pattern is None  # Python's own search has no limit
    assert slow.check is not None
    assert slow.check("a" * 40 + "!") in (None, "must match '^(a+)+$'")
    assert slow.check("aaa") is None
    assert plain.check is None


def test_a_field_that_does_not_match_its_pattern_is_explained_by_its_description() -> None:
    code = {"type": "string", "pattern": "^[A-Z]{3}$"}

    plain, described = form_fields({"properties": {"a": code, "b": {**code, "description": "Three capitals"}}})

    assert plain.check is not None
    assert plain.check("x") == "must match '^[A-Z]{3}$'"
    assert described.check is not None
    assert described.check("x") == "Three capitals"
    assert described.check("BRE") is None
