"""Fetches git repositories: a single commit, without hooks, submodules and history."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_core.host.installers import find_program, run_program
from pi_hookspecs import UserError
from pi_packages._trees import check_links, draft_of, folder_for, tree_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_packages._change import Context
    from pi_packages._sources import Source

__all__ = ["fetch_git"]

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "advice.detachedHead=false")
_COMMIT = r"[0-9a-f]{40}"


def fetch_git(source: Source, context: Context, known: Mapping[str, Any] | None) -> tuple[Path, dict[str, Any]]:
    """Return the folder with the files of a repository, and its revision and hash.

    Args:
        source: The repository.
        context: The environment.
        known: The installed or locked state, whose ``revision`` and ``tree`` are used again.

    Raises:
        UserError: It cannot be fetched, or its files differ from the locked ones.
    """
    revision = str((known or {}).get("revision") or "")
    folder = folder_for(context.agent_dir, source.identity, revision) if revision else None
    if folder is None or not folder.is_dir():
        if context.options.offline:
            raise UserError(f"{source.text} was never fetched, and nothing may be fetched now (--offline)")
        folder, revision = _fetch(source, context, revision)
    tree = tree_hash(folder)
    if known is not None and known.get("tree") not in (None, tree):
        raise UserError(f"{source.text} at {revision[:12]} has files other than those that were locked")
    return folder / source.subdirectory, {"revision": revision, "tree": tree}


def _fetch(source: Source, context: Context, revision: str) -> tuple[Path, str]:
    git = find_program("git", context.environ)
    if git is None:
        raise UserError(f"{source.text} needs git, which is not installed. Install git")
    context.say(f"Fetching {source.text}")
    work = context.agent_dir / "packages" / "work"
    work.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="git-", dir=work) as name:
        clone = Path(name)

        def run(*arguments: str) -> str:
            done = run_program([git, *_SAFE, *arguments], clone, {**context.environ, **_QUIET})
            if done.code != 0:
                raise UserError(f"{source.text} cannot be fetched: {done.last_lines()}")
            return done.output.strip()

        run("init", "--quiet", "--template=")
        wanted = revision or source.reference or "HEAD"
        try:
            run("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", source.location, wanted)
        except UserError:  # some servers do not serve a commit by its name
            if not re.fullmatch(_COMMIT, wanted):
                raise
            run("fetch", "--quiet", "--no-recurse-submodules", "--", source.location)
            run("update-ref", "FETCH_HEAD", wanted)
        found = run("rev-parse", "FETCH_HEAD^{commit}")
        run("checkout", "--quiet", "--force", found)
        shutil.rmtree(clone / ".git")
        check_links(clone, source.text)
        if source.subdirectory and not (clone / source.subdirectory).is_dir():
            raise UserError(f"{source.text}: there is no folder {source.subdirectory!r} in it")
        folder = folder_for(context.agent_dir, source.identity, found)
        with draft_of(folder) as draft:
            shutil.copytree(clone, draft, symlinks=True, dirs_exist_ok=True)
    return folder, found
