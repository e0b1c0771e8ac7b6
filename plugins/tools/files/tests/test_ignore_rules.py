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
        [find_ripgrep(), "--files", "--hidden", "--no-require-git", "--no-config", "--sort=path", "."],
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
    ],
)
def test_rules(tmp_path, rules, ignored):
    make(tmp_path, {"a.log": "", "sub/b.log": "", "sub/c": "", "sub/deep/d": "", "#x": ""})
    everything = set(walked(tmp_path))
    (tmp_path / ".gitignore").write_bytes(rules.encode())

    left = set(walked(tmp_path))

    gone = {path.rstrip("/") for path in everything - left}
    assert gone == {p.rstrip("/") for p in everything for one in ignored if f"{p}/".startswith(f"{one}/")}
    assert sorted(files(tmp_path)) == as_ripgrep(tmp_path)


def test_rules_from_above_and_below_and_their_order(tmp_path):
    make(
        tmp_path,
        {
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

    assert files(tmp_path / "repo") == [".git/info/exclude", "a.log"]


def test_the_users_own_rules(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make(tmp_path, {"config/git/ignore": "*.swp\n", "work/a.swp": "", "work/b": ""})

    assert walked(tmp_path / "work") == ["b"]


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
