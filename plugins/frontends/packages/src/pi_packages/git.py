"""Fetches git repositories: a single commit, without hooks, submodules and history."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_git_kit import GitFailed, fetch_commit
from pi_hookspecs import UserError
from pi_packages.trees import check_links, draft_of, folder_for, tree_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_packages.change import Context
    from pi_packages.sources import Source

__all__ = ["fetch_git"]


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
            raise UserError(f"{source.text} has not been fetched yet, and --offline forbids it")
        folder, revision = _fetch(source, context, revision)
    tree = tree_hash(folder)
    if known is not None and known.get("tree") not in (None, tree):
        raise UserError(f"{source.text} at {revision[:12]} has different files than those that were locked")
    return folder / source.subdirectory, {"revision": revision, "tree": tree}


def _fetch(source: Source, context: Context, revision: str) -> tuple[Path, str]:
    context.say(f"Fetching {source.text}")
    work = context.agent_dir / "packages" / "work"
    work.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="git-", dir=work) as name:
        clone = Path(name)
        wanted = revision or source.reference or "HEAD"
        try:
            found = fetch_commit(clone, source.location, wanted, context.environ)
        except GitFailed as error:
            raise UserError(f"{source.text} cannot be fetched: {error}") from error
        shutil.rmtree(clone / ".git")
        check_links(clone, source.text)
        if source.subdirectory and not (clone / source.subdirectory).is_dir():
            raise UserError(f"{source.text}: there is no folder {source.subdirectory!r} in it")
        folder = folder_for(context.agent_dir, source.identity, found)
        with draft_of(folder) as draft:
            shutil.copytree(clone, draft, symlinks=True, dirs_exist_ok=True)
    return folder, found
