"""Runs git so that nothing of a repository is executed: the only module of pi that starts git.

Everything public is importable from here, and loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # for type checkers; a test checks that ``_HOMES`` agrees with these imports
    from pi_git_kit.fetching import *
    from pi_git_kit.git import *
    from pi_git_kit.merging import *
    from pi_git_kit.objects import *
    from pi_git_kit.parts import *
    from pi_git_kit.repository import *
    from pi_git_kit.sessions import *
    from pi_git_kit.snapshots import *
    from pi_git_kit.standing import *
    from pi_git_kit.starting import *
    from pi_git_kit.worktrees import *

_HOMES = {
    "fetching": "clone_shared create_repository fetch_commit",
    "git": "Git",
    "merging": "Change apply_patch diff_stat merge_trees patch_between tree_changes",
    "objects": "read_objects resolve",
    "repository": "excludes_file file_names files_below repository_of",
    "sessions": "ask_plugins",
    "starting": "ForeignOwner GitFailed GitMissing Output Prepare",
    "parts": "Part add_parts forget_parts parts_of",
    "snapshots": "commit_of_files copy_index flagged_files is_sparse read_tree snapshot stage_all tree_of_files unflag",
    "standing": "CACHES FIRST_INDEX PI_FOLDERS Extra Standing describe_extras files_that_stand git_folder_of"
    " links_of_tree written_by_git",
    "worktrees": "Worktree add_worktree folder_in list_worktrees prune_worktrees remove_worktree worktree_at"
    " worktree_lock",
}

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
