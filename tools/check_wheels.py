"""Build every wheel of the workspace, install each alone in a fresh environment, and import all of it there.

In the workspace's own environment everything is installed, so a member that forgot a dependency works; here it fails.
Run it with ``uv run python tools/check_wheels.py``. It runs itself in each fresh environment (the part below "There"),
so it imports nothing but the standard library.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
UV = os.environ.get("UV", "uv")  # uv run says which uv it is
TIMEOUT = 300
WITH_COMMAND = {"pluggypi", "pluggypi-cli"}


class CheckFailed(Exception):
    """A step failed; the message holds what it printed."""


def normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


# --- Here: build, install, ask -------------------------------------------------------------------------------------


def run(*command: str | Path) -> str:
    """Run a command that must succeed, and return what it printed to stdout."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}  # they would lead back to the workspace's environment
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name not in hidden},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        message = f"{command[0]} did not end within {TIMEOUT} s"
        raise CheckFailed(message) from late
    if done.returncode:
        line = " ".join(str(word) for word in command)
        raise CheckFailed(f"{line}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def extras_of(wheel: Path) -> list[str]:
    """Return the names of the optional dependencies that a wheel declares."""
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return re.findall(r"^Provides-Extra: (\S+)$", archive.read(path).decode(), re.MULTILINE)


def check(wheel: Path, constraints: Path) -> str:
    """Install one wheel and what it declares, use it, and return a line that tells what was done."""
    name, version = wheel.name.split("-")[:2]
    name = normal(name)
    venv = constraints.parent / name
    scripts = venv / ("Scripts" if os.name == "nt" else "bin")
    probe: list[str | Path] = [scripts / "python", "-I", "-W", "error::ImportWarning", __file__]
    install = [UV, "pip", "install", "--quiet", "--python", str(venv), "--constraint", str(constraints)]

    run(UV, "venv", "--quiet", "--no-project", "--python", sys.executable, venv)
    run(*install, wheel)
    report = run(*probe, "import", name)
    if extras := extras_of(wheel):
        run(*install, f"{name}[{','.join(extras)}] @ {wheel.as_uri()}")
    run(*probe, "declared", name)
    if name in WITH_COMMAND:
        printed = run(scripts / "pi", "--version")
        if printed != version:
            raise CheckFailed(f"pi --version printed {printed!r} instead of {version!r}")
        report += f", pi --version prints {printed}"
    return f"{name}: {report}"


def check_all(folder: Path) -> int:
    """Build and check all wheels, two at a time, and return how many failed."""
    run(UV, "build", "--quiet", "--all-packages", "--wheel", "--out-dir", folder / "dist")
    wheels = sorted((folder / "dist").glob("*.whl"))
    # The pins, so that this fails for our own reasons only; and the siblings by path, so that none of them can come
    # from a package registry that happens to serve the same name.
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
    siblings = [f"{normal(wheel.name.partition('-')[0])} @ {wheel.as_uri()}" for wheel in wheels]
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join([*pins, *siblings]) + "\n")

    failures = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for wheel, checked in [(wheel, pool.submit(check, wheel, constraints)) for wheel in wheels]:
            try:
                print("ok  ", checked.result(), flush=True)
            except CheckFailed as failure:
                failures += 1
                print("FAIL", f"{wheel.name}: {failure}", flush=True)
    print(f"{len(wheels)} wheels, {failures} failed")
    return failures


# --- There: in the fresh environment -------------------------------------------------------------------------------


def packages_of(distribution: str) -> list[str]:
    """Return the import names that a distribution provides."""
    provided = importlib.metadata.packages_distributions()
    return sorted(name for name, owners in provided.items() if distribution in map(normal, owners))


def import_all(package: ModuleType) -> Iterator[ModuleType]:
    """Import a package's modules, all the way down."""
    yield package
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if found.name.endswith(".__main__"):
            continue  # importing it would run the program
        module = importlib.import_module(found.name)
        if found.ispkg:
            yield from import_all(module)
        else:
            yield module


def imports_in(file: Path) -> Iterator[tuple[str, int]]:
    """Yield top-level name and line of every absolute import, also of those inside functions."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0], node.lineno


def probe_imports(distribution: str) -> int:
    """Import every module and load every entry point of an installed distribution."""
    modules = [module for name in packages_of(distribution) for module in import_all(importlib.import_module(name))]
    entry_points = importlib.metadata.distribution(distribution).entry_points
    for entry_point in entry_points:
        entry_point.load()
    print(f"{len(modules)} modules, {len(entry_points)} entry points")
    return 0


def probe_declared(distribution: str) -> int:
    """Compare what an installed distribution's code imports, lazily or not, with what its metadata declares.

    Importing everything does not show a dependency that is imported inside a function, or that is there only because
    another dependency happens to bring it.
    """
    provided = importlib.metadata.packages_distributions()
    required = importlib.metadata.requires(distribution) or []
    declared = {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in required} | {distribution}
    problems = []
    for name in packages_of(distribution):
        folder = Path(importlib.import_module(name).__file__ or "").parent
        if not (folder / "py.typed").is_file():
            problems.append(f"{name} has no py.typed")
        for file in sorted(folder.rglob("*.py")):
            for target, line in imports_in(file):
                if target in sys.stdlib_module_names or declared & set(map(normal, provided.get(target, ()))):
                    continue
                place = f"{file.relative_to(folder.parent)}:{line}"
                problems.append(f"{place} imports {target!r}, which no declared dependency provides")
    print("\n".join(problems))
    return 1 if problems else 0


def main(arguments: list[str]) -> int:
    """Run one of the two parts and return the exit code."""
    match arguments:
        case ["import", distribution]:
            return probe_imports(distribution)
        case ["declared", distribution]:
            return probe_declared(distribution)
    with tempfile.TemporaryDirectory(prefix="pi-wheels-") as folder:
        try:
            return 1 if check_all(Path(folder)) else 0
        except CheckFailed as failure:
            print(failure)
            return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
