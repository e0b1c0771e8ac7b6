"""Sequences of colours and attributes, in the forms that programs write."""

from __future__ import annotations

from itertools import accumulate

import pytest

from pi_terminal_kit.sgr import restyled


@pytest.mark.parametrize(
    ("sequences", "style"),
    [
        (["1"], {"bold": True}),
        (["1;31"], {"bold": True, "foreground": 1}),
        (["97;107"], {"foreground": 15, "background": 15}),
        (["31", "39"], {}),
        (["41", "49"], {}),
        (["1;2", "22"], {"bold": False, "dim": False}),
        (["3;4;7;9"], {"italic": True, "underline": True, "reverse": True, "strike": True}),
        (["3;4;7;9", "23;24;27;29"], {"italic": False, "underline": False, "reverse": False, "strike": False}),
        (["1;31", ""], {}),
        (["1;31", "0"], {}),
        (["1;31;0;4"], {"underline": True}),
        (["38;5;208"], {"foreground": 208}),
        (["48;5;999;1"], {"background": 255, "bold": True}),
        (["38;2;255;0;300;1"], {"foreground": (255, 0, 255), "bold": True}),
        (["38:5:208;1"], {"foreground": 208, "bold": True}),
        (["38:2:1:2:3"], {"foreground": (1, 2, 3)}),
        (["38:2::1:2:3"], {"foreground": (1, 2, 3)}),
        (["4:3"], {"underline": True}),
        (["4:3", "4:0"], {"underline": False}),
        (["58;5;1"], {}),
        (["38"], {}),
        (["38;5"], {}),
        (["38;2;1;2"], {}),
        (["38;7;1"], {}),
        (["31;" + "9" * 5000], {}),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_style_is_what_its_sequences_say(sequences, style):
    (*_, found) = accumulate(sequences, restyled, initial={})

    assert found == style


def test_the_style_before_a_sequence_is_not_changed():
    before = {"bold": True}

    assert restyled(before, "31") == {"bold": True, "foreground": 1}
    assert before == {"bold": True}


def test_a_sequence_without_end_is_read_in_part():
    assert restyled({}, ";".join(["1"] * 100_000 + ["31"])) == {"bold": True}
