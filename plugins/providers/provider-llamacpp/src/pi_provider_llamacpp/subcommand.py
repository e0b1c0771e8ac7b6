"""``pi models``: lists, downloads and deletes local models without a session."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_provider_llamacpp.catalog import Listed
    from pi_provider_llamacpp.options import Options

__all__ = ["run_subcommand"]

_USAGE = """\
Usage: pi models list [--json]
       pi models pull REPO:FILE
       pi models rm [-y] MODEL

list   List the GGUF files on this disk: those in llamacpp.paths, and in the
       caches of Hugging Face, LM Studio and Ollama; exit code 1 when there
       are none
pull   Download a file of a repository of the Hugging Face Hub into its cache
rm     Delete a model; without -y it asks
"""


def run_subcommand(arguments: list[str], host: Any) -> int:
    """Run ``pi models``; return the exit code."""
    try:
        code = _run(arguments, host)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if code is None:
        sys.stderr.write(f"Unknown arguments: {' '.join(arguments)}\n\n{_USAGE}")
        return 2
    return code


def _run(arguments: list[str], host: Any) -> int | None:
    """Run what the arguments say; None if they say nothing that is known."""
    code = None
    match arguments:
        case [] | ["-h" | "--help"]:
            sys.stdout.write(_USAGE)
            code = 0
        case ["list", *options] if options in ([], ["--json"]):
            code = _list(host, as_json=bool(options))
        case ["pull", source]:
            code = _pull(source)
        case ["rm", "-y", name] | ["rm", name, "-y"]:
            code = _remove(name, host, asks=False)
        case ["rm", name]:
            code = _remove(name, host, asks=True)
    return code


def _models(host: Any) -> tuple[list[Listed], Options]:
    from pi_provider_llamacpp.catalog import list_models
    from pi_provider_llamacpp.options import read_options

    options = read_options(host.settings)
    for problem in options.problems:
        sys.stderr.write(f"{problem}\n")
    return list_models(options, host.settings.agent_dir), options


def _list(host: Any, *, as_json: bool) -> int:
    from pi_core import clean_text
    from pi_provider_llamacpp.catalog import NOTHING, as_data, as_lines

    models, options = _models(host)
    if as_json:
        sys.stdout.write(json.dumps(as_data(models, options)) + "\n")
    elif models:
        sys.stdout.write(clean_text("\n".join(as_lines(models, options))) + "\n")
    else:
        sys.stderr.write(f"{NOTHING}\n")
    return 0 if models else 1


def _pull(source: str) -> int:
    from pi_provider_llamacpp.hub import pull

    files = pull(source)
    sys.stdout.write("".join(f"{file}\n" for file in files))
    sys.stderr.write(f"Use it with: pi --model llamacpp/{files[0].stem}\n")
    return 0


def _remove(name: str, host: Any, *, asks: bool) -> int:
    from pi_provider_llamacpp.catalog import named, shown_size
    from pi_provider_llamacpp.hub import remove

    models, _ = _models(host)
    found = named(name, models).found
    if asks and sys.stdin.isatty():
        sys.stderr.write(f"Delete {found.path} ({shown_size(found.size)})? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            sys.stderr.write("Nothing was deleted.\n")
            return 1
    remove(found)
    sys.stdout.write(f"Deleted {found.id}\n")
    return 0
