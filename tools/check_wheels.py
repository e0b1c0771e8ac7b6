"""Build every wheel of the workspace, install each alone in an environment, and import all of it there.

In the workspace's own environment everything is installed, so a member that forgot a dependency works; here it fails.
Then a stranger's plugins, one of each kind that ``pi plugin new`` writes, are built, installed next to a small pi, used
and removed; nothing else may have changed.
Run it with ``uv run python tools/check_wheels.py``. It runs itself in each environment (the part below "There"),
so at its top it imports nothing but the standard library.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import json
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
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
UV = os.environ.get("UV", "uv")  # uv run sets the variable
TIMEOUT = 300
WITH_COMMAND = {"pluggypi", "pluggypi-cli"}
SMALL_PI = ["pluggypi-core", "pluggypi-cli", "pluggypi-tools", "pluggypi-provider-offline"]
STRANGERS = {
    "tool": "word-count",
    "provider": "acme",
    "hooks": "keep-trees",
    "command": "answers",
    "extension": "call-count",
    "login": "acme-login",
    "exporter": "plain-text",
    "service": "low-priority",
    "mode": "markdown",
    "store": "shelf",
}
"""What ``pi plugin new`` is asked for: names by kind."""
BROUGHT_BY_CHECKERS = {"typing_extensions"}
PROGRAMS = {"harbor", "inspect_ai"}
"""Programs that import a module of ours, which imports theirs; no distribution of ours brings them."""
_MEASURED = {"loadMs", "lastRun"}
"""Keys of `pi plugins --json` that differ from run to run."""


class CheckFailed(Exception):
    """A step failed; the message holds what it printed."""


def normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


# --- Here: build, install, ask -------------------------------------------------------------------------------------


def run(*command: str | Path, cwd: Path = ROOT, **environment: str | Path) -> str:
    """Run a command that must succeed, and return what it printed to stdout."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}  # they would lead back to the workspace's environment
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={name: value for name, value in os.environ.items() if name not in hidden}
            | {name: str(value) for name, value in environment.items()},
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


class Environment:
    """An environment that has one wheel and what it declares, and then another: what both need is installed once.

    What the earlier one alone needed is removed before the next, so each is as alone as in an environment of its own,
    while Python's compiled files of the rest are there already.
    """

    def __init__(self, folder: Path, constraints: Path) -> None:
        self.folder = folder
        self.scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        self._constraints = constraints
        run(UV, "venv", "--quiet", "--no-project", "--python", sys.executable, folder)

    def install_alone(self, requirement: str | Path) -> None:
        """Install a requirement and what it declares; remove everything else."""
        uv = [UV, "pip", "install", "--quiet", "--exact", "--python", str(self.folder)]
        run(*uv, "--constraint", str(self._constraints), requirement)

    def probe(self, *arguments: str) -> str:
        """Run a part of this file in the environment, and return what it printed."""
        return run(self.scripts / "python", "-I", "-W", "error::ImportWarning", __file__, *arguments)


def check(wheel: Path, environment: Environment) -> str:
    """Install one wheel and what it declares, use it, and return a line that reports what was done."""
    name, version = wheel.name.split("-")[:2]
    name = normal(name)
    environment.install_alone(wheel)
    if extras := extras_of(wheel):
        report = environment.probe("import", name)
        environment.install_alone(f"{name}[{','.join(extras)}] @ {wheel.as_uri()}")
        environment.probe("declared", name)
    else:
        report = environment.probe("import", "declared", name)
    if name in WITH_COMMAND:
        printed = run(environment.scripts / "pi", "--version")
        if printed != version:
            raise CheckFailed(f"pi --version printed {printed!r} instead of {version!r}")
        report += f", pi --version prints {printed}"
    return f"{name}: {report}"


class SmallPi:
    """A fresh environment with the smallest pi that answers, in a folder of its own."""

    def __init__(self, folder: Path, constraints: Path) -> None:
        self.folder = folder
        self.venv = folder / "venv"
        self.scripts = self.venv / ("Scripts" if os.name == "nt" else "bin")
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self._constraints = constraints
        run(UV, "venv", "--quiet", "--no-project", "--python", sys.executable, self.venv)
        self.install(*SMALL_PI)

    def install(self, *what: str | Path) -> None:
        """Install distributions by name or wheels by path."""
        uv = [UV, "pip", "install", "--quiet", "--python", str(self.venv), "--constraint", str(self._constraints)]
        run(*uv, *what)

    def uninstall(self, *names: str) -> None:
        """Take distributions away."""
        run(UV, "pip", "uninstall", "--quiet", "--python", str(self.venv), *names)

    def pi(self, *arguments: str) -> str:
        """Run pi in the working directory and return what it printed."""
        return run(self.scripts / "pi", *arguments, cwd=self.work, PI_CODING_AGENT_DIR=self.folder / "agent")

    def python(self, *arguments: str | Path) -> str:
        """Run the environment's Python likewise."""
        return run(self.scripts / "python", *arguments, cwd=self.work, PI_CODING_AGENT_DIR=self.folder / "agent")

    def state(self) -> dict[str, object]:
        """Return what is there: plugins and what they register, distributions, files; without times and calls."""
        plugins = json.loads(self.pi("plugins", "--json"))
        files = (path for path in self.venv.rglob("*") if "__pycache__" not in path.parts)
        return {
            "plugins": [{name: each[name] for name in each if name not in _MEASURED} for each in plugins],
            "distributions": run(UV, "pip", "freeze", "--quiet", "--python", str(self.venv)),
            "files": sorted(str(path.relative_to(self.venv)) for path in files),
        }


def check_strangers(folder: Path, constraints: Path) -> str:
    """Write, build, install, use and remove a plugin of each kind, and return a line that reports what was done."""
    small = SmallPi(folder, constraints)
    before = small.state()
    names = list(STRANGERS.values())
    for kind, name in STRANGERS.items():
        small.pi("plugin", "new", name, "--kind", kind, "--dir", str(folder / name))
    with ThreadPoolExecutor(max_workers=2) as pool:
        builds = [[UV, "build", "--quiet", "--wheel", "--out-dir", folder / "dist", folder / name] for name in names]
        list(pool.map(lambda build: run(*build), builds))
    small.install(*sorted((folder / "dist").glob("*.whl")))

    listed = {each["name"]: each for each in json.loads(small.pi("plugins", "--json"))}
    for name in names:
        expect(f"pi plugins has {name}", listed.get(name, {}).get("loads"), listed)
    use_strangers(small)
    small.uninstall(*(f"pluggypi-{name}" for name in names))
    # What the provider's plugin needs came with it and stays, as with every installer.
    small.uninstall(*sorted(set(_installed(small.state())) - set(_installed(before))))
    after = small.state()
    for what, value in before.items():
        expect(f"{what} are as before", after[what] == value, after[what])
    return f"{len(names)} plugins of strangers were installed, used and removed"


def use_strangers(small: SmallPi) -> None:
    """Let each plugin do what it is for."""
    (small.work / "notes.txt").write_text("three small words")
    (small.work / "call.json").write_text(
        '{"toolCallId": "1", "toolName": "bash", "input": {"command": "rm -rf build"}}'
    )
    fired = small.pi("hooks", "fire", "tool_call", "--event", "call.json", "--plugin", "keep-trees")
    expect("the policy refuses", "block=true" in fired, fired)
    counted = small.python(__file__, "call", "word_count", "notes.txt")
    expect("the tool counts", counted == "3 words", counted)
    models = small.pi("--list-models", "acme")
    expect("the provider has its model", re.search(r"^acme +small ", models, re.MULTILINE), models)
    loaded = {each["name"]: each for each in json.loads(small.pi("plugins", "--json"))}
    for name, kind in (("answers", "commands"), ("acme-login", "logins"), ("low-priority", "services")):
        expect(f"{name} registers its {kind}", loaded[name]["registers"].get(kind), loaded[name])
    expect("the extension is activated", loaded["call-count"]["hooks"], loaded["call-count"])
    prompt = ("--model", "offline/rules", "List the files here")
    printed = small.pi("--mode", "markdown", *prompt)
    expect("the front end prints", printed.startswith("## List the files here") and "notes.txt" in printed, printed)
    small.pi("config", "set", "sessionStore", "shelf")
    first, again = (json.loads(small.pi("--mode", "json", *more, *prompt).partition("\n")[0]) for more in ((), ("-c",)))
    expect("the store gives the session back", first["id"] == again["id"], [first, again])
    small.pi("--export", first["id"], "talk.txt")
    exported = (small.work / "talk.txt").read_text()
    expect("the exporter writes the conversation", "> List the files here\n" in exported, exported)
    small.pi("config", "unset", "sessionStore")


def _installed(state: dict[str, object]) -> list[str]:
    return [normal(re.split(r"==| @ ", line)[0]) for line in str(state["distributions"]).splitlines()]


def expect(what: str, holds: object, seen: object) -> None:
    """Fail where something does not hold."""
    if not holds:
        raise CheckFailed(f"{what}: no. Seen: {seen}")


def check_all(folder: Path) -> int:
    """Build and check all wheels, two at a time, and return how many failed."""
    from build_wheels import build_tree  # next to this file; not importable in a fresh environment

    wheels = sorted(build_tree(ROOT).glob("*.whl"))
    # The pins, so that this fails for our own reasons only; and the siblings by path, so that none of them can come
    # from a package registry that happens to serve the same name.
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
    siblings = [f"{normal(wheel.name.partition('-')[0])} @ {wheel.as_uri()}" for wheel in wheels]
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join([*pins, *siblings]) + "\n")

    free: SimpleQueue[Environment] = SimpleQueue()
    for number in range(2):
        free.put(Environment(folder / f"environment-{number}", constraints))

    def check_in_one(wheel: Path) -> str:
        environment = free.get()
        try:
            return check(wheel, environment)
        finally:
            free.put(environment)

    failures = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        checks = [("strangers", pool.submit(check_strangers, folder / "strangers", constraints))]
        checks += [(wheel.name, pool.submit(check_in_one, wheel)) for wheel in wheels]
        for name, checked in checks:
            try:
                print("ok  ", checked.result(), flush=True)
            except CheckFailed as failure:
                failures += 1
                print("FAIL", f"{name}: {failure}", flush=True)
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
        try:
            module = importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in PROGRAMS:
                continue
            raise
        if found.ispkg:
            yield from import_all(module)
        else:
            yield module


def imports_in(file: Path) -> Iterator[tuple[str, int]]:
    """Yield top-level name and line of every absolute import, also of those inside functions.

    What type checkers bring themselves and is imported for them alone is left out.
    """
    tree = ast.parse(file.read_bytes())
    branches = [
        each for each in ast.walk(tree) if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"
    ]
    for_checkers = {node for branch in branches for each in branch.body for node in ast.walk(each)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            name = node.module.partition(".")[0]
            if not (name in BROUGHT_BY_CHECKERS and node in for_checkers):
                yield name, node.lineno


def probe_imports(distribution: str) -> int:
    """Import every module and load every entry point of an installed distribution."""
    modules = [module for name in packages_of(distribution) for module in import_all(importlib.import_module(name))]
    entry_points = importlib.metadata.distribution(distribution).entry_points
    for entry_point in entry_points:
        entry_point.load()
    print(f"{len(modules)} modules, {len(entry_points)} entry points")
    return 0


def _is_module(file: Path, package: Path) -> bool:
    """Whether a file of a package can be imported; what is in a folder of data, such as an example, is for others."""
    between = [folder for folder in file.parents if folder.is_relative_to(package)]
    return all((folder / "__init__.py").is_file() for folder in between)


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
            if not _is_module(file, folder):
                continue
            for target, line in imports_in(file):
                if (
                    target in sys.stdlib_module_names
                    or target in PROGRAMS
                    or declared & set(map(normal, provided.get(target, ())))
                ):
                    continue
                place = f"{file.relative_to(folder.parent)}:{line}"
                problems.append(f"{place} imports {target!r}, which no declared dependency provides")
    print("\n".join(problems))
    return 1 if problems else 0


def probe_call(tool: str, path: str) -> int:
    """Let a model call an installed tool with a path, and print the result."""
    import asyncio

    from pi_core import create_agent_session
    from pi_hookspecs import Context, MessageBuilder, Model, ProviderInfo, ToolResultMessage, hookimpl

    model = Model(id="caller", name="Caller", api="caller", provider="caller", max_tokens=100)

    class Caller:
        api = "caller"

        async def stream(self, _model: Model, context: Context, _options: object) -> AsyncIterator[object]:
            builder = MessageBuilder(model)
            yield builder.start()
            if context.messages[-1].role == "user":
                start = builder.tool_call_start("call_1", tool)
                yield start
                yield builder.tool_call(start.content_index, json.dumps({"path": path}))
                yield builder.tool_call_end(start.content_index)
            yield builder.done()

        @hookimpl
        def register_providers(self) -> list[object]:
            return [self]

        @hookimpl
        def register_models(self) -> list[ProviderInfo]:
            return [ProviderInfo(id="caller", name="Caller", api="caller", keyless=True, models=(model,))]

    async def ask() -> None:
        async with create_agent_session(model=model, plugins={"caller": Caller()}, tools=[tool]) as session:
            await session.prompt("Call it.")
            print(*(each.text for each in session.messages if isinstance(each, ToolResultMessage)))

    asyncio.run(ask())
    return 0


def main(arguments: list[str]) -> int:
    """Run one of the two parts and return the exit code."""
    match arguments:
        case ["import", distribution]:
            return probe_imports(distribution)
        case ["import", "declared", distribution]:
            return probe_imports(distribution) or probe_declared(distribution)
        case ["declared", distribution]:
            return probe_declared(distribution)
        case ["call", tool, path]:
            return probe_call(tool, path)
    with tempfile.TemporaryDirectory(prefix="pi-wheels-") as folder:
        try:
            return 1 if check_all(Path(folder)) else 0
        except CheckFailed as failure:
            print(failure)
            return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
