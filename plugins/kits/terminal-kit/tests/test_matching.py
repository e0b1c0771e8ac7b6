"""Which values of a command's argument are offered, and in which order."""

from __future__ import annotations

from pi_terminal_kit.matching import matching_values
from pi_testing import for_each


@for_each(
    ("typed", "offered"),
    [
        ("", ["dark", "high", "xhigh", "high-contrast"]),
        ("hi", ["high", "high-contrast", "xhigh"]),
        ("HIGH", ["high", "high-contrast", "xhigh"]),
        ("xhigh", []),
        ("high", ["high", "high-contrast", "xhigh"]),
        ("low", []),
    ],
)
def test_values_that_begin_with_the_typed_text_come_first_and_a_single_exact_match_is_not_offered(typed, offered):
    assert matching_values(["dark", "high", "xhigh", "high-contrast"], typed) == offered


def test_an_exact_match_comes_before_values_that_begin_with_it():
    assert matching_values(["high-contrast", "high"], "high") == ["high", "high-contrast"]
