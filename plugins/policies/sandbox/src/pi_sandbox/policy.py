"""The policy of a session: what its programs and tools may read and change, as absolute paths with resolved links."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import field, frozen

from pi_hookspecs.secrets import is_secret_variable
from pi_sandbox.proxy import USER, allowed_host
from pi_sandbox.repositories import GIT_FILES, is_git_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_sandbox.options import Options

__all__ = ["Policy", "Way", "make_policy"]

_SECRET_PLACES = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".netrc", ".pypirc", ".git-credentials", ".vault-token", ".vault"),
    *(".password-store", ".docker/config.json", ".cargo/credentials", ".cargo/credentials.toml", ".npmrc", ".yarnrc"),
    *(".yarnrc.yml", ".pgpass", ".my.cnf", ".mylogin.cnf", ".terraform.d", ".terraformrc", ".s3cfg", ".boto", ".fly"),
    *(
        ".gem/credentials",
        ".bundle/config",
        ".m2/settings.xml",
        ".m2/settings-security.xml",
        ".gradle/gradle.properties",
    ),
    *(".nuget/NuGet/NuGet.Config", ".composer/auth.json", ".condarc", ".huggingface", ".cache/huggingface/token"),
    *(".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".gemini/oauth_creds.json", ".databrickscfg"),
    *(".config/gcloud", ".config/gh", ".config/op", ".config/hub", ".config/glab-cli", ".config/rclone"),
    *(".config/github-copilot", ".config/sops", ".config/age", ".config/containers/auth.json", ".config/doctl"),
    *(".config/pip", ".pip", ".config/git/credentials", ".config/composer/auth.json", ".config/stripe"),
    *(".config/heroku", ".config/netlify", ".config/configstore", ".config/Bitwarden CLI", ".config/google-chrome"),
    *(".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".mozilla", ".thunderbird"),
    *(".local/share/keyrings", ".local/share/containers/auth.json", ".local/share/opencode/auth.json"),
    *("Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox"),
    *(".bash_history", ".zsh_history", ".histfile", ".python_history", ".psql_history", ".mysql_history"),
    *(".node_repl_history", ".sqlite_history", ".rediscli_history", ".lesshst", ".local/share/fish/fish_history"),
)
"""Below the home directory: keys, logins, and what was typed."""
_OWN_SECRETS = (
    *("auth.json", "mcp-auth.json", "models.json", "mcp.json", "prompt-history.jsonl", "redact.key", "sessions"),
    *("sandbox-evidence",),
)
"""Below pi's agent directory."""
_SETTINGS = "settings.json"
"""In pi's agent directory; hidden if it seems to contain a key."""
_SOCKETS = (
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
)
_CACHES = {"GOCACHE": "go-build", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip", "UV_CACHE_DIR": "uv"}
_WEB_PORTS = {"http": 80, "https": 443}
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy")


@frozen
class Way:
    """How programs reach the proxy.

    Attributes:
        port: Its port on the loopback interface.
        token: The password that the proxy wants; None if it wants none.
        socket: The Unix socket for programs in a separate network; None if they share pi's network.
    """

    port: int
    socket: str | None = None
    token: str | None = field(default=None, repr=False)


@frozen(kw_only=True)
class Policy:
    """What is allowed.

    Attributes:
        cwd: The working directory.
        temp: The session's own folder for temporary files; ``TMPDIR`` names it.
        write: Folders and files that may be changed, including the working directory and ``temp``.
        deny_read: What cannot be read.
        protected: Paths in writable folders that cannot be changed; they need not exist.
        network: ``off``, ``allow`` or ``open``.
        allow: Hosts that may be reached with ``allow``.
        env: Names of variables that are kept although they look like keys.
        repositories: The git folders of the project.
        names: Names of files that are protected in every folder of the project.
        released: Paths in ``sandbox.write``, which are not protected whatever their names.
        programs: Folders of programs on the ``PATH`` and of pi, readable even if an engine hides the folders around
            them.
    """

    cwd: str
    temp: str
    write: tuple[str, ...]
    deny_read: tuple[str, ...]
    protected: tuple[str, ...]
    network: str
    allow: tuple[str, ...]
    env: frozenset[str]
    repositories: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    released: frozenset[str] = frozenset()
    programs: tuple[str, ...] = ()

    def refused_write(self, path: str) -> str | None:
        """Return why a resolved path cannot be changed; None if it can."""
        if not any(_is_below(path, place) for place in self.write):
            return f"the sandbox lets files be changed below {self.cwd} only; sandbox.write lists further folders"
        place = self.protecting(path)
        if place is not None:
            return f"the sandbox protects {place}: it is run or read outside of it"
        return self.refused_read(path)

    def protecting(self, path: str) -> str | None:
        """Return the protected file or folder that a resolved path is, or is in; None for other paths."""
        if any(_is_below(path, place) for place in self.released):
            return None
        place = next((place for place in self.protected if _is_below(path, place)), None)
        return place or self._protecting_below(path)

    def _protecting_below(self, path: str) -> str | None:
        """Return the same for files of subfolders and of repositories in them."""
        root = max((place for place in self.write if _is_below(path, place)), key=len, default=None)
        if root is None:
            return None
        parts = path[len(root) :].split("/")[1:]
        for index, part in enumerate(parts):
            after = parts[index + 1 :]
            if part == ".git" and is_git_file(after):
                return path
            for name in self.names if _is_below(path, self.cwd) else ():
                words = name.split("/")
                if parts[index : index + len(words)] == words:
                    return "/".join([root, *parts[: index + len(words)]])
        return path if _is_in_bare_repository(path) else None

    def refused_read(self, path: str) -> str | None:
        """Return why a resolved path cannot be read; None if it can."""
        place = next((place for place in self.deny_read if _is_below(path, place)), None)
        return None if place is None else f"the sandbox hides {place}"

    def refused_url(self, url: str) -> str | None:
        """Return why a URL must not be fetched; None if it may be fetched or is not a URL."""
        if self.network == "open":
            return None
        if self.network == "off":
            return "the sandbox has no network (sandbox.network is 'off')"
        try:
            parts = urlsplit(url.strip())
            host, port = parts.hostname or "", parts.port or _WEB_PORTS.get(parts.scheme, 0)
        except ValueError:
            return f"{url!r} is not a URL"
        return None if allowed_host(host, port, self.allow) else f"{host}:{port} is not in sandbox.allow"

    def environment(self, env: Mapping[str, str], proxy: Way | None = None) -> dict[str, str]:
        """Return a program's environment: without keys, and with this proxy instead of the user's.

        Build tools get caches among the temporary files: they fail without one, and must not write into the user's
        caches, which are used outside the sandbox.
        """
        kept = {name: value for name, value in env.items() if name in self.env or not is_key_like(name, value)}
        kept |= {"TMPDIR": self.temp, "TMP": self.temp, "TEMP": self.temp}
        kept |= {name: os.path.join(self.temp, folder) for name, folder in _CACHES.items() if name not in self.env}
        if self.network == "open":
            return kept
        kept = {name: value for name, value in kept.items() if name.lower() not in _PROXIES}
        if proxy is not None:
            password = f"{USER}:{proxy.token}@" if proxy.token is not None else ""
            http, socks = (f"{scheme}://{password}127.0.0.1:{proxy.port}" for scheme in ("http", "socks5h"))
            kept |= {"HTTP_PROXY": http, "HTTPS_PROXY": http, "ALL_PROXY": socks}
            kept |= {"http_proxy": http, "https_proxy": http, "all_proxy": socks}
        return kept


def is_key_like(name: str, value: str) -> bool:
    """Whether a variable seems to hold a key, or leads to a helper that does."""
    return name in _SOCKETS or name.startswith("AWS_") or is_secret_variable(name, value)


def make_policy(
    options: Options,
    *,
    cwd: str,
    temp: str,
    home: str,
    agent_dir: str,
    env: Mapping[str, str],
    names: Sequence[str] = (),
) -> Policy:
    """Return a session's policy for the current contents of the disk.

    Args:
        options: What was asked for.
        cwd: The working directory.
        temp: The session's own folder for temporary files.
        home: The home directory.
        agent_dir: pi's own directory, which nothing in the sandbox may change.
        env: The environment, which names the sockets of helpers.
        names: Files that are protected in every folder, because their existence decides what programs do later.
    """
    here = os.path.realpath(cwd)
    released = _resolved(options.write, here, home)
    secrets = (
        *(os.path.join(home, name) for name in _SECRET_PLACES),
        *(os.path.join(agent_dir, name) for name in _OWN_SECRETS),
        *([own] if _has_key(own := os.path.join(agent_dir, _SETTINGS)) else ()),
        *(value for name in _SOCKETS if (value := env.get(name, "").removeprefix("unix://")).startswith("/")),
    )
    git = _git_folders(here)
    write = _resolved((here, temp, *git, *options.write), here, home)
    protected = {os.path.join(folder, name) for folder in write for name in names}
    protected |= {os.path.join(folder, name) for folder in git for name in GIT_FILES}
    protected |= {os.path.join(here, ".git", name) for name in GIT_FILES if not os.path.isfile(f"{here}/.git")}
    protected |= _own_files(os.path.realpath(agent_dir), here)
    protected -= {*released}
    hidden = (path for path in _resolved(secrets, here, home) if path not in released)
    return Policy(
        cwd=here,
        temp=os.path.realpath(temp),
        write=write,
        deny_read=tuple(dict.fromkeys((*hidden, *_resolved(options.deny_read, here, home)))),
        protected=tuple(sorted(protected)),
        network=options.network,
        allow=options.allow,
        env=frozenset(options.env),
        repositories=git,
        names=tuple(names),
        released=frozenset(path for path in released if any(path.endswith(f"/{name}") for name in names)),
        programs=_resolved(_program_folders(env), here, home),
    )


def _is_in_bare_repository(path: str) -> bool:
    """Whether a path is, or would be, one of the files by which a folder without ``.git`` becomes a repository."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) == "hooks":
        folder, name = os.path.dirname(folder), "hooks"
    if name == "HEAD":
        return any(os.path.lexists(os.path.join(folder, each)) for each in ("config", "commondir", "objects"))
    return name in GIT_FILES and os.path.lexists(os.path.join(folder, "HEAD"))


def _has_key(path: str) -> bool:
    """Whether a JSON file has a text under the name of a secret; one that cannot be read has."""
    try:
        with open(path, "rb") as file:
            return _is_secret_in(json.load(file))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):
        return True


def _is_secret_in(value: object, name: str = "") -> bool:
    if isinstance(value, dict):
        return any(_is_secret_in(each, str(key)) for key, each in value.items())
    if isinstance(value, list):
        return any(_is_secret_in(each, name) for each in value)
    return isinstance(value, str) and is_secret_variable(name, value)


def _own_files(agent_dir: str, cwd: str) -> set[str]:
    """Return the protected part of pi's own directory: all of it except the worktree that the session works in."""
    worktrees = os.path.join(agent_dir, "worktrees")
    if not _is_below(cwd, worktrees):
        return {agent_dir}
    with suppress(OSError):
        return {os.path.join(agent_dir, name) for name in os.listdir(agent_dir)} - {worktrees}
    return set()


def _program_folders(env: Mapping[str, str]) -> list[str]:
    """Return the folders on the ``PATH``, and the parents of those named ``bin``, which hold programs' own files.

    Those of pi and its Python are among them, because pi starts Python and programs of its plugins.
    """
    folders = [folder for folder in env.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    own: list[object] = [sys.prefix, sys.base_prefix, *sys.path]  # Python ignores what is no text in it
    return [
        *(os.path.dirname(folder) if os.path.basename(folder) == "bin" else folder for folder in folders),
        *(folder for folder in own if isinstance(folder, str) and os.path.isabs(folder)),
    ]


def _git_folders(cwd: str) -> tuple[str, ...]:
    """Return the git folders of a folder's repository: its own, and the one that its worktrees share."""
    folder = cwd
    while not os.path.lexists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return ()
        folder = os.path.dirname(folder)
    place = os.path.join(folder, ".git")
    own = os.path.join(folder, _first_line(place).removeprefix("gitdir: ")) if os.path.isfile(place) else place
    shared = os.path.join(own, _first_line(os.path.join(own, "commondir")) or ".")
    return tuple(dict.fromkeys(os.path.realpath(each) for each in (own, shared) if _is_git_folder(each)))


def _is_git_folder(path: str) -> bool:
    """Whether a folder really is a git folder: a file that merely names one must not make it writable."""
    return os.path.isfile(os.path.join(path, "HEAD")) and os.path.realpath(path).count("/") > 1


def _first_line(path: str) -> str:
    with suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as file:
        return file.readline().rstrip("\n")
    return ""


def _resolved(paths: Iterable[str], cwd: str, home: str) -> tuple[str, ...]:
    """Return the paths, absolute and resolved, each once."""
    whole = (home + path[1:] if path == "~" or path.startswith("~/") else path for path in paths)
    return tuple(dict.fromkeys(os.path.realpath(os.path.join(cwd, path)) for path in whole))


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")
