"""Package sources: how users write them, what they mean, and how settings store them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from attrs import evolve, frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pi_core.base.paths import absolute
from pi_hookspecs import UserError
from pi_hookspecs.values import Value

__all__ = ["Kind", "Source", "parse", "parse_stored"]

Kind = Literal["index", "wheel", "folder", "file", "git", "npm"]

OUR_PREFIX = "pluggypi-"
_GIT_HOSTS = "https://", "http://", "ssh://", "git://", "git@"
_NPM = re.compile(r"(?P<name>(?:@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*)(?:@(?P<version>[^@/\s]+))?")


@frozen(kw_only=True, eq=False, repr=False)
class Source(Value):
    """The source of a package.

    Attributes:
        kind: ``index`` (a distribution), ``wheel``, ``folder``, ``file`` (one extension), ``git`` or ``npm``.
        text: The form that settings store.
        identity: The part that all sources of a package share, without version, ref and extras.
        location: The requirement, address or path that is fetched, without what selects a version.
        reference: Version, tag, branch or commit; an empty text if none is given.
        subdirectory: The folder in a repository.
        short: Whether the prefix ``pluggypi-`` was added to a bare name.
        is_pinned: Whether ``pi update`` leaves it at its version.
    """

    kind: Kind
    text: str
    identity: str
    location: str
    reference: str = ""
    subdirectory: str = ""
    short: bool = False
    is_pinned: bool = False

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.identity.partition(":")[2] if self.kind == "index" else self.text

    def pinned_to(self, version: str) -> Source:
        """Return this source pinned to a version, which ``pi update`` does not change."""
        if self.kind == "index":
            requirement = Requirement(self.location)
            requirement.specifier &= type(requirement.specifier)(f"=={version}")
            exact = f"{requirement.name}{_extras(requirement)}=={version}"
            return evolve(self, text=f"pypi:{exact}", location=exact, is_pinned=True)
        if self.kind == "npm" and not self.location.startswith("/"):
            return evolve(self, text=f"npm:{self.location}@{version}", reference=version, is_pinned=True)
        if self.kind == "git":
            return evolve(
                self, text=_git_text(self.location, version, self.subdirectory), reference=version, is_pinned=True
            )
        return self


def parse(text: str, folder: Path, home: Path) -> Source:
    """Return the source that a user wrote on the command line.

    A bare name means the distribution ``pluggypi-NAME`` and no other: a name must not change its meaning when a
    stranger registers another one.

    Args:
        text: The text from the command line.
        folder: The folder for relative paths.
        home: The user's home folder.

    Raises:
        UserError: It is not a source.
    """
    text = text.strip()
    if text.startswith(("pypi:", "npm:")):
        scheme, _, rest = text.partition(":")
        return _npm(rest, folder, home) if scheme == "npm" else _index(rest, text)
    if text.partition("#")[0].endswith(".whl") and not text.startswith("git"):
        return _wheel(text, folder, home)
    if text.startswith(("git+", "git:", *_GIT_HOSTS)):
        return _git(text, folder, home)
    if text.startswith((".", "/", "~")) or os.sep in text:
        return _path(text, folder, home)
    return _bare(text)


def parse_stored(text: str, folder: Path, home: Path) -> Source:
    """Return the source of an entry in settings; the TypeScript pi writes paths there without a prefix.

    Raises:
        UserError: It is not a source.
    """
    looks_like_path = not re.match(r"[a-z+]+:|git@", text) and not text.partition("#")[0].endswith(".whl")
    return _path(text, folder, home) if looks_like_path else parse(text, folder, home)


def _bare(text: str) -> Source:
    source = _index(text, text)
    if source.identity.startswith(f"pypi:{OUR_PREFIX}"):
        return source
    return evolve(_index(f"{OUR_PREFIX}{text}", text), short=True)


def _index(requirement: str, written: str) -> Source:
    try:
        wanted = Requirement(requirement)
    except InvalidRequirement as error:
        raise UserError(
            f"{written!r} is not a source of a package: write a name such as word-count>=1.2, pypi:NAME, npm:NAME,"
            f" git:HOST/USER/REPOSITORY, an address, or a path that begins with ./ ({str(error).splitlines()[0]})"
        ) from error
    if wanted.url or wanted.marker is not None:
        raise UserError(f"{written!r} must be a name with extras and versions only; give an address without a name")
    name = canonicalize_name(wanted.name)
    normal = f"{name}{_extras(wanted)}{wanted.specifier}"
    pinned = any(each.operator in ("==", "===") and not each.version.endswith(".*") for each in wanted.specifier)
    return Source(kind="index", text=f"pypi:{normal}", identity=f"pypi:{name}", location=normal, is_pinned=pinned)


def _extras(requirement: Requirement) -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def _npm(text: str, folder: Path, home: Path) -> Source:
    if text.startswith((".", "/", "~")) or text.endswith((".tgz", ".tar.gz")):
        path = _existing(text, folder, home)
        return Source(kind="npm", text=f"npm:{path}", identity=f"npm:{path}", location=str(path), is_pinned=True)
    found = _NPM.fullmatch(text)
    if found is None:
        raise UserError(f"'npm:{text}' is not an npm package: write npm:NAME, npm:@SCOPE/NAME or npm:NAME@VERSION")
    name, version = found["name"], found["version"] or ""
    pinned = bool(re.fullmatch(r"\d+\.\d+\.\d+\S*", version))
    return Source(
        kind="npm", text=f"npm:{text}", identity=f"npm:{name}", location=name, reference=version, is_pinned=pinned
    )


def _wheel(text: str, folder: Path, home: Path) -> Source:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    is_remote = text.startswith(("https://", "http://"))
    address = text if is_remote else _existing(text.removeprefix("file://"), folder, home).as_uri()
    file = unquote(urlsplit(address).path.rpartition("/")[2])
    try:
        name = parse_wheel_filename(file)[0]
    except InvalidWheelFilename as error:
        raise UserError(f"{text!r} is not a wheel: {error}") from error
    if is_remote and "#sha256=" not in text:
        raise UserError(f"{text!r} needs #sha256=HASH at its end, which proves that it is the intended file")
    stored = text if is_remote else str(_existing(text.removeprefix("file://"), folder, home))
    return Source(kind="wheel", text=stored, identity=f"pypi:{name}", location=f"{name} @ {address}", is_pinned=True)


def _git(text: str, folder: Path, home: Path) -> Source:
    address, _, fragment = text.partition("#")
    subdirectory = dict(part.partition("=")[::2] for part in fragment.split("&")).get("subdirectory", "")
    if subdirectory and (Path(subdirectory).is_absolute() or ".." in Path(subdirectory).parts):
        raise UserError(f"{text!r}: subdirectory must be a folder in the repository, not {subdirectory!r}")
    plain = address.removeprefix("git+") if address.startswith("git+") else address
    if plain.startswith("git:") and not plain.startswith("git://"):
        plain = plain.removeprefix("git:")
    plain, reference = _split_reference(plain)
    if plain.startswith("file://"):
        plain = unquote(urlsplit(plain).path)
    if plain.startswith((".", "/", "~")):
        plain = absolute(plain, str(folder), str(home))
    elif not plain.startswith(_GIT_HOSTS):
        plain = f"https://{plain}"
    if urlsplit(plain).password:
        raise UserError("a password in a URL would be stored in settings.json; let git ask for it, or use a key")
    pinned = bool(reference) and (bool(re.fullmatch(r"[0-9a-f]{40}", reference)) or bool(re.match(r"v?\d", reference)))
    where = re.sub(r"^(?:[a-z]+://)?(?:[^@/]+@)?", "", plain).replace(":", "/").removesuffix(".git").rstrip("/")
    return Source(
        kind="git",
        text=_git_text(plain, reference, subdirectory),
        identity=f"git:{where}" + (f"#{subdirectory}" if subdirectory else ""),
        location=plain,
        reference=reference,
        subdirectory=subdirectory,
        is_pinned=pinned,
    )


def _split_reference(address: str) -> tuple[str, str]:
    """Split ``...@ref`` off; the ``@`` before a host, as in ``git@host``, does not count."""
    head, at, reference = address.rpartition("@")
    if not at or not head or ":" in reference or ("/" not in head.partition("://")[2] and "://" in head):
        return address, ""
    return (head, reference) if head != "git" else (address, "")


def _git_text(address: str, reference: str, subdirectory: str) -> str:
    fragment = f"#subdirectory={subdirectory}" if subdirectory else ""
    where = address if not address.startswith("/") else f"file://{address}"
    return f"git+{where}{f'@{reference}' if reference else ''}{fragment}"


def _path(text: str, folder: Path, home: Path) -> Source:
    path = _existing(text, folder, home)
    real = str(path.resolve())
    if path.is_file():
        if path.suffix != ".py":
            raise UserError(f"{text!r} is neither a folder, nor a wheel, nor a Python file")
        return Source(kind="file", text=str(path), identity=f"path:{real}", location=str(path), is_pinned=True)
    return Source(kind="folder", text=str(path), identity=f"path:{real}", location=str(path), is_pinned=True)


def _existing(text: str, folder: Path, home: Path) -> Path:
    path = Path(absolute(text, str(folder), str(home)))
    if not path.exists():
        raise UserError(f"{text!r}: there is no {str(path)!r}")
    return path
