"""What the garbage collector looks at while a long conversation is displayed."""

from __future__ import annotations

import gc
import weakref

import pytest

from pi_tui.screen.long_lived import LongLived


class Message:
    """Refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.slow
def test_a_long_conversation_is_not_looked_at_and_collected_when_another_is_loaded() -> None:
    long_lived = LongLived()
    message = Message()
    kept = weakref.ref(message)
    try:
        long_lived.loaded(5000)
        del message
        gc.collect()
        is_kept = kept() is not None
        long_lived.loaded(3)
    finally:
        gc.freeze()  # as before this test

    assert (is_kept, kept()) == (True, None)


def test_a_short_conversation_is_collected_as_ever() -> None:
    message = Message()
    kept = weakref.ref(message)
    LongLived().loaded(10)

    del message
    gc.collect()

    assert kept() is None
