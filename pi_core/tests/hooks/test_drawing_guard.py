"""Plugin code on the drawing path: what it raises and how long it takes costs only its own place on the screen."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time

import pytest

from pi_core.hooks.drawing import FAILURES, DrawingGuard


@pytest.fixture
def reports():
    return []


@pytest.fixture
def slot(reports):
    guard = DrawingGuard(lambda plugin, step, message, stack: reports.append((plugin, step, message)))
    return guard.slot("noisy", "widget 'todo'", on_close=lambda: reports.append("closed"))


def fail(*_, **__):
    raise ValueError("no such row")


def test_what_the_function_returns_is_returned(slot):
    assert slot.call(lambda width, *, expanded: (width, expanded), 80, expanded=True) == (True, (80, True))


def test_what_the_function_raises_is_reported_with_the_plugin(slot, reports):
    assert slot.call(fail) == (False, None)

    ((plugin, step, message),) = reports
    assert (plugin, step) == ("noisy", "drawing")
    assert "Plugin 'noisy' failed in widget 'todo': ValueError: no such row" in message
    assert f"{__file__}, line " in message


def test_the_third_failure_in_a_row_closes_the_slot_with_a_notice(slot, reports):
    for _ in range(FAILURES):
        slot.call(fail)

    assert slot.closed
    assert reports[-2][2] == "Plugin 'noisy': widget 'todo' is switched off, because it failed 3 times in a row"
    assert reports[-1] == "closed"


def test_failures_of_each_step_are_counted_apart(slot):
    for _ in range(FAILURES):
        slot.run(list, list, "render")
        slot.run(fail, fail, "handle_key")

    assert slot.closed


def test_a_closed_slot_calls_nothing(slot, reports):
    for _ in range(FAILURES):
        slot.call(fail)
    reports.clear()

    answer = slot.call(lambda: pytest.fail("it was called"))

    assert (answer, reports) == ((False, None), [])


def test_a_success_in_between_keeps_the_slot_open(slot):
    for _ in range(2 * FAILURES):
        slot.call(fail)
        slot.call(fail)
        slot.call(len, "a")

    assert not slot.closed


@pytest.mark.parametrize("error", [SystemExit(3), BaseException("all"), asyncio.CancelledError()])
def test_nothing_that_a_plugin_raises_ends_the_front_end(slot, reports, error):
    def end():
        raise error

    assert slot.call(end) == (False, None)
    assert len(reports) == 1


def test_the_users_interrupt_passes(slot):
    def interrupt():
        signal.default_int_handler(signal.SIGINT, None)

    with pytest.raises(KeyboardInterrupt):
        slot.call(interrupt)


def test_a_function_that_is_slow_three_times_in_a_row_closes_the_slot(slot, reports):
    slot.call(len, "a")

    answers = [slot.call(lambda: time.sleep(0.25)) for _ in range(FAILURES + 1)]

    assert answers == [(True, None)] * FAILURES + [(False, None)]
    assert reports[0][2] == "Plugin 'noisy': widget 'todo' took longer than 0.1 s"
    assert "is switched off" in reports[FAILURES][2]


def test_a_first_call_may_import_modules(slot, reports, tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.4)\n")
    monkeypatch.syspath_prepend(tmp_path)

    def draw():
        import slow_to_import

        return slow_to_import.__name__

    assert slot.call(draw) == (True, "slow_to_import")
    assert reports == []
    sys.modules.pop("slow_to_import")


def test_a_call_in_another_thread_is_contained_too(slot):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(slot.call(fail)))

    thread.start()
    thread.join()

    assert answers == [(False, None)]


def test_a_registered_object_keeps_its_slot_until_it_is_replaced(reports):
    guard = DrawingGuard(lambda *_: None)
    one, other = object(), object()

    slot = guard.named("noisy", "'todo'", one)

    assert guard.named("noisy", "'todo'", one) is slot
    assert guard.named("noisy", "'todo'", other) is not slot
