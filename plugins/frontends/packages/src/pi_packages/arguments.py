"""The options of the subcommands."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, Any, NoReturn

from pi_hookspecs import WrongUse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["parse_arguments"]

_SOURCES = """\
Sources:
  word-count>=1.2           the distribution pluggypi-word-count, and no other
  pypi:NAME                 the distribution of exactly this name
  git:HOST/USER/REPO@REF    a repository; also https://... and git+ssh://...
  ./folder                  a Python project, or skills, prompts and themes
  ./file.whl, ./file.py     a wheel; one extension
  npm:@scope/name@1.2.3     extensions, skills, prompts and themes of an npm package
  example:NAME              a copy of one of pi's examples, for you to change
"""

_UPDATE = """\
Without arguments, update pi itself. With sources, --extensions or --all, update packages
within the ranges with which they were installed; pinned packages stay."""

_DESCRIPTIONS = {
    "install": ("Install packages into a folder of pi's own; pi's environment is not changed.", _SOURCES),
    "remove": ("Remove packages, and the dependencies that only they needed.", ""),
    "uninstall": ("Remove packages, and the dependencies that only they needed.", ""),
    "update": (_UPDATE, ""),
    "list": ("List what is installed: the user's, this folder's, and the plugins of pi's environment.", ""),
    "sync": ("Install exactly what the lock file says.", ""),
    "doctor": (
        "Check installers, lock file and installed packages. The exit code is 1 if there is an error.",
        "",
    ),
    "search": ("Search the catalogue, which is a reviewed list: package indexes cannot be searched by purpose.", ""),
    "info": ("Describe a package: installed, or in the catalogue.", ""),
}


class _Formatter(RawDescriptionHelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, prefix or "Usage: ")


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUse(f"{message}. See {self.prog} --help")


def parse_arguments(name: str, arguments: Sequence[str]) -> Namespace | None:
    """Return the options of a subcommand; None if its help was printed.

    Raises:
        UserError: They are invalid; the exit code is 2.
    """
    description, epilog = _DESCRIPTIONS[name]
    parser = _Parser(
        f"pi {name}",
        description=description,
        epilog=epilog,
        formatter_class=_Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    _ADD[name](parser)
    parser.add_argument("--offline", action="store_true", help="make no network requests")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-h", "--help", action="store_true", help="print this help and exit")
    if {"-h", "--help"} & {*arguments}:
        parser.print_help()
        return None
    return parser.parse_args([*arguments])


def _scope(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-l", "--local", action="store_true", help="packages of this folder, declared in .pi/settings.json"
    )
    trust = parser.add_mutually_exclusive_group()
    trust.add_argument("-a", "--approve", action="store_true", default=None, help="trust this folder for this command")
    trust.add_argument("-na", "--no-approve", action="store_false", dest="approve", help="do not trust it")


def _change(parser: ArgumentParser) -> None:
    _scope(parser)
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="print what would be done")
    parser.add_argument(
        "--find-links",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder with wheels, in addition to the index",
    )


def _install(parser: ArgumentParser) -> None:
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument(
        "-r",
        "--requirement",
        action="append",
        default=[],
        metavar="FILE",
        help="the sources in a file: requirements, pylock.*.toml, or JSON of pi list",
    )
    parser.add_argument("--run", action="store_true", help=SUPPRESS)  # of ``pi -e SOURCE``
    parser.add_argument("--typescript", action="store_true", help="only fetch what extensions in TypeScript import")
    parser.add_argument("--pin", action="store_true", help="keep exactly this version until it is installed again")
    parser.add_argument("--isolated", action="store_true", help="run its plugins in separate processes")
    parser.add_argument("-U", "--upgrade", action="store_true", help="take the newest version, not the locked one")
    _change(parser)


def _remove(parser: ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    _change(parser)


def _update(parser: ArgumentParser) -> None:
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="packages; self or pi means pi itself")
    parser.add_argument("--self", action="append_const", dest="named", const="self", default=[], help="pi itself")
    parser.add_argument("--extension", action="append", dest="named", metavar="SOURCE", help="this package")
    parser.add_argument("--all", action="store_true", help="pi, and all packages")
    parser.add_argument("--extensions", action="store_true", help="all packages")
    parser.add_argument("--models", action="store_true", help="what pi knows of models, and the catalogues of packages")
    parser.add_argument("--check", action="store_true", help="report newer versions, and change nothing")
    parser.add_argument("--in-background", action="store_true", help=SUPPRESS)  # of packages.updateModels
    parser.add_argument("--force", action="store_true", help="install pi again, even if no version is newer")
    parser.add_argument(
        "--rollback", action="store_true", help="restore what was there before (with --models: of models)"
    )
    _change(parser)


def _list(parser: ArgumentParser) -> None:
    _scope(parser)
    parser.add_argument("--history", action="store_true", help="list the earlier generations that can be restored")


def _sync(parser: ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--frozen", action="store_true", help="fail if settings and lock file disagree, as for CI")
    choice.add_argument("--upgrade", action="store_true", help="ignore the lock file, and write a new one")
    choice.add_argument("--missing", action="store_true", help="do nothing if everything is installed")
    _change(parser)


def _words(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD")


def _doctor(parser: ArgumentParser) -> None:
    what = "say which of your files for the original pi have no effect here: settings, keys, packages, extensions"
    parser.add_argument("--original", action="store_true", help=what)


_ADD = {
    "install": _install,
    "remove": _remove,
    "uninstall": _remove,
    "update": _update,
    "list": _list,
    "sync": _sync,
    "doctor": _doctor,
    "search": _words,
    "info": _words,
}
