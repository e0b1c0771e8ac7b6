"""The packages that extensions of the original import: fetched once, each compared with a hash that comes with pi.

They are pi-tui, pi-ai and typebox, with what these need themselves, and jiti for versions of Node.js that cannot run
TypeScript. Scripts of packages are not run.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import tarfile
from hashlib import sha512
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pi_core import NPM_SHORT_WAITS, is_offline, npm_command, run_installer
from pi_hookspecs import UserError
from pi_typescript.language import packages_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import SettingsView

__all__ = ["install_packages", "missing_packages", "needs_packages"]

_PINNED = Path(__file__).with_name("packages.json")
_IMPORTS = re.compile(
    r"""["'](?:@(?:earendil-works|mariozechner)/pi-(?:tui|ai|agent-core|coding-agent)|(?:@sinclair/)?typebox)[/"']"""
)
_OF_TYPES = re.compile(r"""import\s+type\s[^;"']*["'][^"'\n]*["']""")
_SUFFIXES = frozenset({".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs"})
_MOST_FILES = 500
"""Files of one extension that are read to find out what it imports."""


def missing_packages(agent_dir: Path) -> dict[str, dict[str, str]]:
    """Return the pinned packages that are not there in their pinned version: ``version`` and ``integrity`` by name."""
    pinned: dict[str, dict[str, str]] = json.loads(_PINNED.read_text(encoding="utf-8"))
    folder = packages_folder(agent_dir)
    return {name: each for name, each in pinned.items() if _version_of(folder, name) != each["version"]}


def needs_packages(script: Path) -> bool:
    """Whether an extension, or a file next to it or below, imports one of the packages."""
    files = (each for each in script.parent.rglob("*") if each.suffix in _SUFFIXES)
    own = (each for each in files if "node_modules" not in each.relative_to(script.parent).parts)
    texts = (each.read_text(encoding="utf-8", errors="replace") for each in islice(own, _MOST_FILES))
    return any(_IMPORTS.search(_OF_TYPES.sub("", text)) for text in texts)


def _version_of(folder: Path, name: str) -> str | None:
    try:
        version: str = json.loads((folder / "node_modules" / name / "package.json").read_text(encoding="utf-8"))[
            "version"
        ]
    except (OSError, ValueError, KeyError):
        return None
    return version


def install_packages(settings: SettingsView, environ: Mapping[str, str], say: Callable[[str], object]) -> None:
    """Fetch the packages that are missing; all of them are there afterwards, or none of the new ones.

    Raises:
        UserError: One cannot be fetched, or has another content than the pinned one.
    """
    missing = missing_packages(settings.agent_dir)
    if not missing:
        return
    if is_offline(environ):
        raise UserError(
            "the packages that extensions in TypeScript import have not been fetched yet, and pi is offline"
        )
    command = npm_command(settings, environ)
    if not command:
        raise UserError(
            "extensions in TypeScript import packages that need npm to be fetched, which is not installed. Install "
            "Node.js"
            " with npm, or set npmCommand"
        )
    say(f"Fetching what extensions in TypeScript import: {', '.join(missing)}")
    folder = packages_folder(settings.agent_dir)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="npm-", dir=folder) as name:
        work = Path(name)
        wanted = [f"{each}@{pinned['version']}" for each, pinned in missing.items()]
        pack = ["pack", *wanted, "--ignore-scripts", "--json", "--pack-destination", str(work)]
        done = run_installer([*command, *pack, *NPM_SHORT_WAITS], work, environ)
        if done.code != 0:
            raise UserError(f"packages for extensions in TypeScript cannot be fetched: {done.last_lines()}")
        by_hash = {_integrity(file): file for file in work.glob("*.tgz")}
        for each, pinned in missing.items():
            if pinned["integrity"] not in by_hash:
                raise UserError(
                    f"what the registry sent for {each} {pinned['version']} is not the package that pi was tested with."
                    " Nothing was installed"
                )
            _unpack(by_hash[pinned["integrity"]], work / "unpacked" / each)
        for each in missing:
            target = folder / "node_modules" / each
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            (work / "unpacked" / each).rename(target)
    (folder / "package.json").write_text('{"private": true, "type": "module"}\n', encoding="utf-8")


def _integrity(file: Path) -> str:
    return f"sha512-{base64.b64encode(sha512(file.read_bytes()).digest()).decode()}"


def _unpack(tarball: Path, folder: Path) -> None:
    """Unpack the one folder of a tarball."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="tar-", dir=folder.parent) as name, tarfile.open(tarball, "r:gz") as archive:
        archive.extractall(name, filter="data")
        (top,) = Path(name).iterdir()
        top.rename(folder)
