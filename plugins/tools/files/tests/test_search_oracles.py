"""``find`` and ``grep`` over random trees: what ripgrep and git themselves say of the same trees."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pi_tools.searching.ripgrep import find_ripgrep

NAMES = ["a", "b", "ab", "src", "A", "a.py", "b.ts", "B.py", "c.min.js", ".env", "x y.py", "[1]", "é.ts", "build"]
PIECES = ["a", "b", "*", "?", ".py", ".ts", "src", "/", "/", "**/", "/**", "[ab]", "*.py", "*.ts", "build", "{a,b}"]
LINES = ["needle", "hay", "needle end", "end", "", "a needle b", "caf\u00e9 needle"]


def git(*arguments, cwd):
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


class Tree:
    """A tree of files at random: repositories in it, linked worktrees, rules of every kind, contents of every kind."""

    def __init__(self, chance, root, template):
        self.chance, self.root, self.template = chance, root, template
        self.folders = [root]
        for _ in range(chance.randint(1, 7)):
            folder = chance.choice(self.folders) / chance.choice(NAMES)
            if not folder.exists():
                folder.mkdir()
                self.folders.append(folder)
        for _ in range(chance.randint(1, 14)):
            file = chance.choice(self.folders) / chance.choice(NAMES)
            if not file.exists():
                file.write_bytes(self.content())
        self.only_git = chance.random() < 0.5
        self.repositories = [folder for folder in self.folders if chance.random() < 0.2]
        if chance.random() < 0.8 and root not in self.repositories:
            self.repositories.append(root)
        for folder in self.repositories:
            self.begin(folder)
        for folder in self.folders:
            for kind in (".gitignore",) if self.only_git else (".gitignore", ".ignore", ".rgignore"):
                if chance.random() < 0.25:
                    (folder / kind).write_text(self.rules())

    def begin(self, folder):
        if self.chance.random() < 0.3:  # a linked worktree, whose rules are in the repository that it belongs to
            main = self.template.parent / f"main{self.chance.random()}"
            shutil.copytree(self.template, main)
            git("worktree", "add", "-q", "--no-checkout", "--detach", str(main / "linked"), cwd=main)
            (folder / ".git").write_bytes((main / "linked/.git").read_bytes())
            exclude = main / ".git/info/exclude"
        else:
            shutil.copytree(self.template / ".git", folder / ".git")
            exclude = folder / ".git/info/exclude"
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text(self.rules() if self.chance.random() < 0.4 else "")

    def content(self):
        text = "\n".join(self.chance.choices(LINES, k=self.chance.randint(0, 5))) + self.chance.choice(["", "\n"])
        form = self.chance.random()
        if form < 0.15:
            return text.replace("\n", "\r\n").encode()
        if form < 0.25:
            return text.encode("utf-16")
        if form < 0.3:
            return text.replace("hay", "h\0y").encode()
        return text.encode("latin-1") if form < 0.4 else text.encode()

    def rules(self):
        lines = [self.chance.choice(["", "", "!", "/"]) + self.pattern() for _ in range(self.chance.randint(0, 3))]
        lines = [line for line in lines if "{" not in line]  # ripgrep, unlike git, reads a choice there
        return "\n".join(lines) + "\n"

    def pattern(self):
        while True:
            text = "".join(self.chance.choices(PIECES, k=self.chance.randint(1, 4)))
            if "//" not in text and "***" not in text and not text.endswith("**/") and text not in ("/", "{a,b}/"):
                return text.removeprefix("/") or "a"


def rg(*arguments, cwd):
    done = subprocess.run(
        [find_ripgrep(), "--no-config", "--hidden", *arguments, "--", "."],
        cwd=cwd,
        check=False,
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.decode("utf-8", "surrogateescape").splitlines()


def listed(*arguments, cwd):
    return {line.removeprefix("./") for line in rg("--files", "-g", "!.git", *arguments, cwd=cwd)}


def by_git(folder, repositories):
    """The files below a folder that git does not ignore; it does not look into the repositories in there."""
    found = git("ls-files", "-oz", "--exclude-standard", "--full-name", ".", cwd=folder).split("\0")
    prefix = git("rev-parse", "--show-prefix", cwd=folder).removesuffix("\n")
    files = {name.removeprefix(prefix) for name in found if name and not name.endswith("/")}
    for name in found:
        if name.endswith("/"):
            below = folder / name.removeprefix(prefix)
            files |= {f"{name.removeprefix(prefix)}{one}" for one in by_git(below, repositories)}
    return {name for name in files if not (folder / name).is_symlink()}


def ignored(folder):
    """Whether a folder is ignored as a whole; both tools and ripgrep search one that is named all the same."""
    command = ["git", "check-ignore", "-q", "--no-index", "."]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode == 0


def matched(cwd, needle, files):
    found = set()
    for line in rg("--json", "--crlf", "-g", "!.git", "-e", needle, cwd=cwd):
        data = json.loads(line)
        if data["type"] == "match":
            name = data["data"]["path"]["text"].removeprefix("./")
            if name in files:
                found.add((name, data["data"]["line_number"]))
    for name in files:
        content = (cwd / name).read_bytes()
        if b"\0" in content and not content.startswith(b"\xff\xfe"):
            # ripgrep shows such a file in part or not at all; grep searches all that is before the NUL.
            lines = enumerate(content.split(b"\0")[0].decode().splitlines(), 1)
            found = {each for each in found if each[0] != name} | {
                (name, number) for number, line in lines if re.search(needle, line)
            }
    return found


async def check(call, tree, counts):
    chance, root = tree.chance, tree.root
    where = chance.choice(tree.folders)
    path = str(where.relative_to(root))
    everything = await found(call, "**", path)
    assert everything == listed(cwd=where)
    counts["find"] += 1
    if tree.only_git and any(where.is_relative_to(each) for each in tree.repositories) and not ignored(where):
        assert everything == by_git(where, tree.repositories)
        counts["git"] += 1
    for _ in range(5):
        pattern = tree.pattern()
        expected = everything & listed(
            "--no-ignore", f"--{'' if pattern != pattern.lower() else 'i'}glob={pattern}", cwd=where
        )
        assert await found(call, chance.choice(["", "./"]) + pattern, path) == expected, pattern
        counts["find"] += 1
    for _ in range(5):
        needle, glob = chance.choice(["needle", "end$", "^needle", "needle|end"]), chance.choice([None, tree.pattern()])
        globs = ("--no-ignore", f"--glob={glob}") if glob and not glob.endswith("/") else ()
        if glob and glob.endswith("/"):
            globs = ("--no-ignore", f"--glob={'' if '/' in glob[:-1] else '**/'}{glob}**")
        expected = matched(where, needle, everything & listed(*globs, cwd=where))
        more = {} if glob is None else {"glob": glob}
        result = await call("grep", pattern=needle, path=path, limit=10_000, **more)
        assert one_byte_each(lines_of(result)) == one_byte_each(expected), (needle, glob)
        counts["grep"] += 1


def one_byte_each(found):
    """What is found of names in ASCII: to ripgrep, ``?`` and ``[...]`` are a byte, to the tools a character."""
    return {each for each in found if str(each).isascii()}


async def found(call, pattern, path):
    result = await call("find", pattern=pattern, path=path, limit=10_000)
    names = result.content[0].text.split("\n")
    return {name for name in names if name != "No files found matching pattern" and not name.endswith("/")}


def lines_of(result):
    text = result.content[0].text
    pairs = re.findall(r"^(.+?):(\d+): ", text, re.MULTILINE)
    return {(name, int(number)) for name, number in pairs}


@pytest.fixture
def template(tmp_path_factory, monkeypatch):
    """A repository to copy, with one commit; and a home whose git has rules of the user's own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    main = home / "template"
    git("init", "-q", str(main), cwd=home)
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x", cwd=main)
    git("config", "--global", "core.excludesFile", "~/mine", cwd=home)  # ripgrep reads a path up to its first blank
    (home / "mine").write_text("*.swp\nb.ts\n")
    return main


async def compare(call, ctx, template, seeds):
    counts = {"find": 0, "grep": 0, "git": 0}
    top = Path(ctx.cwd)
    for seed in seeds:
        root = top / str(seed)
        root.mkdir()
        ctx.cwd = root
        tree = Tree(random.Random(seed), root, template)  # noqa: S311 - a tree
        try:
            for _ in range(2):
                await check(call, tree, counts)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        shutil.rmtree(root)
    return counts


async def test_searches_find_what_ripgrep_and_git_do(call, ctx, template):
    counts = await compare(call, ctx, template, range(5))

    assert counts["git"] > 0


@pytest.mark.slow
async def test_two_thousand_searches_find_what_ripgrep_and_git_do(call, ctx, template):
    counts = await compare(call, ctx, template, range(1000, 1100))

    assert sum(counts.values()) >= 2000
