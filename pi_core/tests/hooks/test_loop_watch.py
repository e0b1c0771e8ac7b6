"""Plugin code that blocks the event loop, in whatever place it runs: it is named, interrupted, and the loop goes on."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from contextlib import suppress
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pi_core.hooks import loop_watch
from pi_core.hooks.dispatcher import HookDispatcher, HookRefused, Timeouts
from pi_core.hooks.loop_watch import LoopBlocked, displaying_blocks, watch_loop
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import ToolCallEvent, TurnStartEvent
from pi_hookspecs.specs import tools
from pi_testing.patience import PATIENCE

# An interrupt that arrives in the callback of a weak reference is lost there, with this warning, and repeated.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

CTX: Any = SimpleNamespace(signal=None)
CALL = ToolCallEvent(tool_call_id="1", tool_name="bash", input={})
SOON = 0.3

needs_signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the platform has no interval timer")

SOURCE = """
import asyncio, re, subprocess, sys, threading, time

def sleeps():
    time.sleep(600)

def spins():
    while True:
        pass

def waits_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=600)

def waits_for_a_process():
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"], check=False)

def matches():
    re.match(r"(a+)+$", "a" * 60 + "b")

def swallows():
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass

def swallows_without_waiting():
    count = 0
    while True:
        try:
            count += 1
        except BaseException:
            count = 0

def swallows_at_each_level():
    while True:
        try:
            while True:
                try:
                    swallows()
                except:
                    time.sleep(0.001)
        except BaseException:
            continue

def swallows_around_a_match():
    while True:
        try:
            matches()
        except BaseException:
            pass

def finally_goes_on():
    while True:
        try:
            time.sleep(600)
        finally:
            continue

class Endless(Exception):
    def __str__(self):
        time.sleep(600)
    __repr__ = __str__

def raises_what_cannot_be_printed():
    raise Endless

async def waits_and_blocks(block):
    await asyncio.sleep(0)
    block()
"""

BLOCKS = (
    "sleeps",
    "spins",
    "waits_for_a_lock",
    "waits_for_a_process",
    "matches",
    "swallows",
    "swallows_without_waiting",
    "swallows_at_each_level",
    "swallows_around_a_match",
    "finally_goes_on",
)


def plugin(name: str) -> Any:
    """Return a module of a plugin."""
    module = ModuleType(f"plug_{name}")
    define(module, SOURCE)
    return module


def define(module: ModuleType, source: str) -> None:
    """Run source text in a module of a plugin."""
    file = f"/plugins/{module.__name__.removeprefix('plug_')}.py"
    exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102 - the code needs the name of a module of its own


class Owners:
    """Knows plugins by the names of their modules."""

    def plugins_of(self, frame: Any) -> list[str]:
        name = frame.f_globals.get("__name__") or ""
        return [name.removeprefix("plug_")] if name.startswith("plug_") else []

    def is_pi(self, frame: Any) -> bool:
        return "/pi_core/src/" in frame.f_code.co_filename

    def is_program(self, frame: Any) -> bool:
        return any(each.startswith("of_program") for each in self.plugins_of(frame))


class Display:
    """A screen whose user presses Ctrl+C when something is shown."""

    def __init__(self, presses: int = 0) -> None:
        self.shown: list[str] = []
        self.presses = presses
        self.left = False

    def show(self, block: Any, hint: str) -> None:
        self.shown.append(f"{block}. {hint}")

    def interrupts(self) -> int:
        if not self.shown or not self.presses:
            return 0
        self.presses -= 1
        return 1

    def end(self) -> None:
        self.shown.append("end")

    def leave(self) -> None:
        self.left = True


@pytest.fixture
def hooks(monkeypatch):
    """A dispatcher whose reports are in ``hooks.failures``; what blocks is interrupted soon."""
    monkeypatch.setattr(loop_watch, "BLOCKING_SECONDS", 0.1)
    monkeypatch.setattr(loop_watch, "_IDLE_SECONDS", 0.05)
    monkeypatch.setattr(loop_watch, "_BLOCKED_SECONDS", 0.02)
    monkeypatch.setattr(loop_watch, "_ALARM_SECONDS", 0.1)
    if hasattr(signal, "setitimer"):  # what sessions of other tests have left
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    failures: list[Any] = []
    manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
    made: Any = HookDispatcher(manager, report=failures.append, timeouts=Timeouts(block=SOON), owners=Owners())
    made.failures = failures
    ends: list[Any] = []
    made.watch = lambda: ends.append(watch_loop(made))
    yield made
    for end in ends:
        end()
    assert sys.gettrace() is None or not hasattr(sys.gettrace(), "__self__")


async def settled() -> None:
    """Let the reports arrive."""
    for _ in range(3):
        await asyncio.sleep(0)


async def until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


@needs_signals
@pytest.mark.parametrize("is_async", [False, True], ids=["def", "async def"])
@pytest.mark.parametrize("block", [*BLOCKS, "raises_what_cannot_be_printed"])
async def test_a_hook_that_blocks_is_interrupted_and_its_plugin_quarantined(hooks, block, is_async):
    code, seen = plugin("bad"), []
    function = getattr(code, block)
    hooks.add("bad", "turn_start", (lambda: code.waits_and_blocks(function)) if is_async else function)
    hooks.add("well", "turn_start", seen.append)
    hooks.add("bad", "agent_end", lambda event: None)
    hooks.add("bad", "tool_call", lambda event: None)
    hooks.watch()

    await hooks.notify(TurnStartEvent(), CTX)
    await settled()

    assert len(seen) == 1
    (failure,) = hooks.failures
    assert (failure.plugin, failure.kind, failure.quarantined) == ("bad", "blocked", True)
    assert "/plugins/bad.py, line " in failure.message
    assert not hooks.listens("agent_end")
    with pytest.raises(HookRefused, match="plugin 'bad' is no longer called because it failed in tool_call"):
        await hooks.call(tools.tool_call, CALL, CTX)
    assert hooks.refusal_of("bad") is not None
    assert hooks.refusal_of("well") is None


@needs_signals
@pytest.mark.parametrize("block", BLOCKS)
async def test_a_task_of_a_plugin_that_blocks_is_interrupted(hooks, block):
    code = plugin("bad")
    hooks.watch()

    with pytest.raises(LoopBlocked):
        await asyncio.create_task(code.waits_and_blocks(getattr(code, block)))
    await settled()

    (failure,) = hooks.failures
    assert (failure.plugin, failure.kind) == ("bad", "blocking")
    assert "and was interrupted. It is no longer called in this session; disable it with --disable bad" in str(failure)


@needs_signals
async def test_a_callback_of_a_plugin_that_blocks_is_interrupted_and_the_loop_goes_on(hooks):
    problems: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: problems.append(context["exception"]))
    hooks.watch()

    loop.call_soon(plugin("bad").swallows)
    await until(lambda: hooks.failures)
    await settled()

    assert [type(each) for each in problems] == [LoopBlocked]


@needs_signals
async def test_code_that_is_called_afterwards_is_not_interrupted(hooks):
    bad, good = plugin("bad"), plugin("good")
    good.__dict__["total"] = 0
    define(good, "def counts():\n    global total\n    for _ in range(1000):\n        total += 1\n")
    hooks.watch()
    with pytest.raises(LoopBlocked):
        await asyncio.create_task(bad.waits_and_blocks(bad.swallows_at_each_level))

    for _ in range(20):
        good.counts()
        await asyncio.sleep(0)

    assert good.total == 20_000
    assert [each.plugin for each in hooks.failures] == ["bad"]


async def test_the_user_reads_at_once_what_blocks_and_afterwards_for_how_long(hooks):
    code, display = plugin("slow"), Display()
    define(code, "def waits(display):\n    while not display.shown:\n        time.sleep(0.01)\n")
    hooks.block_seconds = 60
    hooks.watch()

    with displaying_blocks(display):
        asyncio.get_running_loop().call_soon(code.waits, display)
        await until(lambda: hooks.failures)

    assert display.shown[0].startswith(
        "Plugin 'slow' has blocked everything else for 0 s in waits (/plugins/slow.py, line"
    )
    assert display.shown[0].endswith("it is interrupted after 60 s. Ctrl+C twice interrupts it")
    assert display.shown[-1] == "end"
    assert hooks.failures[0].kind == "blocking"
    assert hooks.refusal_of("slow") is None


@needs_signals
@pytest.mark.parametrize("block", BLOCKS)
async def test_the_second_press_of_a_key_interrupts(hooks, block):
    code, display = plugin("bad"), Display(presses=2)
    hooks.block_seconds = 600
    hooks.watch()

    with displaying_blocks(display), pytest.raises(LoopBlocked):
        await asyncio.create_task(code.waits_and_blocks(getattr(code, block)))

    assert any(each.endswith("Ctrl+C again interrupts it") for each in display.shown)
    assert not display.left


async def test_code_of_no_plugin_is_not_interrupted_and_two_presses_end_the_process(hooks):
    display = Display(presses=2)
    hooks.watch()

    with displaying_blocks(display):
        while not display.left:
            time.sleep(0.01)  # noqa: ASYNC251 - that is the point
    await until(lambda: hooks.failures)

    assert [(each.kind, each.plugin) for each in hooks.failures] == [("stall", "(unknown)")]
    assert "pi itself has blocked everything else" in str(hooks.failures[0])


async def test_a_program_that_blocks_in_the_module_of_its_plugin_is_not_blamed(hooks):
    code = plugin("of_program")
    define(code, "async def main(until):\n    while time.monotonic() < until:\n        time.sleep(0.01)\n")
    hooks.watch()

    await asyncio.create_task(code.main(time.monotonic() + 1))
    await until(lambda: hooks.failures)

    assert [each.plugin for each in hooks.failures] == ["(unknown)"]


@needs_signals
async def test_the_innermost_plugin_is_the_one_that_blocks(hooks):
    outer, inner = plugin("outer"), plugin("inner")
    define(outer, "def calls(call):\n    try:\n        call()\n    except BaseException:\n        return 'caught'\n")
    hooks.watch()

    assert outer.calls(inner.swallows) == "caught"
    await settled()

    assert [each.plugin for each in hooks.failures] == ["inner"]


async def test_waiting_is_not_blocking(hooks):
    code = plugin("waits")
    define(code, "async def often():\n    for _ in range(300):\n        await asyncio.sleep(0.001)\n")
    hooks.watch()

    await asyncio.create_task(code.often())
    await settled()

    assert hooks.failures == []


async def test_an_import_may_take_longer(hooks, tmp_path, monkeypatch):
    (tmp_path / "plug_slow.py").write_text("import time\ntime.sleep(1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    hooks.watch()

    asyncio.get_running_loop().call_soon(__import__, "plug_slow")
    await until(lambda: hooks.failures)

    assert [(each.plugin, each.kind) for each in hooks.failures] == [("slow", "blocking")]
    assert "plug_slow" in sys.modules
    sys.modules.pop("plug_slow")


def test_in_another_thread_code_is_named_but_not_interrupted(hooks):
    code = plugin("slow")
    define(code, "async def waits():\n    time.sleep(1)\n")

    async def run() -> None:
        hooks.watch()
        await asyncio.create_task(code.waits())
        await until(lambda: hooks.failures)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    thread.join(PATIENCE)

    assert [(each.plugin, each.kind) for each in hooks.failures] == [("slow", "blocking")]


@needs_signals
async def test_the_signal_is_given_back_with_the_last_session(hooks):
    before = signal.getsignal(signal.SIGALRM)
    ends = [watch_loop(hooks), watch_loop(hooks)]
    own = signal.getsignal(signal.SIGALRM)

    ends[0]()
    kept = signal.getsignal(signal.SIGALRM)
    ends[1]()

    assert own == kept != before
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_session_that_is_left_behind_with_its_loop_is_not_watched_any_more(hooks):
    async def run() -> None:
        watch_loop(hooks)

    asyncio.run(run())
    threads = [each for each in threading.enumerate() if each.name == "pi-loop-watch"]
    for each in threads:
        each.join(PATIENCE)

    assert not any(each.is_alive() for each in threads)
    if hasattr(signal, "setitimer"):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@needs_signals
async def test_the_debugger_of_an_author_is_not_interrupted(hooks):
    code = plugin("debugged")
    debugger = ModuleType("pdb")
    define(debugger, "import time\ndef interaction(seconds):\n    time.sleep(seconds)\n")
    define(code, "def stops(debugger):\n    debugger.interaction(1.2)\n    return 'continued'\n")
    hooks.watch()

    answers: list[Any] = []
    asyncio.get_running_loop().call_soon(lambda: answers.append(code.stops(debugger)))
    with suppress(TimeoutError):
        await until(lambda: answers)

    assert answers == ["continued"]


async def test_c_code_that_keeps_the_interpreter_is_named_when_it_returns(hooks):
    code = plugin("counts")
    define(code, "def counts():\n    for _ in range(3):\n        sum(range(30_000_000))\n")
    hooks.block_seconds = 600
    hooks.watch()

    asyncio.get_running_loop().call_soon(code.counts)
    await until(lambda: hooks.failures)

    assert [(each.plugin, each.kind) for each in hooks.failures] == [("counts", "blocking")]
    assert "/plugins/counts.py, line 3" in str(hooks.failures[0])


async def waited_without_being_looked_at(hooks: Any) -> None:
    """Wait for what happens elsewhere until the watch waits as well, and has set no alarm."""
    hooks.watch()
    loop, goes_on = asyncio.get_running_loop(), asyncio.Event()
    watch, seen = loop_watch._watches[loop], []

    def look() -> None:
        while not watch._is_parked:
            time.sleep(0.01)
        seen.append((watch._now, watch._alarm is None or watch._alarm.due == float("inf")))
        loop.call_soon_threadsafe(goes_on.set)

    thread = threading.Thread(target=look)
    thread.start()
    await goes_on.wait()
    thread.join()
    assert seen == [(None, True)]


@needs_signals
@pytest.mark.parametrize("block", ["sleeps", "spins", "matches", "swallows"])
async def test_what_blocks_after_the_loop_has_only_waited_is_interrupted(hooks, block):
    code = plugin("bad")
    await waited_without_being_looked_at(hooks)

    with pytest.raises(LoopBlocked):
        await asyncio.create_task(code.waits_and_blocks(getattr(code, block)))
    await settled()

    assert [(each.plugin, each.kind) for each in hooks.failures] == [("bad", "blocking")]


async def test_what_was_computed_before_the_loop_waited_blames_nobody(hooks):
    until_then = time.process_time() + 0.3
    while time.process_time() < until_then:
        pass
    await waited_without_being_looked_at(hooks)
    for _ in range(100):
        await asyncio.sleep(0.001)

    assert hooks.failures == []


async def test_the_loop_s_selector_is_its_own_again_after_the_last_session(hooks):
    selector = asyncio.get_running_loop()._selector
    ends = [watch_loop(hooks), watch_loop(hooks)]
    assert "select" in vars(selector)

    ends[0]()
    assert "select" in vars(selector)
    ends[1]()

    assert "select" not in vars(selector)
