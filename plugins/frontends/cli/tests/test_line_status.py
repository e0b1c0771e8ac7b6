"""The row that says where one is: what fits into it."""

from __future__ import annotations

from pi_cli.line.view import status_row


def test_what_does_not_fit_is_left_out_the_least_important_first():
    parts = ["model", "thinking high", "3% of 200k", "~/work"]

    assert status_row(parts, 80) == "model · thinking high · 3% of 200k · ~/work"
    assert status_row(parts, 25) == "model · thinking high"
    assert status_row(parts, 4) == "mod…"
