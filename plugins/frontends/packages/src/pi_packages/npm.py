"""Fetches npm packages: the files of the tarball, and what its extensions import; no script of a package is run."""

from __future__ import annotations

import base64
import json
import re
import shutil
import tarfile
from hashlib import sha512
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_core import NPM_SHORT_WAITS, npm_command, run_installer
from pi_hookspecs import UserError
from pi_packages.trees import MAX_BYTES, MAX_FILES, check_links, draft_of, folder_for, integrity_key, tree_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_packages.change import Context
    from pi_packages.sources import Source

__all__ = ["fetch_npm", "fetch_tarball"]

_MODULES = "node_modules"
_MODULES_ONLY = ("--omit=dev", "--omit=peer", "--no-audit", "--no-fund", "--no-package-lock")
_PROVIDED = r"(@earendil-works|@mariozechner)/pi-|@sinclair/typebox$|typebox$"
"""What extensions import and pi provides."""


def fetch_npm(source: Source, context: Context, known: Mapping[str, Any] | None) -> tuple[Path, dict[str, Any]]:
    """Return the folder with the files of a package, and its version, integrity and hash.

    Args:
        source: The package.
        context: The environment, and the setting ``npmCommand``.
        known: The installed or locked state, whose ``version`` and ``integrity`` are used again.

    Raises:
        UserError: It cannot be fetched, or its files differ from the locked ones.
    """
    version = str((known or {}).get("version") or "")
    integrity = str((known or {}).get("integrity") or "")
    folder = folder_for(context.agent_dir, source.identity, integrity_key(integrity)) if integrity else None
    if folder is None or not folder.is_dir():
        with TemporaryDirectory(prefix="npm-", dir=_work(context)) as name:
            tarball = _tarball(source, context, Path(name), version)
            found = _integrity(tarball)
            if integrity not in ("", found):
                raise UserError(f"{source.text} {version} has different content than was locked")
            integrity = found
            folder = folder_for(context.agent_dir, source.identity, integrity_key(integrity))
            if not folder.is_dir():
                _unpack(tarball, folder, source.text)
    package = _package(folder)
    modules = _install_modules(package, folder, context, known)
    tree = tree_hash(folder)
    if known is not None and known.get("tree") not in (None, tree):
        raise UserError(f"the files of {source.text} in {folder} were changed. Remove that folder, and run pi sync")
    return folder, {"version": str(package.get("version") or version), "integrity": integrity, "tree": tree, **modules}


def fetch_tarball(source: Source, context: Context, folder: Path) -> tuple[Path, str]:
    """Return the tarball of a package's newest version that its source allows, in a folder, and its integrity.

    Raises:
        UserError: It cannot be fetched.
    """
    fetched = _tarball(source, context, folder, "")
    if fetched.parent != folder:
        try:
            fetched = Path(shutil.copy(fetched, folder))
        except OSError as error:
            raise UserError(f"{source.text} cannot be read: {error.strerror or error}") from error
    return fetched, _integrity(fetched)


def _work(context: Context) -> Path:
    work = context.agent_dir / "packages" / "work"
    work.mkdir(parents=True, exist_ok=True)
    return work


def _integrity(file: Path) -> str:
    return f"sha512-{base64.b64encode(sha512(file.read_bytes()).digest()).decode()}"


def _tarball(source: Source, context: Context, folder: Path, version: str) -> Path:
    if source.location.startswith("/") or Path(source.location).is_absolute():
        return Path(source.location)
    wanted = f"{source.location}@{version or source.reference or 'latest'}"
    pack = ["pack", wanted, "--ignore-scripts", "--json", "--pack-destination", str(folder)]
    _run_npm(context, pack, folder, source.text)
    found = sorted(folder.glob("*.tgz"))
    if not found:
        raise UserError(f"{source.text} cannot be fetched: npm produced no tarball")
    return found[0]


def _run_npm(context: Context, arguments: Sequence[str], folder: Path, what: str) -> None:
    """Run npm; the arguments say that no scripts are run.

    Raises:
        UserError: There is no npm, nothing may be fetched, or it fails.
    """
    if context.options.offline:
        raise UserError(f"{what} has not been fetched yet, and --offline forbids it")
    command = npm_command(context.settings, context.environ)
    if not command:
        raise UserError(f"{what} needs npm, which is not installed. Install Node.js, or set npmCommand")
    context.say(f"Fetching {what}")
    done = run_installer([*command, *arguments, *NPM_SHORT_WAITS], folder, context.environ)
    if "EINTEGRITY" in done.errors:
        raise UserError(
            f"{what} was refused: the file that the registry sent is not the one whose hash it states. Try again"
            " later, or ask the publisher"
        )
    if done.code != 0:
        raise UserError(f"{what} cannot be fetched: {done.last_lines()}")


def _install_modules(
    package: Mapping[str, Any], folder: Path, context: Context, known: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Install what extensions in TypeScript import; return version and hash of each module as ``modules``.

    What pi itself provides is left out: the packages of the original, and typebox.

    Raises:
        UserError: They cannot be installed, or one has different content than was locked.
    """
    wanted = package.get("dependencies")
    has_extensions = isinstance(package.get("pi"), dict) and package["pi"].get("extensions")
    if not has_extensions or not isinstance(wanted, dict):
        return {}
    wanted = {name: version for name, version in wanted.items() if not re.match(_PROVIDED, name)}
    if not wanted:
        return {}
    if not (folder / _MODULES).is_dir():
        with TemporaryDirectory(prefix="modules-", dir=_work(context)) as name:
            work = Path(name)
            (work / "package.json").write_text(json.dumps({"private": True, "dependencies": wanted}))
            _run_npm(
                context, ["install", "--ignore-scripts", *_MODULES_ONLY], work, f"what {package.get('name')} imports"
            )
            (work / _MODULES).rename(folder / _MODULES)
    found = _modules_in(folder / _MODULES / ".package-lock.json")
    locked = (known or {}).get("modules")
    if locked is not None and locked != found:
        names = sorted(each for each in {*locked, *found} if locked.get(each) != found.get(each))
        raise UserError(f"{', '.join(names)} in {folder / _MODULES} is not what was locked")
    return {"modules": found}


def _modules_in(lock: Path) -> dict[str, str]:
    try:
        packages: dict[str, dict[str, str]] = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{lock} cannot be read: {error}") from error
    return {path: f"{each.get('version')} {each.get('integrity', '')}" for path, each in packages.items()}


def _unpack(tarball: Path, folder: Path, name: str) -> None:
    """Unpack a tarball whose files are in one folder.

    Raises:
        UserError: It is not a tarball, is too large, or contains paths outside its folder.
    """
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            size = count = 0
            for member in archive:
                size, count = size + member.size, count + 1
                if count > MAX_FILES or size > MAX_BYTES:
                    raise UserError(f"{name} has more than {MAX_FILES} files or {MAX_BYTES} bytes")
        with TemporaryDirectory(prefix="tar-", dir=tarball.parent) as name_of_folder:
            unpacked = Path(name_of_folder)
            with tarfile.open(tarball, "r:gz") as archive:
                archive.extractall(unpacked, filter="data")
            tops = [each for each in unpacked.iterdir() if each.is_dir()]
            top = tops[0] if len(tops) == 1 else unpacked
            check_links(top, name)
            folder.parent.mkdir(parents=True, exist_ok=True)
            with draft_of(folder) as draft:
                shutil.copytree(top, draft, symlinks=True, dirs_exist_ok=True)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise UserError(f"{name} cannot be unpacked: {error}") from error


def _package(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "package.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
