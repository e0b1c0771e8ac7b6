"""The process's alarm, where hooks are not what the test is about."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from pi_core.hooks.interrupt import Interrupted, Interrupter, Watch, limited

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


@pytest.fixture
def unused_alarm():
    """The alarm as at the start of a process: a plugin of an earlier test may still watch."""
    timer, handler = signal.setitimer(signal.ITIMER_REAL, 0), signal.signal(signal.SIGALRM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.usefixtures("unused_alarm")
def test_a_limit_that_is_over_before_its_block_begins_leaves_nothing_behind(monkeypatch):
    rearm = Watch.rearm

    def suspended(watch, seconds):
        rearm(watch, seconds)
        time.sleep(10)  # as a process that is stopped here; the alarm ends it

    monkeypatch.setattr(Watch, "rearm", suspended)
    with pytest.raises(Interrupted), limited(0.001, "it"):
        pytest.fail("the block was run")

    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.usefixtures("unused_alarm")
def test_an_alarm_that_was_lost_is_repeated():
    def lose_the_first():
        handler = signal.signal(signal.SIGALRM, lambda _number, _frame: None)
        time.sleep(0.05)
        signal.signal(signal.SIGALRM, handler)
        time.sleep(10)

    with pytest.raises(Interrupted), limited(0.001, "it"):
        lose_the_first()

    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.usefixtures("unused_alarm")
def test_an_alarm_while_the_timer_is_set_does_not_leave_the_timer_to_the_system(monkeypatch):
    interrupter = Interrupter.current()
    handlers, real = [], signal.setitimer

    def stops_itself(_frame):
        watch.stop()
        return float("inf")

    def interrupted(*arguments):
        monkeypatch.undo()
        watch.due = 0
        interrupter._on_alarm(signal.SIGALRM, None)
        handlers.append(signal.getsignal(signal.SIGALRM))
        return real(*arguments)

    watch = interrupter.watch(stops_itself)
    monkeypatch.setattr(signal, "setitimer", interrupted)
    watch.rearm(60)

    assert handlers == [interrupter._on_alarm]  # by SIG_DFL, the timer would end the process
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == (signal.SIG_DFL, (0.0, 0.0))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.usefixtures("unused_alarm")
def test_an_alarm_that_is_still_pending_does_not_end_the_process(monkeypatch):
    handlers = []
    real = signal.signal
    monkeypatch.setattr(signal, "signal", lambda number, handler: (handlers.append(handler), real(number, handler))[1])

    with limited(60, "a test"):
        handlers.clear()

    # setting SIG_IGN discards what is pending; SIG_DFL alone would let it end the process
    assert handlers == [signal.SIG_IGN, signal.SIG_DFL]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.usefixtures("unused_alarm")
def test_the_programs_own_handler_is_respected():
    own = lambda number, frame: None  # noqa: E731 - a handler as a program has it
    signal.signal(signal.SIGALRM, own)

    assert Interrupter.current() is None
    with limited(60, "it"):
        assert signal.getsignal(signal.SIGALRM) is own


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.usefixtures("unused_alarm")
def test_an_ignored_alarm_is_ignored_again_afterwards():
    signal.signal(signal.SIGALRM, signal.SIG_IGN)

    with pytest.raises(Interrupted), limited(0.001, "it"):
        time.sleep(10)

    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
