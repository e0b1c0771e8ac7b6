"""Names of keys: one spelling for each."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Shortcut, canonical_key
from pi_testing import for_each


@for_each(
    ("written", "name"),
    [
        ("f5", "f5"),
        ("Alt+Ctrl+P", "ctrl+alt+p"),
        ("Esc", "escape"),
        ("Shift + Return", "shift+enter"),
        ("cmd+Option+Del", "alt+super+delete"),
        ("ctrl++", "ctrl++"),
        ("+", "+"),
        ("hyper+ctrl+x", "hyper+ctrl+x"),
        ("", ""),
    ],
)
def test_a_key_has_one_spelling(written, name):
    assert canonical_key(written) == name


@given(st.sampled_from([*permutations(["ctrl", "shift", "alt", "super"])]), st.integers(1, 4), st.sampled_from("ap+"))
def test_modifiers_have_one_order_whatever_was_written(modifiers, number, key):
    held = modifiers[:number]
    order = [each for each in ("ctrl", "shift", "alt", "super") if each in held]

    assert canonical_key("+".join([*held, key])) == "+".join([*order, key])


@given(st.text(alphabet="abC+ -", max_size=8))
def test_a_name_in_its_one_spelling_stays_as_it_is(written):
    name = canonical_key(written)

    assert canonical_key(name) == name


def test_a_shortcut_keeps_its_name_in_that_spelling():
    assert Shortcut("Alt+Ctrl+P", handler=print).name == "ctrl+alt+p"
