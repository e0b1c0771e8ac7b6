"""What is typed, pasted or put into the line is drawn with all its characters."""

from __future__ import annotations

import pytest
from prompt_toolkit.document import Document
from prompt_toolkit.layout.processors import TransformationInput

from pi_cli.line.hidden import ShowHidden

MARK = "\N{REPLACEMENT CHARACTER}"


def drawn(*parts):
    """Return the row of a text in these parts, and where a cursor at its end is drawn."""
    text = "".join(parts)
    asked = TransformationInput(None, Document(text), 0, int, [("", each) for each in parts], 80, 1)
    made = ShowHidden().apply_transformation(asked)
    return "".join(each[1] for each in made.fragments), made.source_to_display(len(text))


@pytest.mark.parametrize("hidden", list("\u202e\u2066\u2069\u200b\u200f\u061c\ufeff\U000e0041"))
def test_a_character_that_is_not_shown_or_reorders_others_has_a_mark(hidden):
    assert drawn("rm ", f"{hidden}x") == (f"rm {MARK}x", 5)


@pytest.mark.parametrize(
    "text", ["plain", "gr\u00fcn", "\u4f60\u597d", "\U0001f469\u200d\U0001f4bb ok", "\u0646\u200c\u0645", "a\x1b[2Jb"]
)
def test_other_text_is_left_to_prompt_toolkit(text):
    assert drawn(text) == (text, len(text))
