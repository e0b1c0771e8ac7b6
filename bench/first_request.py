"""How long pi takes to its first request, compared with the original: ``uv run python bench/first_request.py``.

Wall milliseconds from the start of the process to the moment at which a fake server has the whole request of ``pi -p``
(key in the environment, ``models.json`` pointing at the server); and how long ``--version`` takes, also with fifty more
plugins installed. The original and ours take turns. Bars are parts of the original's time: 0.38 and 0.5.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _fake import fake_server, prompt
from _peer import COMPATIBLE, MODEL, Row, ask, compare, compile_and_say, options, programs, run

if TYPE_CHECKING:
    from _fake import Fake
    from _peer import Program

PLUGINS = 50

PLUGIN = """
from pathlib import Path

from pi_hookspecs import hookimpl, tool

Path(__file__).with_suffix(".imported").touch()


@hookimpl
def session_start(event):
    pass


@hookimpl
def register_tools():
    @tool
    async def {name}(word: str) -> str:
        "Say it again."
        return word

    return [{name}]
"""


def install_plugins(site: Path) -> None:
    """Write plugins that leave a file behind when they are imported, with the metadata of installed ones."""
    for number in range(PLUGINS):
        name = f"bench_plugin_{number}"
        (site / f"{name}.py").write_text(PLUGIN.format(name=name), encoding="utf-8")
        metadata = site / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        (metadata / "entry_points.txt").write_text(f"[pi]\n{name} = {name}\n", encoding="utf-8")


def imported(site: Path) -> list[str]:
    """Return the plugins that were imported since the last look."""
    marks = sorted(site.glob("*.imported"))
    for mark in marks:
        mark.unlink()
    return [mark.stem for mark in marks]


def rows(fake: Fake, site: Path) -> list[Row]:
    def first_request(program: Program, model: str, *, tools: bool = True) -> float:
        done = ask(program, prompt(1), model=model, tools=tools)
        requests = fake.requests()
        assert len(requests) == 1, requests
        return float(requests[0]["at"] - done.started) / 1e6

    def whole(program: Program) -> float:
        took = ask(program, prompt(1), tools=True).wall
        fake.requests()
        return took

    def crowded(program: Program, word: str) -> float:
        return run(program, word, environ={"PYTHONPATH": str(site)}).wall

    return [
        Row("first request, Anthropic with another base URL", lambda program: first_request(program, MODEL), 0.38),
        Row("the same, no tools", lambda program: first_request(program, MODEL, tools=False), 0.38),
        Row("first request, a provider of models.json", lambda program: first_request(program, COMPATIBLE), 0.38),
        Row("the whole pi -p of one delta", whole, 0.38),
        Row("--version", lambda program: run(program, "--version").wall, 0.5),
        Row(f"--version, {PLUGINS} more plugins", lambda program: crowded(program, "--version"), 0.5),
        Row(f"--help, {PLUGINS} more plugins", lambda program: crowded(program, "--help"), None),
    ]


def say_what_is_imported(ours: Program, site: Path) -> None:
    for word in ("--version", "--help", "plugins"):
        run(ours, word, environ={"PYTHONPATH": str(site)})
        indexing = imported(site)  # the first look at a plugin imports it, once
        run(ours, word, environ={"PYTHONPATH": str(site)})
        again = imported(site)
        print(f"Of {PLUGINS} plugins {word} imported {len(indexing)} at first and {len(again)} from then on.")
        assert not again, again


def main() -> None:
    chosen = options(__doc__ or "", rounds=11)
    compile_and_say()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = folder / "site"
        site.mkdir()
        install_plugins(site)
        with fake_server(folder) as fake:
            found = programs(chosen, folder, fake.url)
            say_what_is_imported(found[0], site)
            print()
            compare("Start of the process, wall time", "ms", rows(fake, site), found, chosen.rounds)


if __name__ == "__main__":
    main()
