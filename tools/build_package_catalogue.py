"""Write the catalogue that ``pi search`` reads, from the reviewed list ``plugins/frontends/packages/catalogue.toml``.

Run it with ``uv run python tools/build_package_catalogue.py``; ``--check`` writes nothing, and fails if something would
change. Of a list that is named it prints the catalogue, for the setting ``packages.catalogues``.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from list_members import members

from pi_hookspecs import UserError
from pi_packages.sources import parse

MEMBER = Path(__file__).resolve().parent.parent / "plugins" / "frontends" / "packages"
LIST = MEMBER / "catalogue.toml"
CATALOGUE = MEMBER / "src" / "pi_packages" / "catalogue.json"
PREFIX = "pluggypi-"
COMMON = ("agent", "coding-agent", "llm", "pi")
KEYS = {"source", "name", "reviewed", "description", "keywords"}
LONGEST = 120


def build(listed: str, origin: str) -> str:
    """Return the text of a catalogue.

    Args:
        listed: The text of a reviewed list.
        origin: What messages call it.

    Raises:
        ValueError: An entry is not complete, or there twice; the message names it.
    """
    own = {project["name"]: project for project in members().values()}
    try:
        packages = tomllib.loads(listed).get("package", [])
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{origin} is not TOML: {error}") from error
    entries = [_entry(each, own, origin) for each in packages]
    sources = [each["source"] for each in entries]
    twice = sorted({each for each in sources if sources.count(each) > 1})
    if twice:
        raise ValueError(f"{origin} has {', '.join(twice)} twice")
    entries.sort(key=lambda each: each["name"])
    return json.dumps({"packages": entries}, indent=2, ensure_ascii=False) + "\n"


def _entry(package: dict[str, Any], own: dict[str, Any], origin: str) -> dict[str, Any]:
    where = f"{origin}: {package.get('source', package)!r}"
    unknown = sorted(package.keys() - KEYS)
    if unknown:
        raise ValueError(f"{where} has unknown keys: {', '.join(unknown)}")
    try:
        source = parse(str(package.get("source", "")), Path("/"), Path("/"))
    except UserError as error:
        raise ValueError(f"{where}: {error}") from error
    if source.kind not in ("index", "git", "npm") or source.location.startswith(("/", "file:")):
        raise ValueError(f"{where} is on this machine only. Name a package of an index or a repository")
    if type(package.get("reviewed")) is not dt.date:
        raise ValueError(f"{where} has no date of its review: reviewed = 2026-11-23")
    project = own.get(source.identity.partition(":")[2], {})
    name = package.get("name") or project.get("name", source.label)
    description = package.get("description") or project.get("description", "")
    if not description or "\n" in description or len(description) > LONGEST:
        raise ValueError(f"{where} needs a description of one line, of {LONGEST} characters at most")
    keywords = {*package.get("keywords", ()), *(each for each in project.get("keywords", ()) if each not in COMMON)}
    return {
        "name": name.removeprefix(PREFIX),
        "source": source.text,
        "description": description,
        "keywords": sorted(keywords),
        "reviewed": package["reviewed"].isoformat(),
    }


def main(arguments: list[str]) -> int:
    """Write or compare the catalogue, or print that of another list; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", nargs="?", type=Path, default=LIST)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    try:
        text = build(given.list.read_text(encoding="utf-8"), str(given.list))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if given.list != LIST:
        sys.stdout.write(text)
    elif given.check:
        if CATALOGUE.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{CATALOGUE.name} does not match {LIST.name}: run just docs\n")
            return 1
    else:
        CATALOGUE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
