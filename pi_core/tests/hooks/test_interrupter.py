"""The process's alarm, where hooks are not what the test is about."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

ENDS_SLOWLY = """
import time
from pi_core.hooks.interrupt import Interrupter

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

slow = Slow()  # is dropped when Python has given all signal handlers back
Interrupter.current().watch(lambda frame: 60.0).rearm(0.15)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
def test_a_watch_that_is_still_armed_does_not_end_the_process_at_its_exit():
    ended = subprocess.run([sys.executable, "-c", ENDS_SLOWLY], check=False)

    assert ended.returncode == 0
