"""Options that form a table have their fields below one another."""

from __future__ import annotations

from pi_testing import for_each
from pi_tui.dialogs.select import Select, in_columns

LONG = "/home/ada/" + "harbour/" * 12


@for_each(
    ("texts", "aligned"),
    [
        (["a1  scout  $0.02", "b2  tester  $1.00"], ["a1  scout   $0.02", "b2  tester  $1.00"]),
        (["漢字  one", "x  two"], ["漢字  one", "x     two"]),
        (["one  two", "three"], ["one  two", "three"]),
        (["only  one"], ["only  one"]),
        (["a  b", "cc  d  e"], ["a   b", "cc  d  e"]),
        ([], []),
        ([f"{LONG}  x", "y  z"], [f"…{LONG[-57:]}  x", "y" + 59 * " " + "z"]),
        ([f"x  {LONG}", "y  z"], [f"x  …{LONG[-57:]}", "y  z"]),
    ],
)
def test_fields_are_aligned_and_paths_keep_their_ends(texts, aligned):
    assert in_columns(texts) == aligned


async def test_what_is_chosen_is_the_option_as_it_was_given():
    asked = Select("Which?", ["a  b", "ccc  d"])

    assert any("a    b" in str(row) for row in asked.lines(40, 12))
    asked.finish(asked._found[0])
    assert await asked.result == "a  b"
