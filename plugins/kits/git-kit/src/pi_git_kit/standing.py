"""What stands in a worktree, as files: the tree that git can hold, and everything that no tree can.

A tree has no ignored files, no repositories within the work tree, no empty folders, no permissions but the executable
bit, and no line endings that git converts. An index can moreover be told to overlook a file. Whoever removes a
worktree, or takes the work from it, needs all of this, whatever the index says: the state is therefore compared with
the index as git wrote it when the worktree was made, and the folder is walked.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

from pi_git_kit.objects import read_objects
from pi_git_kit.snapshots import copy_index, flagged_files, is_sparse, unflag
from pi_git_kit.starting import GitFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pi_git_kit.git import Git

__all__ = [
    "CACHES",
    "FIRST_INDEX",
    "PI_FOLDERS",
    "Extra",
    "Standing",
    "describe_extras",
    "files_that_stand",
    "git_folder_of",
    "links_of_tree",
    "written_by_git",
]

CACHES = ("node_modules", ".venv", "__pycache__", "target")
"""Names of folders that tools write again; a folder with a ``CACHEDIR.TAG`` is one, too."""

FIRST_INDEX = "pi-index"
"""The copy of a worktree's index as git wrote it when the worktree was made, in its git folder."""

PI_FOLDERS = "pi-folders"
"""Names the folders, each ended by a NUL, that pi made in a worktree although they have no files; in its git folder."""

_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"
_MOST_ROWS = 20
"""Lines about extras of one kind; more are counted by folder."""

_BUILT_BY = ("Cargo.toml", "pom.xml", "build.sbt")
"""Files beside which a folder ``target`` is a cache although git does not ignore it; elsewhere it can be source."""
_LINK = "160000"

_Names: TypeAlias = "tuple[Collection[str], frozenset[str], frozenset[str]]"
Kind: TypeAlias = Literal["file", "folder", "repository", "linked", "own", "mode", "bytes", "other"]


@frozen
class Extra:
    """Something in a worktree that its tree does not contain.

    Attributes:
        path: Its path, relative to the top of the worktree.
        kind: ``file``: a file or link that git ignores, or cannot add. ``folder``: an empty folder. ``repository``: a
            repository of its own, or its git folder alone if the tree has the files. ``linked``: a folder that another
            git folder elsewhere describes, such as a further worktree. ``own``: what stands in place of the
            worktree's link to its repository. ``mode``: permissions that git does not store. ``bytes``: a file that
            differs only in what git converts, such as line endings. ``other``: neither file, link nor folder, or
            unreadable.
        files: How many files it has.
    """

    path: str
    kind: Kind
    files: int = 1


@frozen
class Standing:
    """The state of a worktree.

    Attributes:
        tree: The tree of its files, with the commits of nested repositories.
        plain: The same tree, but with the nested repositories of the base.
        extras: What the tree does not contain, sorted by path.
        caches: Folders that were left out, because tools write them again.
        paths: The files and links of the tree.
    """

    tree: str
    plain: str
    extras: list[Extra] = field(factory=list)
    caches: list[str] = field(factory=list)
    paths: frozenset[str] = frozenset()


def files_that_stand(
    git: Git,
    base: str,
    *,
    first: Path | None = None,
    caches: Collection[str] = CACHES,
    apart: Collection[str] = (),
) -> Standing:
    """Return what stands in a worktree.

    Args:
        git: git for the worktree; with an index for a folder that has no git folder of its own.
        base: The commit or tree with which the worktree began.
        first: Its index as it was then; None for ``FIRST_INDEX`` in its git folder. Without such a file the index is
            used as it is now, and permissions and line endings are not compared.
        caches: Patterns of names of folders that tools write again, which are left out unless the tree has them.
        apart: Folders that are left out, because they are compared on their own.

    Raises:
        GitFailed: git cannot be run, or there is no such base.
    """
    first = first if first is not None else git.git_dir / FIRST_INDEX
    with _temporary(git, first, base) as index:
        return _Look(
            git, index, base, first, (caches, frozenset(apart), _read_names(git.git_dir / PI_FOLDERS))
        ).result()


@contextmanager
def _temporary(git: Git, first: Path, base: str) -> Iterator[Git]:
    """Yield git with a temporary index, which is that of the beginning, or at least one that can be read."""
    file = git.git_dir / f"pi-index-{os.getpid()}-{token_hex(4)}"
    index = git.with_(index=file)
    try:
        for source in (first, git.index or git.git_dir / "index"):
            with suppress(OSError):
                copy_index(source, file)
                if not index.attempt("ls-files", "-z", "--", ".git").code:
                    break
        else:
            file.unlink(missing_ok=True)
            index("read-tree", base)
        yield index
    finally:
        file.unlink(missing_ok=True)
        file.with_name(f"{file.name}.lock").unlink(missing_ok=True)


class _Look:
    """One look at a worktree."""

    def __init__(self, git: Git, index: Git, base: str, first: Path, names: _Names) -> None:
        self._git = git
        self._index = index
        self._top = os.fspath(git.top)
        self._caches, self._apart, self._empty = names
        self._emptied: Collection[str] = ()
        self._extras: list[Extra] = []
        self._left: list[str] = []
        self._base_links = links_of_tree(git, base)
        self._mode = stat.S_IMODE(first.stat().st_mode) & 0o666 if first.is_file() else None

    def result(self) -> Standing:
        git = self._index
        self._obey_flags()
        before = _entries(git)
        known = _folders_of(before)
        changed = [name for name in git.names("diff-files", "-z", "--name-only") if not self._is_apart(name)]
        others = git.names("ls-files", "-z", "--others", "--exclude-standard")
        tagged = {name.removesuffix("/CACHEDIR.TAG") for name in others if name.endswith("/CACHEDIR.TAG")}
        tagged = {folder for folder in tagged if self._has_tag(folder)}
        others = [each for each in others if not self._is_apart(each) and not self._in_cache(each, known, tagged)]
        self._add([*changed, *(name for name in others if not name.endswith("/")), *self._added_by_force(before)])
        for name in others:
            if name.endswith("/"):  # a repository; one without a commit has no state to record
                git.attempt("update-index", "--add", "--replace", "--", name.rstrip("/"))
        after, tree = _entries(git), git("write-tree")
        paths = frozenset(name for name, (mode, _) in after.items() if mode != _LINK)
        folders = _folders_of(after)
        self._emptied = known  # the folders of deleted files: git has none without files
        self._walk("", paths, folders)
        self._compare_bytes([name for name in changed if name in paths and before.get(name) == after[name]], after)
        extras = sorted(self._extras, key=lambda each: each.path)
        return Standing(tree, self._without_links(after, tree), extras, sorted(self._left), paths)

    # The tree

    def _obey_flags(self) -> None:
        """Let git see the files that an index says to overlook, unless a sparse checkout leaves them out."""
        unflag(self._index)
        with suppress(GitFailed):  # the agent can have broken its own index
            _, skipped = flagged_files(self._git)
            absent = [name for name in skipped if not os.path.lexists(os.path.join(self._top, name))]
            if absent and is_sparse(self._git):
                known = set(self._index.names("ls-files", "-z"))
                data = b"".join(os.fsencode(name) + b"\0" for name in absent if name in known)
                self._index.read("update-index", "-z", "--skip-worktree", "--stdin", data=data)

    def _added_by_force(self, before: Collection[str]) -> list[str]:
        """Return ignored files that the agent has nevertheless added to its own index."""
        if self._git.index is not None:
            return []
        output = self._git.attempt("ls-files", "-z")
        names = os.fsdecode(output.data).split("\0") if not output.code else []
        new = (name for name in names if name and name not in before and not self._is_apart(name))
        return [name for name in new if _is_content(os.path.join(self._top, name))]

    def _add(self, names: Sequence[str]) -> None:
        """Bring paths of the index up to date; one that git cannot add stays as it was."""
        wanted = list(dict.fromkeys(names))
        data = b"".join(os.fsencode(name) + b"\0" for name in wanted)
        if not wanted:
            return
        words = ("-z", "--add", "--remove", "--replace", "--stdin")
        output = self._index.attempt("update-index", *words, data=data)
        if output.code and len(wanted) > 1:
            middle = len(wanted) // 2
            self._add(wanted[:middle])
            self._add(wanted[middle:])

    def _without_links(self, after: dict[str, tuple[str, str]], tree: str) -> str:
        links = {name: blob for name, (mode, blob) in after.items() if mode == _LINK}
        if links == self._base_links:
            return tree
        git = self._index
        gone = [name for name in links if name not in self._base_links]
        if gone:
            data = b"".join(os.fsencode(name) + b"\0" for name in gone)
            git.read("update-index", "-z", "--force-remove", "--stdin", data=data)
        for name, blob in self._base_links.items():
            if name not in after or name in links:  # unless something else has its place
                git.attempt("update-index", "--add", "--cacheinfo", f"{_LINK},{blob},{name}")
        return git("write-tree")

    # The folder

    def _walk(self, folder: str, paths: frozenset[str], folders: frozenset[str]) -> None:
        try:
            with os.scandir(os.path.join(self._top, folder)) as found:
                entries = sorted(found, key=lambda each: each.name)
        except OSError:
            self._extras.append(Extra(folder, "other"))
            return
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name == ".git":
                self._look_at_git(entry, path)
            elif entry.is_dir(follow_symlinks=False):
                self._look_at_folder(entry, path, paths, folders)
            elif path in paths:
                self._compare_mode(entry, path)
            else:
                is_content = entry.is_file(follow_symlinks=False) or entry.is_symlink()
                self._extras.append(Extra(path, "file" if is_content else "other"))

    def _look_at_git(self, entry: os.DirEntry[str], path: str) -> None:
        """Note a git folder beside files of the tree; that of the worktree itself is expected."""
        if path != ".git":
            self._extras.append(Extra(path, self._kind_of_repository(os.path.dirname(entry.path)), 0))
        elif entry.is_dir(follow_symlinks=False) or self._git.index is not None:
            self._extras.append(Extra(path, "own", 0))

    def _look_at_folder(
        self, entry: os.DirEntry[str], path: str, paths: frozenset[str], folders: frozenset[str]
    ) -> None:
        if path in self._apart:
            self._compare_mode(entry, path)
            return
        if path not in folders:
            if os.path.lexists(os.path.join(entry.path, ".git")):
                self._extras.append(Extra(path, self._kind_of_repository(entry.path), _count(entry.path)))
                return
            if self._is_cache_name(entry.name) or self._has_tag(path):
                self._left.append(path)
                return
        self._compare_mode(entry, path)
        with suppress(OSError):
            if not os.listdir(entry.path):
                if path not in self._base_links and path not in self._empty and path not in self._emptied:
                    self._extras.append(Extra(path, "folder", 0))
                return
        self._walk(path, paths, folders)

    def _kind_of_repository(self, folder: str) -> Kind:
        """Return ``linked`` for a repository whose git folder is elsewhere, but in that of the worktree."""
        link = Path(folder, ".git")
        if link.is_dir() and not link.is_symlink():
            return "repository"
        found = git_folder_of(link)
        return "repository" if found is not None and found.is_relative_to(self._git.git_dir.resolve()) else "linked"

    def _compare_mode(self, entry: os.DirEntry[str], path: str) -> None:
        if self._mode is None:
            return
        found = entry.stat(follow_symlinks=False).st_mode
        runs = self._mode | (self._mode & 0o444) >> 2
        is_usual = found & 0o777 == runs or (found & 0o777 == self._mode and stat.S_ISREG(found))
        if not is_usual and not stat.S_ISLNK(found):
            self._extras.append(Extra(path, "mode", 0))

    def _compare_bytes(self, names: Sequence[str], after: dict[str, tuple[str, str]]) -> None:
        """Note the files that are other bytes than git would write, although git considers them unchanged."""
        if self._mode is None:
            return
        for name in names:
            mode, blob = after[name]
            if mode == "120000":
                continue
            with suppress(OSError):
                if Path(self._top, name).read_bytes() != written_by_git(self._index, name, blob):
                    self._extras.append(Extra(name, "bytes"))

    # Names

    def _is_apart(self, name: str) -> bool:
        return bool(self._apart) and any(name.startswith(f"{each}/") or name == each for each in self._apart)

    def _is_cache_name(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._caches)

    def _in_cache(self, name: str, known: Collection[str], tagged: Collection[str]) -> bool:
        """Whether a file that git does not ignore is in a cache, of which the tree has nothing."""
        folder = name.rstrip("/") if name.endswith("/") else name.rpartition("/")[0]
        while folder:
            if folder in known:
                return False
            above, _, last = folder.rpartition("/")
            is_sure = last != "target" or any(Path(self._top, above, each).is_file() for each in _BUILT_BY)
            if folder in tagged or (is_sure and self._is_cache_name(last) and not name.endswith("/")):
                return True
            folder = above
        return False

    def _has_tag(self, folder: str) -> bool:
        with suppress(OSError), open(os.path.join(self._top, folder, "CACHEDIR.TAG"), "rb") as file:
            return file.read(len(_TAG)) == _TAG
        return False


def describe_extras(extras: Iterable[tuple[str, Extra]]) -> list[str]:
    """Return lines in the format of ``git diff --stat`` about what no tree holds.

    Args:
        extras: The path to show for each, and its facts.
    """
    rows: dict[str, list[str]] = {}
    for path, extra in extras:
        name, words = _row(path, extra)
        rows.setdefault(words, []).append(name)
    lines = []
    for words, names in rows.items():
        groups: dict[str, list[str]] = {}
        for name in names:
            head, slash, _ = name.partition("/")
            groups.setdefault(head + slash if len(names) > _MOST_ROWS else name, []).append(name)
        lines += [
            f" {group} | {words} ({len(inside)})" if len(inside) > 1 else f" {inside[0]} | {words}"
            for group, inside in groups.items()
        ]
    return lines


def _row(path: str, extra: Extra) -> tuple[str, str]:
    """Return the name and the words of a line."""
    files = f"{extra.files} file{'' if extra.files == 1 else 's'}"
    words = {
        "file": "ignored by git",
        "folder": "an empty folder",
        "repository": f"a repository of its own, {files}",
        "linked": f"a worktree or a repository with its git folder elsewhere, {files}",
        "own": "stands in place of the worktree's link to its repository",
        "mode": "permissions",
        "bytes": "line endings, or what else git converts",
        "other": "neither file nor folder, or cannot be read",
    }[extra.kind]
    if extra.kind == "repository" and path.endswith(".git"):
        words = "the git folder of a repository of its own"
    return (f"{path}/" if extra.kind in ("repository", "linked", "folder") else path), words


def written_by_git(git: Git, name: str, blob: str) -> bytes:
    """Return the bytes that git writes for a file of a tree, its line endings and filters included.

    Raises:
        GitFailed: There is no such object.
    """
    output = git.attempt("cat-file", "--filters", f"--path={name}", blob)
    return output.data if not output.code else read_objects(git, [blob])[blob]


def git_folder_of(link: Path) -> Path | None:
    """Return the git folder that a file ``.git`` names; None if it names none."""
    try:
        text = link.read_text(encoding="utf-8", errors="surrogateescape")
        return (link.parent / text.removeprefix("gitdir:").strip()).resolve() if text.startswith("gitdir:") else None
    except OSError:
        return None


def _read_names(file: Path) -> frozenset[str]:
    try:
        return frozenset(os.fsdecode(file.read_bytes()).split("\0"))
    except OSError:
        return frozenset()


def _entries(git: Git) -> dict[str, tuple[str, str]]:
    """Return mode and object of each path of the index."""
    found = {}
    for entry in git.names("ls-files", "--stage", "-z"):
        facts, name = entry.split("\t", 1)
        found[name] = facts[:6], facts[7:-2]
    return found


def links_of_tree(git: Git, base: str) -> dict[str, str]:
    """Return the commits of the nested repositories of a tree, by their folders.

    Raises:
        GitFailed: There is no such tree.
    """
    found = {}
    for entry in git.names("ls-tree", "-r", "-z", "--full-tree", base):
        if entry.startswith(_LINK):
            facts, name = entry.split("\t", 1)
            found[name] = facts.rpartition(" ")[2]
    return found


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _is_content(path: str) -> bool:
    return os.path.islink(path) or os.path.isfile(path)


def _count(folder: str) -> int:
    """Return how many files a repository has, without its git folder."""
    count = 0
    for here, folders, names in os.walk(folder):
        count += len(names)
        if here == folder:
            count -= ".git" in names
            folders[:] = [each for each in folders if each != ".git"]
    return count
