"""The contract of front ends: their output, their exit, and what remains after it."""

from __future__ import annotations

import signal
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

import pytest

from pi_testing.contract_needs import ContractSuite, needs
from pi_testing.front_end_process import FrontEnd, running
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pi_testing.front_end_process import Ended

__all__ = ["MODE_FEATURES", "ModeRows"]

MODE_FEATURES: frozenset[str] = frozenset(("talks", "terminal", "dialogs"))


class ModeRows(ContractSuite):
    """See ``ModeContract``."""

    features = MODE_FEATURES
    mode: ClassVar[str]
    ready: ClassVar[str] = ""
    failed_code: ClassVar[int] = 1
    extensions: ClassVar[Sequence[str | Path]] = ()

    def typed(self, prompt: str) -> str:
        """Return the input that sends a prompt (``talks``)."""
        return f"{prompt}\n"

    def agreed(self, output: str) -> str:
        """Return the input that confirms a dialog (``dialogs``).

        Args:
            output: The output so far; it ends with the dialog's title or message.
        """
        raise NotImplementedError(f"{type(self).__name__} claims 'dialogs' in supports and has no method agreed")

    def check_output(self, out: str) -> None:
        """Fail if stdout is not in the mode's format, such as lines of JSON."""

    # Driving a front end

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """Return the working directory of the process."""
        folder = tmp_path / "work"
        folder.mkdir()
        return folder

    @pytest.fixture
    def start(self, folder: Path, pi_plugin_index: Path) -> Iterator[Callable[..., FrontEnd]]:
        """Return a function that starts the front end with a prompt; it is closed after the test."""
        assert find_spec("pi_cli"), "this suite runs pi itself: install pluggypi-cli next to the plugin"
        agent_dir = folder.with_name("home") / "agent"
        agent_dir.mkdir(parents=True)
        (agent_dir / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
        started: list[FrontEnd] = []

        def start(prompt: str | None = None) -> FrontEnd:
            talks, terminal = "talks" in self.supports, "terminal" in self.supports
            prompts = [] if talks or prompt is None else [prompt]
            started.append(FrontEnd(self.mode, folder, prompts, terminal=terminal, extensions=self.extensions))
            if talks and prompt is not None:
                started[-1].until(self.ready)
                started[-1].type(self.typed(prompt))
            elif not talks:
                started[-1].end_input()
            return started[-1]

        yield start
        for each in started:
            each.close()

    @pytest.fixture
    def run_prompt(self, start: Callable[..., FrontEnd]) -> Callable[..., Ended]:
        """Return a function that sends a prompt, waits for the expected output, and returns the process's result."""

        def run_prompt(prompt: str, expected: str) -> Ended:
            front_end = start(prompt)
            if "talks" in self.supports:
                front_end.until(expected)
            ended = front_end.ended()
            assert not _crashed(ended), ended.err
            return ended

        return run_prompt

    # Output

    def test_an_answer_is_printed_and_the_session_ended(self, run_prompt: Callable[..., Ended], folder: Path) -> None:
        ended = run_prompt("say The answer.", "The answer.")

        assert "The answer." in ended.out, ended.err
        assert ended.code == 0, ended.err
        assert (folder / "shutdown").read_text() == "quit\n", "session_shutdown runs once"
        self.check_output(ended.out)

    def test_a_failed_answer_is_reported(self, run_prompt: Callable[..., Ended]) -> None:
        ended = run_prompt("fail This request is wrong.", "This request is wrong.")

        assert "This request is wrong." in ended.out + ended.err
        assert ended.code == self.failed_code, ended.err
        self.check_output(ended.out)

    def test_a_failing_plugin_is_reported_by_name_and_costs_no_answer(
        self, run_prompt: Callable[..., Ended], folder: Path
    ) -> None:
        (folder / "broken").touch()
        ended = run_prompt("say The answer.", "The answer.")

        assert "The answer." in ended.out, ended.err
        assert "front_end_plugin" in (ended.out + ended.err).replace("-", "_")
        assert "the plugin's own mistake" in ended.out + ended.err
        self.check_output(ended.out)

    def test_what_a_plugin_prints_is_not_on_stdout(self, run_prompt: Callable[..., Ended]) -> None:
        ended = run_prompt("call prints", "printed")

        assert "printed" in ended.out, ended.err
        assert "terminal" in self.supports or "noise of a plugin" not in ended.out, ended.err
        self.check_output(ended.out)

    def test_a_dialog_of_a_plugin_is_answered_or_declined(self, start: Callable[..., FrontEnd]) -> None:
        front_end = start("call asks")
        if "dialogs" in self.supports:
            front_end.type(self.agreed(front_end.until("The contract asks.")))
            front_end.until("The user said yes")
        elif "talks" in self.supports:
            front_end.until("The user said no")
        ended = front_end.ended()

        assert ("The user said yes" in ended.out) == ("dialogs" in self.supports), ended.err
        assert ("The user said no" in ended.out) != ("dialogs" in self.supports), ended.err
        assert ended.code == 0, ended.err

    # Exit

    @needs("talks")
    def test_it_exits_at_the_end_of_input(self, start: Callable[..., FrontEnd], folder: Path) -> None:
        front_end = start()
        if self.ready:
            front_end.until(self.ready)
        ended = front_end.ended()

        assert ended.code == 0, ended.err
        assert (folder / "shutdown").read_text() == "quit\n"

    @needs("dialogs")
    def test_an_unanswered_dialog_does_not_outlast_the_input(
        self, start: Callable[..., FrontEnd], folder: Path
    ) -> None:
        front_end = start("call asks")
        front_end.until("The contract asks.")
        ended = front_end.ended()

        assert "The user said yes" not in ended.out, ended.err
        assert (folder / "shutdown").exists()

    @pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
    def test_a_signal_ends_the_run_and_leaves_no_process(
        self, start: Callable[..., FrontEnd], folder: Path, sent: signal.Signals
    ) -> None:
        seconds = f"3600.{abs(hash(str(folder))) % 10**9:09d}"
        (folder / "seconds").write_text(seconds)
        front_end = start("call sleeps")
        _wait_for(lambda: (folder / "sleeping").exists() and bool(running(seconds)), front_end)
        front_end.process.send_signal(sent)
        _wait_for(lambda: not running(seconds), front_end)
        ended = front_end.ended()

        assert not _crashed(ended), ended.err
        assert (folder / "shutdown").exists(), "session_shutdown was emitted"
        # In an interactive mode, an interrupt may end the answer and not the front end.
        well = {0} if sent is signal.SIGINT and "talks" in self.supports else set()
        assert ended.code in {128 + sent, -sent, *well}, ended.err

    def test_a_reader_that_leaves_is_no_crash(self, start: Callable[..., FrontEnd], folder: Path) -> None:
        if "terminal" in self.supports:
            pytest.skip("a terminal that closes sends a signal")
        front_end = start("say The answer.")
        front_end.leave()
        ended = front_end.ended()

        assert not _crashed(ended), ended.err
        assert (folder / "shutdown").exists()


def _crashed(ended: Ended) -> list[str]:
    """Return the lines of a crash; an event that reports one contains them within its line."""
    lines = (ended.out + ended.err).splitlines()
    return [line for line in lines if line.startswith(("Traceback (", "Exception ignored"))]


def _wait_for(condition: Callable[[], bool], front_end: FrontEnd) -> None:
    """Poll until a condition holds that no event announces."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"it did not happen within {PATIENCE:g} s; exit: {front_end.process.poll()}"
        time.sleep(0.02)
