"""``pi attach``: which words go to line mode, and which to the screen."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pi_hookspecs import UserError
from pi_testing import for_each
from pi_tui.attached import attach


def host_with(mode: str | None) -> tuple[SimpleNamespace, list[list[str]]]:
    """A host whose setting ``tuiMode`` is this, and the arguments that its line mode gets."""
    given: list[list[str]] = []
    lines = SimpleNamespace(thing=SimpleNamespace(run=lambda arguments, _: given.append(arguments) or 0))
    settings = SimpleNamespace(get_str=lambda *_: mode)
    return SimpleNamespace(find=lambda *_: lines, settings=settings), given


@for_each(
    ("mode", "arguments", "expected"),
    [
        (None, ["lines"], []),
        (None, ["lines", "--ssh", "box"], ["--ssh", "box"]),
        ("regular", [], []),
        ("regular", ["019aae4e"], ["019aae4e"]),
        ("regular", ["--ssh", "box"], ["--ssh", "box"]),
        ("regular", ["--ssh", "box", "019aae4e"], ["--ssh", "box", "019aae4e"]),
    ],
)
def test_these_go_to_line_mode(mode, arguments, expected) -> None:
    host, given = host_with(mode)

    assert attach(arguments, host) == 0
    assert given == [expected]


def test_without_a_terminal_the_screen_of_another_computer_is_refused() -> None:
    host, given = host_with("fullscreen")

    with pytest.raises(UserError, match="needs a terminal"):
        attach(["--ssh", "box"], host)
    assert given == []
