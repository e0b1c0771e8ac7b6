"""What ignore files exclude: as ripgrep has it, which is asked here."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_tools.searching.ripgrep import find_ripgrep
from pi_tools.searching.walk import find


def walked(root, pattern="*"):
    return find(pattern, str(root), 10**6, lambda: False)


def files(root):
    return [path for path in walked(root) if not path.endswith("/")]


def as_ripgrep(root):
    done = subprocess.run(
        [find_ripgrep(), "--files", "--hidden", "-g", "!.git", "--no-config", "--sort=path", "."],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sorted(line.removeprefix("./") for line in done.stdout.splitlines())


def make(root, tree):
    for name, content in tree.items():
        path = Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_text(content)


@pytest.mark.parametrize(
    ("rules", "ignored"),
    [
        ("*.log", ["a.log", "sub/b.log"]),
        ("/a.log", ["a.log"]),
        ("sub/", ["sub"]),
        ("a.log/", []),
        ("sub/b.log", ["sub/b.log"]),
        ("sub/*", ["sub/b.log", "sub/c", "sub/deep"]),
        ("**/deep", ["sub/deep"]),
        ("sub/**", ["sub/b.log", "sub/c", "sub/deep"]),
        ("s?b/[bc]*", ["sub/b.log", "sub/c"]),
        ("*.log\n!b.log", ["a.log"]),
        ("sub\n!sub/c", ["sub"]),
        ("# comment\n\n  \n\\#x", ["#x"]),
        ("*.l[ou]g", ["a.log", "sub/b.log"]),
        ("\ufeffa.log\r\n", ["a.log"]),
        ("[", []),
        ("caf?", []),
        ("caf??", ["caf\u00e9"]),
        ("caf\u00e9", ["caf\u00e9"]),
        ("c*\u00e9", ["caf\u00e9"]),
        ("{a.log,b.log}", []),
    ],
)
def test_rules(tmp_path, rules, ignored):
    make(
        tmp_path, {".git": None, "a.log": "", "sub/b.log": "", "sub/c": "", "sub/deep/d": "", "#x": "", "caf\u00e9": ""}
    )
    everything = set(walked(tmp_path))
    (tmp_path / ".gitignore").write_bytes(rules.encode())

    left = set(walked(tmp_path))

    gone = {path.rstrip("/") for path in everything - left}
    assert gone == {p.rstrip("/") for p in everything for one in ignored if f"{p}/".startswith(f"{one}/")}
    git("init", "-q", cwd=tmp_path)
    by_git = subprocess.run(
        ["git", "ls-files", "-oz", "--exclude-standard"], cwd=tmp_path, capture_output=True, check=True
    )
    assert sorted(files(tmp_path)) == sorted(by_git.stdout.decode().split("\0")[:-1])
    if "{" not in rules:  # ripgrep reads a choice there
        assert sorted(files(tmp_path)) == as_ripgrep(tmp_path)


def test_rules_from_above_and_below_and_their_order(tmp_path):
    make(
        tmp_path,
        {
            ".git": None,
            ".gitignore": "*.log\n/work/skip\n",
            "work/skip": "",
            "work/.gitignore": "!keep.log\n",
            "work/keep.log": "",
            "work/other.log": "",
            "work/sub/.ignore": "keep.log\n",
            "work/sub/keep.log": "",
        },
    )

    assert walked(tmp_path / "work") == [".gitignore", "keep.log", "sub/", "sub/.ignore"]


def test_the_rules_of_git_end_at_a_repository(tmp_path):
    make(
        tmp_path,
        {
            ".gitignore": "*.log\n",
            ".ignore": "*.tmp\n",
            "repo/.git/info/exclude": "mine\n",
            "repo/a.log": "",
            "repo/a.tmp": "",
            "repo/mine": "",
        },
    )

    assert files(tmp_path / "repo") == ["a.log"]


def test_the_users_own_rules(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make(tmp_path, {"config/git/ignore": "*.swp\n", "work/.git": None, "work/a.swp": "", "work/b": ""})

    assert walked(tmp_path / "work") == ["b"]


def test_outside_a_repository_git_has_no_rules(tmp_path):
    make(tmp_path, {".gitignore": "*.log\n", "a.log": "", ".ignore": "b\n", "b": "", ".rgignore": "c\n!b\n", "c": ""})

    assert walked(tmp_path) == [".gitignore", ".ignore", ".rgignore", "a.log", "b"] == as_ripgrep(tmp_path)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home without a configuration of git."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def git(*arguments, cwd):
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


WHERE = {
    "the user's configuration": ("config", "--global", "core.excludesFile", "~/mine"),
    "a name with a blank": ("config", "--global", "core.excludesFile", "~/my own"),
    "the repository's configuration": ("config", "core.excludesFile", "~/mine"),
    "an included configuration": ("config", "--global", "include.path", "~/more"),
    "the default place": None,
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("below", [".", "sub", "sub/deep"])
async def test_the_users_rules_are_those_that_git_uses(call, ctx, tmp_path, home, where, below):
    """Lines count from the repository on, wherever the search begins; in a linked worktree, from its top."""
    rules = "*.swp\n/build\n/sub/out\nsub/*/tmp\n**/gen/x\n!keep.swp\n"
    names = ("mine", "my own", ".config/git/ignore")
    make(home, {**dict.fromkeys(names, rules), "more": "[core]\nexcludesFile = ~/mine\n"})
    repository = tmp_path / "work"
    repository.mkdir()
    git("init", "-q", cwd=repository)
    if WHERE[where]:
        git(*WHERE[where], cwd=repository)
    for folder in (".", "sub", "sub/deep"):
        for name in ("a.swp", "keep.swp", "b", "build/c", "out/d", "tmp/e", "gen/x", "gen/y"):
            put(repository / folder / name, "text\n")
    ctx.cwd = repository / below

    visible = sorted(git("ls-files", "-o", "--exclude-standard", cwd=ctx.cwd).splitlines())

    found = await call("find", pattern="**")
    assert sorted(name for name in found.content[0].text.split("\n") if not name.endswith("/")) == visible
    searched = await call("grep", pattern="text")
    assert sorted(line.partition(":")[0] for line in searched.content[0].text.split("\n")) == visible


async def test_rules_of_a_linked_worktree_and_of_a_submodule_are_where_their_git_file_leads(call, ctx, tmp_path, home):
    main = tmp_path / "main"
    git("init", "-q", str(main), cwd=tmp_path)
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x", cwd=main)
    git("worktree", "add", "-q", "../linked", cwd=main)
    make(tmp_path, {"main/.git/info/exclude": "secret\n", "linked/secret": "text\n", "linked/open": "text\n"})
    ctx.cwd = tmp_path / "linked"

    assert (await call("find", pattern="*")).content[0].text == "open"
    assert (await call("grep", pattern="text")).content[0].text == "open:1: text"

    make(main, {".git/modules/part/info/exclude": "secret\n", "part/.git": "gitdir: ../.git/modules/part\n"})
    make(main, {"part/secret": "", "part/open": ""})
    assert walked(main / "part") == ["open"]


name = st.sampled_from(["a", "b", "ab", "a.c", "b.c", ".h"])
pattern = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "", "!", "/", "!/", "**/"]),
        st.lists(st.sampled_from(["a", "b", "*", "?", ".c", "/", "**/", "/**", "[ab]"]), min_size=1, max_size=4).map(
            "".join
        ),
        st.sampled_from(["", "", "/", " "]),
    ),
).filter(lambda text: "//" not in text and not text.endswith("**/"))  # not meaningful, and git reads them otherwise
rules = st.lists(pattern, max_size=4).map("\n".join)
path = st.lists(name, min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(path, max_size=8),
    st.lists(st.tuples(st.lists(name, max_size=2), st.sampled_from([".gitignore", ".ignore"]), rules), max_size=3),
)
def test_files_are_those_that_ripgrep_lists(paths, ignores):
    with TemporaryDirectory() as root:
        Path(root, ".git").mkdir()
        for parts in paths:
            put(Path(root, *parts), "")
        for folder, kind, text in ignores:
            put(Path(root, *folder, kind), text)

        assert sorted(files(root)) == as_ripgrep(root)


def put(target, text):
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    except OSError:
        pass  # a file is where a folder should be, or the other way round
