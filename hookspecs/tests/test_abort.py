"""An abort is set once and reaches everybody who waits or asked to be called."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AbortController, Aborted


async def test_a_waiting_caller_is_woken_with_the_reason():
    controller = AbortController()
    waiting = asyncio.create_task(controller.signal.wait())
    await asyncio.sleep(0)

    controller.abort("enough")

    assert await waiting == "enough"
    assert await controller.signal.wait() == "enough"


def test_callbacks_run_once_and_late_ones_at_once():
    controller, called = AbortController(), []
    controller.signal.on_abort(lambda: called.append("early"))

    controller.abort("first")
    controller.abort("second")
    controller.signal.on_abort(lambda: called.append("late"))

    assert called == ["early", "late"]
    assert controller.signal.reason == "first"


def test_a_withdrawn_callback_is_not_called():
    controller, called = AbortController(), []
    forget = controller.signal.on_abort(lambda: called.append("never"))

    forget()
    controller.abort()

    assert called == []


async def test_a_callback_that_raises_is_reported_and_the_others_are_called():
    reported, called = [], []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context["exception"]))
    controller = AbortController()
    controller.signal.on_abort(lambda: 1 / 0)
    controller.signal.on_abort(lambda: called.append("second"))

    controller.abort("stop")

    assert called == ["second"]
    assert [type(error) for error in reported] == [ZeroDivisionError]


def test_a_callback_that_raises_without_a_running_loop_does_not_stop_the_caller():
    controller, called = AbortController(), []
    controller.signal.on_abort(lambda: 1 / 0)
    controller.signal.on_abort(lambda: called.append("second"))

    controller.abort("stop")

    assert called == ["second"]


def test_the_signal_can_be_raised():
    controller = AbortController()
    controller.signal.raise_if_aborted()
    controller.abort("stop")

    with pytest.raises(Aborted, match="stop"):
        controller.signal.raise_if_aborted()


async def test_a_wait_that_is_cancelled_leaves_nothing_behind():
    controller = AbortController()
    waiting = asyncio.create_task(controller.signal.wait())
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    assert not controller.signal._callbacks


def test_withdrawing_a_callback_looks_at_no_other():
    class Callback:
        compared = 0

        def __call__(self):
            raise AssertionError

        def __eq__(self, other):
            Callback.compared += 1
            return self is other

        __hash__ = None

    signal = AbortController().signal
    for forget in [signal.on_abort(Callback()) for _ in range(1_000)]:
        forget()

    assert Callback.compared == 0


def test_a_callback_that_was_passed_twice_is_withdrawn_once():
    controller, called = AbortController(), []

    def call():
        called.append(1)

    controller.signal.on_abort(call)
    forget = controller.signal.on_abort(call)
    forget()
    forget()
    controller.abort()

    assert called == [1]
