"""Options that give a program code, a project or a computer from elsewhere, and shells in containers.

``cd`` shows where a command runs, an option in the middle of it does not: ``npm --prefix /tmp/x run build`` runs the
scripts of another project, whose files the user has not trusted. Inside the working directory such options are fine.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pi_guardrails.reasons import REMOTE
from pi_guardrails.words import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["from_elsewhere"]

_RULE = "dynamic-command"

_PROJECTS = {
    **dict.fromkeys(("npm", "cnpm"), "--prefix -C"),
    "pnpm": "--dir -C --prefix",
    **dict.fromkeys(("yarn", "bun"), "--cwd"),
    **dict.fromkeys(("make", "gmake", "remake", "bmake"), "-C --directory -f --file --makefile -I --include-dir"),
    "ninja": "-C -f",
    **dict.fromkeys(("cargo", "cross"), "--manifest-path -C"),
    "go": "-C -overlay -modfile -toolexec",
    **dict.fromkeys(("mvn", "mvnw"), "-f --file -s --settings"),
    **dict.fromkeys(("gradle", "gradlew"), "-p --project-dir -I --init-script -b --build-file --include-build"),
    **dict.fromkeys(("ant", "phing"), "-f -file -buildfile -lib"),
    "just": "-f --justfile -d --working-directory",
    "task": "-d --dir -t --taskfile",
    "composer": "-d --working-dir",
    "poetry": "-C --directory -P --project",
    **dict.fromkeys(("uv", "uvx"), "--directory --project"),
    **dict.fromkeys(("pdm", "rye"), "-p --project"),
    "bundle": "--gemfile",
    **dict.fromkeys(("rake", "drake"), "-f --rakefile -r --require -I --libdir -R --rakelibdir"),
    **dict.fromkeys(("pytest", "py.test"), "--rootdir -c --confcutdir"),
    **dict.fromkeys(("tox", "nox"), "-c --conf -f --noxfile"),
    **dict.fromkeys(("invoke", "inv"), "-r --search-root"),
    "dotnet": "--project",
    **dict.fromkeys(("terraform", "tofu"), "-chdir"),
    **dict.fromkeys(("stack", "cabal"), "--stack-yaml --project-file"),
    "swift": "--package-path",
    "zig": "--build-file",
    **dict.fromkeys(("deno",), "--config -c --import-map"),
    "meson": "-C",
    **dict.fromkeys(("jest", "vitest", "webpack", "vite", "rollup", "eslint", "mocha"), "--config -c --rootDir --root"),
    **dict.fromkeys(("node", "nodejs"), "-r --require --import --loader --experimental-loader"),
    **dict.fromkeys(("ruby", "irb"), "-r -I"),
    "php": "-c -z",
    "lein": "-f",
    **dict.fromkeys(("docker-compose",), "-f --file --project-directory"),
}
"""Options whose value is a project, a build file or a module, whose code then runs."""

_CLUSTERS = frozenset(
    "kubectl oc helm helmfile k9s flux istioctl argocd kustomize stern velero cilium linkerd kubectx skaffold tilt "
    "kubeadm kapp eksctl".split()
)
_LOADED = {
    "openssl": "-engine -provider-path -engine_impl",
    "gawk": "-l --load",
    "bash": "--rcfile --init-file",
    "java": "-javaagent -agentpath -agentlib",
    "ssh-add": "-s",
    "sqlite3": "-vfs",
    **dict.fromkeys(("mysql", "mariadb"), "--plugin-dir"),
    **dict.fromkeys(("clang", "clang++", "opt"), "-load --load-pass-plugin"),
    "php": "auto_prepend_file auto_append_file extension zend_extension",
}
"""Options whose value is a library or a script that the program loads, wherever it is."""

_DAEMONS = frozenset({"docker", "podman", "nerdctl", "docker-compose", "crictl", "buildah"})
_CONTAINERS = _DAEMONS | {"kubectl", "oc", "lxc", "incus", "ctr"}
_SHELLS = frozenset(
    "sh bash zsh ash dash fish ksh csh tcsh busybox python python3 ipython node irb ruby php perl lua psql mysql "
    "mariadb mongo mongosh redis-cli sqlite3 rails cqlsh clickhouse-client".split()
)
_TERMINAL = re.compile(r"-[itTd]*[it][itTd]*|--(stdin|tty|interactive)(=true)?")


def from_elsewhere(call: Call) -> Iterator[Judgement]:
    """Yield findings about options that name code or a computer elsewhere."""
    name = call.name
    for option, value in _values(call, _PROJECTS.get(name, "").split()):
        if value and _is_away(call, value):
            yield "ask", _RULE, f"{option} lets it run code from another place: {_shown(value)}"
    for option, value in _values(call, _LOADED.get(name, "").split()):
        yield "ask", _RULE, f"{option} loads code: {_shown(value)}"
    if name in _CLUSTERS:
        for option, value in _values(call, ["--kubeconfig"]):
            yield "ask", _RULE, f"{option} may name programs that it starts, and another cluster: {_shown(value)}"
    if name in _DAEMONS:
        for option, value in _values(call, ["-H", "--host", "--config", "--url"]):
            if option != "-H" or "://" in value:
                yield "ask", *REMOTE
    if name in _CONTAINERS and _opens_shell(call):
        yield "ask", "remote-code", "it opens a shell in a container, where commands are not guarded"


def _values(call: Call, options: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the options among these that are given, with their values: ``-C x``, ``-Cx``, ``--dir x``, ``--dir=x``."""
    if not options:
        return
    texts = call.texts[: call.texts.index("--")] if "--" in call.texts else call.texts
    for text, after in pairwise((*texts, "")):
        for option in options:
            if text == option:
                yield option, after
            elif text.startswith((f"{option}=", f"{option}:")):
                yield option, text[len(option) + 1 :]
            elif len(option) == 2 and option[0] == "-" and text.startswith(option) and not text.startswith("--"):  # noqa: PLR2004
                yield option, text[2:].removeprefix("=")


def _shown(value: str) -> str:
    return "one that is known only at run time" if UNKNOWN in value else repr(value)


def _is_away(call: Call, value: str) -> bool:
    """Whether a path is outside the working directory; a name without a slash is a module of the project."""
    if UNKNOWN in value or "://" in value:
        return True
    path = call.places.home + value[1:] if value == "~" or value.startswith("~/") else value
    return path.startswith(("/", ".")) and call.places.leaves_project(path)


def _opens_shell(call: Call) -> bool:
    """Whether ``exec`` or ``run`` starts a shell or another program that reads commands, with nothing to judge."""
    words = [word.text for word in call.arguments]
    operands = [word.text for word in call.operands]
    if operands[:1] == ["rsh"]:
        return True
    if "exec" not in operands[:2]:
        return False
    inner = words[words.index("--") + 1 :] if "--" in words else operands[operands.index("exec") + 2 :]
    program = inner[0].rsplit("/", 1)[-1] if inner else ""
    given = words[words.index("--") + 2 :] if "--" in words else words[words.index(inner[0]) + 1 :] if inner else []
    if program in _SHELLS:
        return not given
    return not program and any(map(_TERMINAL.fullmatch, words))
