"""``pi plugin new``: generates a distribution with code, tests and CI that passes its checks.

The templates are in ``new_plugin_files``: those in ``common`` are for every kind that is a distribution. They form a
plugin named ``acme-plugin``, whose name is replaced.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import frozen

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.report import print_lines
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import Traversable

    from pi_core import PluginHost

__all__ = ["run_plugin", "write_plugin"]

_LONGEST = 30
"""Maximum length of a name, so that no line of the files gets too long."""

_USAGE = """\
Usage: pi plugin new NAME --kind KIND [--dir DIR]

Create a plugin project: a distribution with code, tests, README, licence and
CI, which passes its tests, mypy --strict and ruff unchanged; for the kind
process, a folder with a program. NAME consists of lowercase letters, digits and
dashes; the folder is NAME, or the one of --dir.

  --kind KIND  What it adds:
{kinds}
  --dir DIR    The folder to create; if it exists, it must be empty
  -h, --help   Print this help and exit
"""


@frozen
class _Kind:
    """Template values of a kind: what the plugin does in one line, how it is used, what it imports.

    Attributes:
        is_program: Whether it is a folder with a program, and no distribution.
    """

    description: str
    usage: str
    dependencies: tuple[str, ...] = ()
    is_program: bool = False


_HOOKSPECS = "pluggypi-hookspecs>=1.0,<2"

_KINDS = {
    "tool": _Kind(
        "A tool for pi: it counts the words of a file.",
        "The model is offered the tool `acme_plugin`.",
    ),
    "provider": _Kind(
        "A provider for pi: models behind an API of their own.",
        "Set `ACME_PLUGIN_API_KEY` and run `pi --model acme-plugin/small`.",
        ("attrs>=25.3", "pluggypi-provider-kit>=1.0,<2"),
    ),
    "hooks": _Kind(
        "A policy for pi: it refuses shell commands that delete trees.",
        "`pi hooks tool_call` lists it among the plugins that are called.",
    ),
    "command": _Kind(
        "A slash command for pi: it appends the last answer to a file.",
        "Type `/acme-plugin notes.md` in a conversation.",
    ),
    "extension": _Kind(
        "An extension of pi: it counts tool calls, and keeps the number in the status line.",
        "Run `pi`; `/acme-plugin` lists the calls.",
    ),
    "login": _Kind(
        "A login for pi: it signs in to a provider with the browser.",
        "Run `pi auth login acme-plugin`, then `pi --model acme-plugin/small`.",
        ("pluggypi-provider-kit>=1.0,<2",),
    ),
    "exporter": _Kind(
        "An export format for pi: sessions as plain text.",
        "Type `/export talk.txt`, or run `pi --export SESSION talk.txt`.",
    ),
    "service": _Kind(
        "A service for pi: it starts the model's commands at a low priority.",
        "`pi plugins show acme-plugin` names what it provides; commands of `bash` run at a low priority.",
        ("attrs>=25.3",),
    ),
    "mode": _Kind(
        "A front end for pi: it prints questions and answers as Markdown.",
        'Run `pi --mode acme-plugin "What is here?"`.',
        ("pluggypi-core>=1.0,<2",),
    ),
    "store": _Kind(
        "A session store for pi: sessions in one SQLite file.",
        "Run `pi config set sessionStore acme-plugin`.",
        ("pluggypi-core>=1.0,<2",),
    ),
    "process": _Kind(
        "A program for pi, in a separate process: a guard and a tool.",
        "Commands that delete trees are refused; the model is offered the tool `acme_plugin`.",
        is_program=True,
    ),
}


def run_plugin(arguments: Sequence[str], host: PluginHost) -> int:
    """Run the command and return the exit code.

    Raises:
        UnknownName: There is no such command or kind.
        UserError: The name is invalid, or the folder is not empty.
    """
    params = parse_strictly(_command(), arguments)
    if params["help"] or not params["words"]:
        kinds = "\n".join(f"                 {name:<9} {kind.description}" for name, kind in _KINDS.items())
        sys.stdout.write(_USAGE.format(kinds=kinds))
        return 0
    name, kind = _checked(params, host)
    folder = Path(params["dir"] or name)
    written = write_plugin(name, kind, folder)
    print_lines(*(str(folder / each) for each in written), "")
    tests = "python -m pytest" if _KINDS[kind].is_program else "uv sync && uv run pytest"
    print_lines(f"Next: cd {folder} && {tests}", f"Without installing it: pi -e {folder}")
    if _runs_from_a_clone():
        print_lines("pi runs from a clone: uv finds its packages once they are built, see pi help install")
    return 0


def _runs_from_a_clone() -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    from pi_cli.checking.subject import editable_folder

    try:
        return editable_folder(distribution("pluggypi-hookspecs")) is not None
    except PackageNotFoundError:
        return False


def _command() -> click.Command:
    return click.Command(
        "pi plugin",
        params=[
            *common_options(),
            click.Option(["--kind"]),
            click.Option(["--dir"]),
            click.Argument(["words"], nargs=-1),
        ],
        add_help_option=False,
    )


def _checked(params: dict[str, Any], host: PluginHost) -> tuple[str, str]:
    words, kind = params["words"], params["kind"]
    if words[0] != "new":
        raise UnknownName("command of pi plugin", words[0], ["new"], "pi plugins, with an s, lists and shows them")
    if len(words) != 2:  # noqa: PLR2004 - the command and its name
        raise UserError(f"pi plugin new takes one name, not {len(words) - 1}")
    name = words[1]
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > _LONGEST:
        raise UserError(
            f"{name!r} cannot be a plugin's name: use lowercase letters, digits and single dashes, {_LONGEST} at most"
        )
    if iskeyword(name):
        raise UserError(f"{name!r} cannot be a plugin's name: it is a Python keyword. Try {f'pi-{name}'!r}")
    if name in host.records:
        raise UserError(f"A plugin named {name!r} is installed, from {host.records[name].distribution}")
    if kind is None:
        raise UserError(f"Specify what the plugin adds: --kind {' | '.join(_KINDS)}")
    if kind not in _KINDS:
        raise UnknownName("kind of plugin", kind, _KINDS, f"Use one of {', '.join(_KINDS)}")
    return name, kind


def write_plugin(name: str, kind: str, folder: Path) -> list[Path]:
    """Write the files of a new plugin and return their paths in its folder.

    Raises:
        UserError: The folder is not empty, or cannot be written.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"The folder {str(folder)!r} is not empty. Give another one with --dir")
        written = []
        root = files("pi_cli") / "new_plugin_files"
        common = () if _KINDS[kind].is_program else _walk(root / "common")
        for path, file in sorted((*common, *_walk(root / kind))):
            target = Path(_named(path.removesuffix(".in"), name))
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            (folder / target).write_text(_filled(file, name, _KINDS[kind]), encoding="utf-8")
            written.append(target)
    except OSError as error:
        raise UserError(f"The plugin cannot be written: {error.strerror}: {error.filename!r}") from error
    return written


def _walk(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the files below a folder: path and content."""
    for each in folder.iterdir():
        path = f"{above}{each.name}"
        if each.is_dir():
            yield from _walk(each, f"{path}/")
        elif path.endswith(".in"):
            yield path, each.read_text(encoding="utf-8")


def _filled(text: str, name: str, kind: _Kind) -> str:
    dependencies = sorted([_HOOKSPECS, *kind.dependencies])
    return _named(
        text.replace("<description>", kind.description)
        .replace("<usage>", kind.usage)
        .replace("<dependencies>", "\n".join(f'    "{each}",' for each in dependencies))
        .replace("<year>", str(datetime.now(UTC).year)),
        name,
    )


def _named(text: str, name: str) -> str:
    """Replace the templates' name by the plugin's, in all its spellings."""
    words = name.split("-")
    return (
        text.replace("acme-plugin", name)
        .replace("acme_plugin", "_".join(words))
        .replace("AcmePlugin", "".join(word.capitalize() for word in words))
        .replace("ACME_PLUGIN", "_".join(words).upper())
    )
