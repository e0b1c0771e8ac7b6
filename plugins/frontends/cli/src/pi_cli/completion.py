"""``pi completion``: the shell completion script, and the completions that it requests at each press of TAB.

click implements the protocol of the shells. Plugins' options come from the index; no plugin is imported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import BashComplete, CompletionItem, ShellComplete, get_completion_class

from pi_cli.click_line import as_click, common_options, parse_strictly
from pi_cli.help import subcommands
from pi_cli.option_table import own_options, plugin_flags
from pi_cli.words import one_line
from pi_core import expand_home
from pi_hookspecs import THINKING_LEVELS, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_core import PluginRecord

__all__ = ["VARIABLE", "complete", "run_completion"]

VARIABLE = "_PI_COMPLETE"
"""Environment variable that the script sets to request completions."""

_SHELLS = ("bash", "zsh", "fish")

_USAGE = """\
Usage: pi completion bash|zsh|fish

Print the script that completes options, their values, subcommands and @files
on TAB. To install it, run once:

  bash   echo 'eval "$(pi completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(pi completion zsh)"' >> ~/.zshrc
  fish   pi completion fish > ~/.config/fish/completions/pi.fish

It needs bash 4.4 or newer; in zsh, put it after compinit.
"""


def run_completion(arguments: Sequence[str]) -> int:
    """Print a shell's script and return the exit code.

    Raises:
        UnknownName: No shell of that name is known.
        UserError: The arguments are invalid.
    """
    words = click.Argument(["shell"], required=False)
    params = parse_strictly(click.Command("pi completion", params=[*common_options(), words]), arguments)
    shell = params["shell"]
    if params["help"] or shell is None:
        sys.stdout.write(_USAGE)
        return 0 if params["help"] else 1
    if shell not in _SHELLS:
        raise UnknownName("shell", shell, _SHELLS, f"Use one of {', '.join(_SHELLS)}")
    sys.stdout.write(_dialogue(shell, click.Group("pi")).source())
    return 0


def complete(instruction: str, records: Sequence[PluginRecord]) -> int:
    """Print completions for the script, which passes the typed line in the environment; return the exit code.

    Args:
        instruction: The variable's value, as ``bash_complete``.
        records: The index records of the plugins.
    """
    shell = instruction.removesuffix("_complete")
    if shell in _SHELLS:
        sys.stdout.write(f"{_dialogue(shell, _program(records)).complete()}\n")
    return 0


def _dialogue(shell: str, program: click.Command) -> ShellComplete:
    dialogue = _Bash if shell == "bash" else get_completion_class(shell)
    assert dialogue is not None  # noqa: S101 - click has had these three since it has any
    return dialogue(program, {}, "pi", VARIABLE)


class _Bash(BashComplete):
    def get_completion_args(self) -> tuple[list[str], str]:
        """Rejoin words that bash splits at ``@`` and ``=``."""
        args, incomplete = super().get_completion_args()
        if args[-1:] == ["@"]:
            return args[:-1], f"@{incomplete}"
        return (args[:-1] if args[-1:] == ["="] else args), incomplete


class _Program(click.Group):
    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return subcommands or options, and files after an ``@``."""
        if incomplete.startswith("@"):
            return list(_files(incomplete[1:]))
        return super().shell_complete(ctx, incomplete)


def _files(beginning: str) -> Iterable[CompletionItem]:
    """Yield the files with this prefix; a shell's own completion does not support the ``@``."""
    folder, _, name = beginning.rpartition("/")
    place = expand_home(f"{folder}/" if beginning.startswith("/") else folder or ".")
    try:
        found = sorted(place.iterdir())
    except OSError:
        return
    for each in found:
        if each.name.startswith(name) and (name or not each.name.startswith(".")):
            path = "/".join([folder, each.name] if "/" in beginning else [each.name])
            yield CompletionItem(f"@{path}{'/' if each.is_dir() else ''}")


def _program(records: Sequence[PluginRecord]) -> click.Group:
    options = [as_click(option) for option in own_options()]
    options += [_plugin_option(flag) for _, flag, problem in plugin_flags(records) if problem is None]
    values = _values(records)
    for option in options:
        if not option.is_flag:
            _complete_values(option, values.get(option.opts[-1], ()))
    commands = [
        click.Command(name, short_help=one_line(description), add_help_option=False, params=[_paths()])
        for name, description in subcommands(records)
    ]
    return _Program("pi", params=[*options], commands=commands, invoke_without_command=True, add_help_option=False)


def _plugin_option(flag: Mapping[str, Any]) -> click.Option:
    return click.Option([f"--{flag['name']}"], is_flag=flag["type"] == "boolean", help=one_line(flag["description"]))


def _values(records: Sequence[PluginRecord]) -> dict[str, Iterable[str]]:
    """Return the values that are known without importing a plugin, by option."""
    modes = {name for record in records for name in record.names("register_modes")}
    return {
        "--mode": sorted({"text", "print", "json"} | modes),
        "--thinking": THINKING_LEVELS,
        "--provider": sorted({name for record in records for name in record.names("register_models")}),
        "--disable": sorted(record.name for record in records),
    }


def _complete_values(option: click.Option, values: Iterable[str]) -> None:
    """Make an option complete its values, or files where it takes a path."""
    metavar = option.metavar or ""
    kind = "dir" if metavar == "DIR" else "file" if "PATH" in metavar or "FILE" in metavar else None

    def answer(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if kind is not None:
            return [CompletionItem(incomplete, type=kind)]
        return [CompletionItem(each) for each in values if each.startswith(incomplete)]

    option._custom_shell_complete = answer  # noqa: SLF001 - as the argument shell_complete of a new option does


def _paths() -> click.Argument:
    return click.Argument(["words"], nargs=-1, type=click.Path())
