"""Headers of GGUF files: what is read of them; damaged ones are named and never believed."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_hookspecs import UserError
from pi_provider_llamacpp.gguf import read_header


def test_a_header_says_what_its_model_is(gguf, header):
    named = header.pair("general.name", 8, header.text("Tiny Model"))
    path = gguf(template="{% if tools %}<think>", before=[named])

    read = read_header(path)

    assert (read.architecture, read.name, read.kind, read.tensors) == ("llama", "Tiny Model", "model", 7)
    assert (read.context_length, read.layers, read.cache_width) == (8192, 2, 4 * (16 + 16))
    assert (read.template, read.thinks) == ("{% if tools %}<think>", True)


def test_grouped_heads_and_sizes_of_their_own_count(gguf):
    numbers = {"attention.head_count_kv": 1, "attention.key_length": 24, "attention.value_length": 8}

    assert read_header(gguf(**numbers)).cache_width == 24 + 8


def test_a_model_without_a_template_has_none(gguf):
    assert read_header(gguf()).template == ""


def test_heads_that_differ_by_layer_count_as_the_most(gguf, header):
    heads = header.pair("llama.attention.head_count_kv", 9, struct.pack("<IQII", 4, 2, 1, 3))

    assert read_header(gguf(before=[heads])).cache_width == 3 * 32


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "ends after 0 bytes"),
        (b"PK\x03\x04 a zip file", "does not begin with the letters GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 9, 1, 1), "version 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 1 << 60), "claims 1,152,921,504,606,846,976 entries"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 1 << 50), "a string claims"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 1) + b"a" + struct.pack("<I", 77), "unknown type 77"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 1) + b"a" + struct.pack("<IIQ", 9, 4, 1 << 62), "more than"),
    ],
)
def test_a_damaged_header_is_reported_with_the_file(tmp_path, content, says):
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)

    with pytest.raises(UserError, match=r"broken\.gguf") as caught:
        read_header(path)

    assert says in str(caught.value)


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        read_header(tmp_path / "gone.gguf")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_is_anything_but_a_header_or_an_error(tmp_path, header, data):
    content = bytearray(header(template="{{ messages }}"))
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "fuzzed.gguf"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])

    with suppress(UserError):  # any other exception fails
        assert read_header(path).context_length >= 0
