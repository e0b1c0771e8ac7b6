"""``--matrix``: replays sessions with each model and each set of plugins, in separate ``pi`` processes."""

from __future__ import annotations

import json
import os
import re
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from pi_hookspecs import PiError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence

    from pi_core import PluginHost
    from pi_replay.session import Wanted

__all__ = ["Cell", "InvalidMatrix", "Matrix", "Outcome", "replay_all"]

_RECORDED = "recorded"
_ALL = "all"


class InvalidMatrix(PiError):
    """The value of ``--matrix`` is invalid."""


@frozen
class Cell:
    """A model and a set of plugins.

    Attributes:
        model: None for the models that the session was recorded with.
        disable: The plugins that are left out.
    """

    model: str | None
    disable: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, str]:
        """The model and the plugins, as ``--matrix`` takes them."""
        return self.model or _RECORDED, " ".join(f"-{name}" for name in self.disable) or _ALL


@frozen
class Matrix:
    """Models and sets of plugins; every model is combined with every set."""

    models: tuple[str | None, ...]
    sets: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Matrix:
        """Read ``MODEL, MODEL x all, -PLUGIN, -PLUGIN -PLUGIN``; without sets, all plugins are used.

        Raises:
            InvalidMatrix: It has a different form, or contains a duplicate.
        """
        models, *sets = re.split(r"\s+x\s+", text.strip())
        if len(sets) > 1:
            raise InvalidMatrix(f"{text!r} has more than one ' x ': it is MODELS x PLUGIN SETS")
        names = _items(models, "model")
        if wrong := next((each for each in names if each.startswith("-") or " " in each), None):
            raise InvalidMatrix(f"{wrong!r} is not a model. Write the models first: {_RECORDED} x {_ALL}, -memory")
        found = [_plugins(each) for each in _items(sets[0], "plugin set")] if sets else [()]
        if len({frozenset(each) for each in found}) < len(found):
            raise InvalidMatrix(f"{sets[0]!r} has the same plugin set twice")
        return cls(tuple(None if each == _RECORDED else each for each in names), tuple(found))

    @property
    def cells(self) -> list[Cell]:
        """All combinations, model by model."""
        return [Cell(model, disable) for model, disable in product(self.models, self.sets)]

    @property
    def disabled(self) -> set[str]:
        """Every plugin that a set leaves out."""
        return {name for each in self.sets for name in each}


@define(eq=False)
class Outcome:
    """The outcome of a combination for a session.

    Attributes:
        session: The session, as the user named it.
        prompts: How many prompts it has.
        report: The output of ``pi replay --json``; None if the replay failed.
        error: Why it failed.
        stderr: What pi wrote to standard error.
    """

    cell: Cell
    report: dict[str, Any] | None = None
    error: str | None = None
    stderr: str = ""
    session: str = ""
    prompts: int = 0

    @property
    def name(self) -> str:
        """The session for people: of a file, its name without folder and ending."""
        return PurePath(self.session).stem

    @property
    def is_equal(self) -> bool:
        """Whether it was replayed to the end without a divergence."""
        return self.report is not None and self.report["divergence"] is None and self.report["error"] is None

    def as_json(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        disable = list(self.cell.disable)
        return {"model": self.cell.model, "disable": disable, "report": self.report, "error": self.error}


async def replay_all(
    matrix: Matrix, sessions: Mapping[Wanted, int], host: PluginHost, at_once: int, say: Callable[[Outcome], object]
) -> list[Outcome]:
    """Replay sessions with every combination, and return the outcomes in their order, session by session.

    Args:
        matrix: The combinations.
        sessions: Sessions, with the options that their replays share, and how many prompts each has.
        host: The plugins that pi was started with.
        at_once: How many replays run at once.
        say: Called with each outcome when it is available.
    """
    from pi_process_kit import LocalEngine, run_tasks

    tasks = [(wanted, cell) for wanted in sessions for cell in matrix.cells]

    async def run_one(task: tuple[Wanted, Cell]) -> Outcome:
        wanted, cell = task
        return await _replay(Outcome(cell, session=wanted.session, prompts=sessions[wanted]), wanted, host)

    outcomes = await run_tasks(LocalEngine(run_one, at_once), tasks, say)
    order = {(wanted.session, cell): number for number, (wanted, cell) in enumerate(tasks)}
    return sorted(outcomes, key=lambda each: order[each.session, each.cell])


async def _replay(outcome: Outcome, wanted: Wanted, host: PluginHost) -> Outcome:
    from pi_process_kit import run_pi

    output = bytearray()

    async def read(stream: asyncio.StreamReader) -> None:
        output.extend(await stream.read())

    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(host.settings.agent_dir)}
    try:
        end = await run_pi(_arguments(outcome.cell, wanted, host), read, cwd=".", purpose="replay", environ=environ)
        outcome.stderr = end.stderr
        outcome.report = json.loads(output)
    except ValueError:
        outcome.error = end.error or f"pi replay printed no report: {end.stderr}"
    except PiError as error:
        outcome.error = str(error)
    return outcome


def _arguments(cell: Cell, wanted: Wanted, host: PluginHost) -> list[str]:
    before: list[str] = []
    if host.extensions is not None:
        before += [part for each in host.extensions.given for part in ("--extension", each)]
        before += [] if host.extensions.discover else ["--no-extensions"]
    arguments = ["replay", wanted.session, "--json"]
    arguments += ["--model", cell.model] if cell.model is not None else []
    left_out = sorted({*host.disabled_for_run, *wanted.disable, *cell.disable})
    arguments += [part for name in left_out for part in ("--disable", name)]
    arguments += ["--until", wanted.until] if wanted.until is not None else []
    arguments += ["--tools", "live-in-worktree", "--at", wanted.commit] if wanted.live else []
    return [*before, *arguments]


def _items(text: str, what: str) -> Sequence[str]:
    items = [" ".join(each.split()) for each in text.split(",")]
    if not all(items):
        raise InvalidMatrix(f"{text!r} has an empty {what}")
    if twice := sorted({each for each in items if items.count(each) > 1}):
        raise InvalidMatrix(f"{text!r} has the {what} {twice[0]!r} twice")
    return items


def _plugins(text: str) -> tuple[str, ...]:
    """Return the names that a set leaves out."""
    if text == _ALL:
        return ()
    words = text.split()
    if wrong := next((each for each in words if not each.startswith("-") or each == "-"), None):
        raise InvalidMatrix(f"{wrong!r} is not part of a plugin set: it is {_ALL}, or -NAME of each to leave out")
    return tuple(sorted({each[1:] for each in words}))
