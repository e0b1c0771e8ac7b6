"""Make a release: ``uv run python tools/release.py 1.4.0``.

The steps, in order: ``versions`` (of all distributions, the bounds with which they require each other, and the
project's addresses in their metadata),
``changelog`` (the fragments of ``changelog.d`` become a section, or join that of this version), ``contract`` (written
anew; what breaks plugins needs a new major version), ``build`` (wheels and sdists into ``dist``), ``check``
(``tools/check_wheels.py``), ``commit`` and ``tag``. Nothing is published: CI does that from the tag. Each step looks
first whether it is done, so that a release that was interrupted goes on when the command is repeated. ``--dry-run``
prints what would be done and changes nothing, ``--until STEP`` ends after a step.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.version import InvalidVersion, Version
from project_addresses import addresses, with_urls

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("versions", "changelog", "contract", "build", "check", "commit", "tag")

IN_CODE = {
    "plugins/frontends/cli/src/pi_cli/__init__.py": "__version__",
    "plugins/kits/provider-kit/src/pi_provider_kit/http_client.py": "_VERSION",
}
"""Versions outside metadata: reading those takes longer than printing them."""

_OWN = re.compile(r'(?m)^version = "[^"]*"$')
_NEED = re.compile(r'"(pluggypi-[a-z0-9-]+(?:\[[a-z0-9,_-]+\])?)>=[0-9.]+,<[0-9]+"')


class Refused(Exception):
    """The release cannot be made; the message says why, and what to do."""


def main() -> int:
    """Run the steps; return the exit code."""
    given = _arguments()
    try:
        Release(ROOT, _version(given.version), dry=given.dry_run).run(given.until)
    except (Refused, OSError) as problem:
        print(f"Not released: {problem}", file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--until", choices=STEPS, default=STEPS[-1])
    return parser.parse_args()


def _version(text: str) -> Version:
    try:
        version = Version(text)
    except InvalidVersion:
        raise Refused(f"{text!r} is not a version; write it as 1.4.0") from None
    if version.is_prerelease or version.local or len(version.release) != 3 or str(version) != text:  # noqa: PLR2004
        raise Refused(f"{text!r} must have three numbers and nothing else, as 1.4.0")
    return version


class Release:
    """One release of the workspace in a folder.

    Args:
        root: The folder of the repository.
        version: The new version.
        dry: Change nothing.
    """

    def __init__(self, root: Path, version: Version, *, dry: bool) -> None:
        self.root = root
        self.version = version
        self.dry = dry

    def run(self, until: str) -> None:
        """Run the steps up to one.

        Raises:
            Refused: A step cannot be done; those before it are, and are not done again.
        """
        self._check_order()
        for step in STEPS[: STEPS.index(until) + 1]:
            outcome = getattr(self, f"_{step}")()
            print(f"{step:9} {outcome}", flush=True)

    def _check_order(self) -> None:
        """Refuse a version that is older than the present one, and a tree with other changes than a release's."""
        present = Version(tomllib.loads(self._read("pyproject.toml"))["project"]["version"])
        if self.version < present:
            raise Refused(f"{self.version} is older than the present version {present}")
        tagged = self._git("tag", "--list", f"v{self.version}")
        if tagged and self._git("rev-parse", f"v{self.version}^{{commit}}") != self._git("rev-parse", "HEAD"):
            raise Refused(f"the tag v{self.version} names another commit. Choose the next version")
        changed = [line[3:] for line in self._git("status", "--porcelain").splitlines()]
        if changed and present != self.version:
            raise Refused(f"the work tree has changes: {', '.join(changed[:5])}. Commit them, or put them aside")

    # The steps; each returns what it did

    def _versions(self) -> str:
        changed = [self._write(file, text) for file, text in self._with_versions()]
        files = sum(changed)
        return f"{self.version} in {files} files" if files else f"{self.version} already"

    def _with_versions(self) -> list[tuple[str, str]]:
        found = []
        for file in self._projects():
            text = _OWN.sub(f'version = "{self.version}"', self._read(file), count=1)
            floor = str(self.version) if file == "pyproject.toml" else f"{self.version.major}.{self.version.minor}"
            bound = f">={floor},<{self.version.major + 1}"
            if not file.startswith("examples/"):  # whose bounds are those of a stranger's plugin
                text = _NEED.sub(rf'"\g<1>{bound}"', text)
            found.append((file, with_urls(text, addresses(self.root))))
        for file, name in IN_CODE.items():
            found.append((file, re.sub(rf'(?m)^{name} = "[^"]*"', f'{name} = "{self.version}"', self._read(file))))
        return found

    def _projects(self) -> list[str]:
        tool = tomllib.loads(self._read("pyproject.toml"))["tool"]
        globs, examples = tool["uv"]["workspace"]["members"], tool["pi"]["published-examples"]
        files = sorted(file for glob in globs for file in self.root.glob(f"{glob}/pyproject.toml"))
        members = [file.relative_to(self.root).as_posix() for file in files]
        return ["pyproject.toml", *members, *(f"{each}/pyproject.toml" for each in examples)]

    def _changelog(self) -> str:
        fragments = [each for each in (self.root / "changelog.d").glob("*.md") if each.name[0] != "."]
        if not fragments:
            return "no fragments"
        has_section = re.search(rf"(?m)^## {re.escape(str(self.version))} ", self._read("CHANGELOG.md"))
        if not self.dry and has_section:
            draft = self._python("-m", "towncrier", "build", "--draft", "--version", str(self.version))
            self._write("CHANGELOG.md", fold(self._read("CHANGELOG.md"), draft.strip()))
            for each in fragments:
                each.unlink()
        elif not self.dry:
            self._python("-m", "towncrier", "build", "--yes", "--version", str(self.version))
        return f"{len(fragments)} fragments {'more in the section' if has_section else 'in a section'}"

    def _contract(self) -> str:
        reference = self.root / "docs" / "reference"
        released = reference / f"contract-{self.version.major}.{self.version.minor}.json"
        if not self.dry:
            self._python("tools/build_contract.py", "--version", str(self.version))
        broken = self._python("tools/contract_diff.py", fails=True)
        earlier = Version(json.loads((reference / "contract-1.0.json").read_text(encoding="utf-8"))["version"])
        if broken and self.version.major == earlier.major:
            raise Refused(f"it breaks plugins, which takes version {earlier.major + 1}.0.0:\n{broken}")
        if not self.dry and (not released.exists() or self._is_open()):
            released.write_text((reference / "contract.json").read_text(encoding="utf-8"), encoding="utf-8")
            self._python("tools/build_contract.py", "--version", str(self.version))
        return "breaks plugins, and the version is a new major one" if broken else "breaks no plugin"

    def _is_open(self) -> bool:
        """Whether the contract of this minor version can still grow: its first release has no tag yet."""
        return self.version.micro == 0 and not self._git("tag", "--list", f"v{self.version}")

    def _build(self) -> str:
        expected = len(self._projects())
        wheels = [*(self.root / "dist").glob(f"pluggypi*-{self.version}-*.whl")]
        if len(wheels) == expected:
            return f"{expected} wheels already"
        if not self.dry:
            built = Path(self._python("tools/build_wheels.py").strip())
            (self.root / "dist").mkdir(exist_ok=True)
            for file in (*built.glob("*.whl"), *(built / "sdists").iterdir()):
                shutil.copy(file, self.root / "dist")
        return f"{expected} wheels"

    def _check(self) -> str:
        if not self.dry:
            self._python("tools/check_wheels.py")
        return "each wheel alone in a fresh environment"

    def _commit(self) -> str:
        if not self.dry:
            if not self._git("status", "--porcelain"):
                return "nothing to commit"
            self._git("add", "--all")
            self._git("commit", "--quiet", "--message", f"Release {self.version}")
        return f"Release {self.version}"

    def _tag(self) -> str:
        tag = f"v{self.version}"
        if self._git("tag", "--list", tag):
            return f"{tag} already"
        if not self.dry:
            self._git("tag", "--annotate", "--message", f"pi {self.version}", tag)
        return f"{tag}; push it to publish"

    # Files and programs

    def _read(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8")

    def _write(self, file: str, text: str) -> bool:
        """Write a file that changes; return whether it does."""
        if text == self._read(file):
            return False
        if not self.dry:
            (self.root / file).write_text(text, encoding="utf-8")
        return True

    def _git(self, *arguments: str) -> str:
        return self._command("git", *arguments).rstrip("\n")

    def _python(self, *arguments: str, fails: bool = False) -> str:
        return self._command(sys.executable, *arguments, fails=fails)

    def _command(self, *command: str, fails: bool = False) -> str:
        """Run a program in the repository and return its output; of one that may fail, only where it does."""
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if fails:
            return done.stdout + done.stderr if done.returncode else ""
        if done.returncode:
            raise Refused(f"{' '.join(command)} failed with exit code {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout


def fold(changelog: str, draft: str) -> str:
    """Return a changelog whose section of a version has the rows of a draft behind its own, and the draft's date.

    Args:
        changelog: The file.
        draft: A section of the same version, as ``towncrier build --draft`` prints it.
    """
    title = draft.partition("\n")[0]
    version = title.split()[1]
    before, mark, rest = changelog.partition(f"\n## {version} ")
    section, later_mark, later = rest.partition("\n## ")
    rows: dict[str, list[str]] = {}
    for text in (section, draft):
        for part in text.split("\n### ")[1:]:
            kind, _, body = part.partition("\n")
            rows.setdefault(kind, []).append(body.strip("\n"))
    kinds = ["\n".join([f"### {kind}\n", *rows[kind]]) for kind in sorted(rows)]  # Added, Changed, Fixed, Removed
    whole = "\n\n".join([title, *kinds])
    return f"{before}{mark[:1]}{whole}\n" + (f"\n{later_mark}{later}" if later_mark else "")


if __name__ == "__main__":
    sys.exit(main())
