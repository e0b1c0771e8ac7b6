"""What a user does with a list: presses keys, types, and looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen

from pi_tui.keys.bindings import Bindings
from pi_tui.keys.events import Key
from pi_tui.lines.line import join

if TYPE_CHECKING:
    from pi_tui.selectors.selector import Selector


@frozen
class User:
    """A user with the default keys."""

    bindings: Bindings

    def press(self, selector: Selector[Any], *names: str) -> Any:
        """Press keys and return what the last one led to."""
        outcome = None
        for name in names:
            outcome = selector.press(Key(name, name if len(name) == 1 else ""), self.bindings)
        return outcome

    def type(self, selector: Selector[Any], text: str) -> None:
        """Type a text."""
        for character in text:
            selector.press(Key("space" if character == " " else character, character), self.bindings)

    def sees(self, selector: Selector[Any], width: int = 80, height: int = 20) -> str:
        """Return what is displayed, without spaces at the ends of rows."""
        rows = join(selector.lines(width, height, self.bindings)).splitlines()
        return "\n".join(row.rstrip() for row in rows)


@pytest.fixture
def user() -> User:
    return User(Bindings("linux"))
