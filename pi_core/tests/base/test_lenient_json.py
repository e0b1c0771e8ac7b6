"""JSON that was written by hand."""

from __future__ import annotations

import json

import pytest

from pi_core.base.lenient_json import read_json
from pi_testing import for_each


@for_each(
    ("text", "value"),
    [
        ('{"a": 1, // one\n}', {"a": 1}),
        ('{/* one */ "a": 1 /* two\nlines */}', {"a": 1}),
        ('["/* no comment */", "// none", "\\"/*"]', ["/* no comment */", "// none", '"/*']),
    ],
)
def test_comments_and_last_commas_are_left_out(text, value):
    found, strict = read_json(text)

    assert found == value
    assert [len(line) for line in strict.split("\n")] == [len(line) for line in text.split("\n")]


def test_an_error_has_its_place_in_the_text_as_written():
    with pytest.raises(json.JSONDecodeError) as error:
        read_json('/* two\nlines */ {"a": }')

    assert (error.value.lineno, error.value.colno) == (2, 16)
