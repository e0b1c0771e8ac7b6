"""The programs that solve and install: uv, pip, and the pip in ``ensurepip``, behind a common interface.

Where distributions come from is the user's configuration of these programs, and the settings ``packages.index`` and
``packages.findLinks``: no address of an index is written here.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from attrs import frozen

from pi_core.host.installers import clean_environment, find_program, run_installer
from pi_hookspecs import UserError
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_core.host.installers import Finished
    from pi_packages.base import Base

__all__ = ["Installer", "Options", "SolveFailed", "Wanted", "find_installer"]

_WHEEL_ONLY = ("--no-deps", "--only-binary", ":all:")

Locked = dict[str, Any]
"""A table of ``[[packages]]`` in a lock file (PEP 751)."""


class SolveFailed(UserError):
    """No set of versions is compatible; the message contains the installer's reason."""


@frozen(kw_only=True, eq=False, repr=False)
class Options(Value):
    """Where distributions come from, and what may be built.

    Attributes:
        find_links: Folders and pages with wheels, in addition to the indexes.
        index: The address of an index, in place of the configured one.
        offline: Use caches and folders only.
        allow_builds: Whether dependencies may be built from sources, which runs their code.
        min_age_days: Ignore what was published later than this many days ago; uv only.
        fresh: Whether uv's cache is not used, because installed files that were changed can be those of the cache, as
            links.
    """

    find_links: tuple[str, ...] = ()
    index: str | None = None
    offline: bool = False
    allow_builds: bool = False
    min_age_days: float = 0
    fresh: bool = False

    def arguments(self) -> list[str]:
        """Return the options that uv and pip have in common."""
        found = [each for folder in self.find_links for each in ("--find-links", folder)]
        return [*found, *(["--index-url", self.index] if self.index else [])]


@frozen(kw_only=True, eq=False, repr=False)
class Wanted(Value):
    """The input of a solve.

    Attributes:
        requirements: Lines as pip takes them; ``-e`` before a folder.
        locked: The tables of the lock in force, whose versions are preferred.
        upgrade: Canonical names whose locked versions do not count.
        universal: Whether the solution must also work on other machines.
    """

    requirements: tuple[str, ...]
    locked: tuple[Locked, ...] = ()
    upgrade: frozenset[str] = frozenset()
    universal: bool = False


class Installer(Protocol):
    """A program that solves and installs."""

    name: str

    def solve(self, wanted: Wanted, base: Base, options: Options) -> list[Locked]:
        """Return the distributions to install in addition to base.

        Raises:
            SolveFailed: There is no solution.
        """
        ...

    def index_of(self, name: str, version: str, options: Options) -> str | None:
        """Return the address of the index that provides a distribution; None if unknown."""
        ...

    def install(self, packages: Sequence[Locked], target: Path, options: Options) -> None:
        """Install exactly these distributions into a new folder, checking their hashes.

        Raises:
            UserError: It failed.
        """
        ...

    def unpack(self, requirement: str, target: Path, options: Options) -> None:
        """Unpack the wheel of a distribution into a new folder, without what it requires; no code of it is run.

        Raises:
            UserError: There is no such wheel, or it has another hash than its index states.
        """
        ...


def find_installer(words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Installer:
    """Return the best available installer.

    Args:
        words: The setting ``packages.installer``: the command of uv or pip.
        folder: Its working directory, one of pi's own folders.
        environ: The environment.

    Raises:
        UserError: There is none.
    """
    if words:
        is_uv = Path(words[-1]).name.removesuffix(".exe") == "uv"
        return Uv(words, folder, environ) if is_uv else Pip(words, folder, environ)
    uv = find_program("uv", environ) or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is not None:
        return Uv([uv], folder, environ)
    if run_installer([sys.executable, "-P", "-m", "pip", "--version"], folder, environ).code == 0:
        return Pip([sys.executable, "-P", "-m", "pip"], folder, environ)
    bundled = _bundled_pip()
    if bundled is not None:
        return Pip([sys.executable, bundled], folder, environ)
    raise UserError("Neither uv nor pip is available to install packages. Install uv, or Python's module ensurepip")


def _bundled_pip() -> str | None:
    """Return a path with which Python runs the pip in the wheel of ``ensurepip``."""
    from importlib.util import find_spec

    spec = find_spec("ensurepip")
    folders = [Path(spec.origin).parent / "_bundled"] if spec is not None and spec.origin else []
    from sysconfig import get_config_var

    if get_config_var("WHEEL_PKG_DIR"):  # some systems store the wheel elsewhere
        folders.append(Path(get_config_var("WHEEL_PKG_DIR")))
    wheels = sorted(wheel for folder in folders for wheel in folder.glob("pip-*.whl"))
    return str(wheels[-1] / "pip") if wheels else None


class Uv:
    """uv, which solves in half a second."""

    name = "uv"

    def __init__(self, command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        self._command, self._folder = list(command), folder
        self._environ = clean_environment(environ)

    def solve(self, wanted: Wanted, base: Base, options: Options) -> list[Locked]:
        """Return the distributions to install in addition to base."""
        with TemporaryDirectory(prefix="solve-", dir=self._folder) as name:
            folder = Path(name)
            files = _write_inputs(folder, wanted, base)
            output = folder / "pylock.toml"
            if wanted.locked:
                _write_lock(output, wanted.locked)
            command = [
                "pip",
                "compile",
                files["in"],
                "--constraint",
                files["constraints"],
                "--output-file",
                str(output),
            ]
            command += ["--python", sys.executable, "--format", "pylock.toml", "--generate-hashes", "--no-header"]
            command += [part for each in base.versions for part in ("--no-emit-package", each)]
            command += [part for each in sorted(wanted.upgrade) for part in ("--upgrade-package", each)]
            command += ["--find-links", str(base.stubs(self._folder / "base")), *self._options(options)]
            command += _near(wanted.locked)
            command += ["--universal"] if wanted.universal else []
            command += [] if options.allow_builds else ["--only-binary", ":all:"]
            if options.min_age_days:
                command += ["--exclude-newer", _days_ago(options.min_age_days)]
            done = self._run(*command)
            if done.code != 0:
                raise SolveFailed(_plain(done))
            found: list[Locked] = tomllib.loads(output.read_text(encoding="utf-8")).get("packages", [])
            return [_absolute(each, folder) for each in found]

    def index_of(self, name: str, version: str, options: Options) -> str | None:
        """Return the address of the index that has a distribution; uv does not write it into lock files."""
        if options.index is not None:
            return options.index
        with TemporaryDirectory(prefix="index-", dir=self._folder) as folder:
            file = Path(folder, "in.txt")
            file.write_text(f"{name}=={version}\n", encoding="utf-8")
            command = ["pip", "compile", str(file), "--python", sys.executable, "--no-deps", "--no-header", "--quiet"]
            done = self._run(*command, "--emit-index-annotation", *self._options(options))
        found = re.search(r"# from (https?://\S+)", done.output)
        return found[1] if found is not None else None

    def install(self, packages: Sequence[Locked], target: Path, options: Options) -> None:
        """Install exactly these distributions into a new folder, checking their hashes."""
        for lines, hashed in _lines(packages):
            if lines:
                command = ["pip", "install", "--python", sys.executable, "--no-deps", "--target", str(target)]
                command += ["--require-hashes"] if hashed else []
                with TemporaryDirectory(prefix="install-", dir=self._folder) as folder:
                    file = Path(folder, "requirements.txt")
                    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
                    done = self._run(*command, *self._options(options), *_near(packages), "-r", str(file))
                if done.code != 0:
                    raise UserError(f"uv could not install: {_plain(done)}")

    def unpack(self, requirement: str, target: Path, options: Options) -> None:
        """Unpack the wheel of a distribution into a new folder, without what it requires."""
        command = ["pip", "install", "--python", sys.executable, *_WHEEL_ONLY, "--target", str(target), requirement]
        command += ["--exclude-newer", _days_ago(options.min_age_days)] if options.min_age_days else []
        done = self._run(*command, *self._options(options))
        if done.code != 0:
            raise UserError(f"{requirement} cannot be fetched: {_plain(done)}")

    def _options(self, options: Options) -> list[str]:
        return [*options.arguments(), *(["--offline"] if options.offline else ["--no-cache"] if options.fresh else [])]

    def _run(self, *arguments: str) -> Finished:
        return run_installer([*self._command, *arguments], self._folder, self._environ)


class Pip:
    """pip, from pi's environment or from ``ensurepip``."""

    name = "pip"

    def __init__(self, command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        self._command, self._folder = list(command), folder
        self._environ = clean_environment(environ)

    def solve(self, wanted: Wanted, base: Base, options: Options) -> list[Locked]:
        """Return the distributions to install in addition to base."""
        kept = {each["name"]: each["version"] for each in wanted.locked if _has_version(each)}
        pins = "".join(f"{name}=={version}\n" for name, version in kept.items() if name not in wanted.upgrade)
        done, report = self._solve(wanted, base, options, pins)
        if done.code != 0 and pins:  # what was locked does not go with what is new
            done, report = self._solve(wanted, base, options, "")
        if done.code != 0:
            raise SolveFailed(_plain(done))
        return [locked for each in report["install"] if (locked := _from_report(each))["name"] not in base.versions]

    def _solve(self, wanted: Wanted, base: Base, options: Options, pins: str) -> tuple[Finished, dict[str, Any]]:
        with TemporaryDirectory(prefix="solve-", dir=self._folder) as name:
            folder = Path(name)
            files = _write_inputs(folder, wanted, base, pins)
            report = folder / "report.json"
            command = ["install", "--dry-run", "--quiet", "--report", str(report), "--target", str(folder / "target")]
            command += ["-r", files["in"], "-c", files["constraints"]]
            command += ["--find-links", str(base.stubs(self._folder / "base")), *self._options(options)]
            command += _near(wanted.locked)
            command += [] if options.allow_builds else ["--only-binary", ":all:"]
            done = self._run(*command)
            return done, json.loads(report.read_text(encoding="utf-8")) if done.code == 0 else {}

    def index_of(self, name: str, version: str, options: Options) -> str | None:
        """Return the index from the settings; pip does not report which index it used."""
        return options.index

    def install(self, packages: Sequence[Locked], target: Path, options: Options) -> None:
        """Install exactly these distributions into a new folder, checking their hashes."""
        for lines, hashed in _lines(packages):
            if lines:
                with TemporaryDirectory(prefix="install-", dir=self._folder) as folder:
                    file = Path(folder, "requirements.txt")
                    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
                    command = ["install", "--quiet", "--no-deps", "--target", str(target), "-r", str(file)]
                    command += ["--require-hashes"] if hashed else []
                    done = self._run(*command, *self._options(options), *_near(packages))
                if done.code != 0:
                    raise UserError(f"pip could not install: {_plain(done)}")

    def unpack(self, requirement: str, target: Path, options: Options) -> None:
        """Unpack the wheel of a distribution into a new folder, without what it requires."""
        command = ["install", "--quiet", "--no-compile", *_WHEEL_ONLY, "--target", str(target), requirement]
        done = self._run(*command, *self._options(options))
        if done.code != 0:
            raise UserError(f"{requirement} cannot be fetched: {_plain(done)}")

    def _options(self, options: Options) -> list[str]:
        return [*options.arguments(), *(["--no-index"] if options.offline else [])]

    def _run(self, *arguments: str) -> Finished:
        command = [*self._command, *arguments, "--disable-pip-version-check", "--no-input"]
        return run_installer(command, self._folder, self._environ)


# Forms


def _write_inputs(folder: Path, wanted: Wanted, base: Base, pins: str = "") -> dict[str, str]:
    requirements, constraints = folder / "in.txt", folder / "constraints.txt"
    requirements.write_text("\n".join(wanted.requirements) + "\n", encoding="utf-8")
    constraints.write_text(base.constraints() + pins, encoding="utf-8")
    return {"in": str(requirements), "constraints": str(constraints)}


def _write_lock(file: Path, packages: Sequence[Locked]) -> None:
    import tomli_w

    lock = {"lock-version": "1.0", "created-by": "pi", "packages": list(packages)}
    file.write_text(tomli_w.dumps(lock), encoding="utf-8")


def _lines(packages: Sequence[Locked]) -> tuple[tuple[list[str], bool], tuple[list[str], bool]]:
    """Return the requirements with hashes, and the requirements for folders, which have none."""
    hashed: list[str] = []
    folders: list[str] = []
    for each in packages:
        name = each["name"]
        if "directory" in each:
            path = each["directory"]["path"]
            folders.append(f"-e {path}" if each["directory"].get("editable") else f"{name} @ {Path(path).as_uri()}")
        elif "archive" in each:
            archive = each["archive"]
            url = archive.get("url") or Path(archive["path"]).as_uri()
            hashed.append(f"{name} @ {url}{_hashes([archive])}")
        else:
            files = [*each.get("wheels", ()), *([each["sdist"]] if "sdist" in each else [])]
            marker = f" ; {each['marker']}" if "marker" in each else ""
            hashed.append(f"{name}=={each['version']}{marker}{_hashes(files)}")
    return (hashed, True), (folders, False)


def _near(packages: Sequence[Locked]) -> list[str]:
    """Return options with which a solver finds distributions that were installed from folders of wheels."""
    urls = [file.get("url", "") for each in packages for file in each.get("wheels", ())]
    folders = dict.fromkeys(unquote(urlsplit(url).path.rpartition("/")[0]) for url in urls if url.startswith("file://"))
    return [part for folder in folders if Path(folder).is_dir() for part in ("--find-links", folder)]


def _hashes(files: Sequence[Mapping[str, Any]]) -> str:
    return "".join(f" --hash={kind}:{value}" for file in files for kind, value in sorted(file["hashes"].items()))


def _has_version(each: Locked) -> bool:
    return "version" in each and "archive" not in each and "directory" not in each


def _absolute(each: Locked, folder: Path) -> Locked:
    """Return a table with absolute paths instead of paths relative to the solver's folder."""
    for kind in ("archive", "directory"):
        if "path" in each.get(kind, {}):
            each[kind]["path"] = str((folder / each[kind]["path"]).resolve())
    return each


def _from_report(item: Mapping[str, Any]) -> Locked:
    from packaging.utils import canonicalize_name

    metadata, download = item["metadata"], item["download_info"]
    locked: Locked = {"name": canonicalize_name(metadata["name"]), "version": metadata["version"]}
    if "dir_info" in download:
        path = unquote(urlsplit(download["url"]).path)
        editable = bool(download["dir_info"].get("editable"))
        return {**locked, "directory": {"path": path, **({"editable": True} if editable else {})}}
    file = {"url": download["url"], "hashes": dict(download["archive_info"]["hashes"])}
    if item.get("is_direct"):
        return {**locked, "archive": file}
    return {**locked, **({"wheels": [file]} if file["url"].endswith(".whl") else {"sdist": file})}


def _days_ago(days: float) -> str:
    from datetime import UTC, datetime, timedelta

    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")


def _plain(done: Finished) -> str:
    """Return an installer's reason without its labels."""
    lines = [line.strip() for line in done.last_lines(12).splitlines()]
    words = ("error: ", "ERROR: ", "cause: ", "hint: ")
    for word in words:
        lines = [line.removeprefix(word) for line in lines]
    return "; ".join(line for line in lines if line and not line.startswith("No solution found"))
