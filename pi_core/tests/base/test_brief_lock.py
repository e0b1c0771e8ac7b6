"""A lock that a killed process left behind delays the next one, and does not stop it."""

from __future__ import annotations

import os
import time

import pytest

from pi_core.base.directory_lock import brief_directory_lock
from pi_hookspecs import PiError


@pytest.fixture
def left(tmp_path):
    """Leave the lock of a file behind, as old as asked for; return the file."""

    def make(seconds):
        lock = tmp_path / "settings.json.lock"
        lock.mkdir()
        when = time.time() - seconds
        os.utime(lock, (when, when))
        return tmp_path / "settings.json"

    return make


def test_one_that_nobody_can_hold_any_more_is_taken(left):
    with brief_directory_lock(left(16), wait_seconds=0):
        pass


def test_one_that_may_be_held_is_respected(left):
    with (
        pytest.raises(PiError, match="has been held by another process"),
        brief_directory_lock(left(5), wait_seconds=0),
    ):
        pytest.fail("the lock of another process was taken")
