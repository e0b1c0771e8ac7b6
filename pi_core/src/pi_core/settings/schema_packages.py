"""The settings of packages: a list that the TypeScript pi reads, too, and options with a dot in their names."""

# ruff: noqa: RUF009, FBT003 - as in the schema

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

from pi_core.settings.schema_field import setting

__all__ = ["PackageSettings"]


@frozen(kw_only=True)
class PackageSettings:
    """What is installed, and from where."""

    packages: list[str | dict[str, Any]] = setting(
        list, "Packages with plugins, extensions, skills, prompts and themes"
    )
    packages_auto_install: bool = setting(
        True, "Install packages that are locked and missing when pi starts", key="packages.autoInstall"
    )
    packages_installer: list[str] = setting(
        list, "Command of uv or pip that installs packages, as a list of words", key="packages.installer"
    )
    packages_index: str | None = setting(
        None,
        "Address of the package index, in place of the one that uv or pip is configured with",
        key="packages.index",
    )
    packages_find_links: list[str] = setting(
        list, "Folders and pages with wheels, in addition to the index", key="packages.findLinks"
    )
    packages_allow_builds: bool = setting(
        False, "Build dependencies from sources, which runs their code", key="packages.allowBuilds"
    )
    packages_min_age_days: float = setting(
        0.0, "Ignore what was published later than this many days ago; needs uv", at_least=0, key="packages.minAgeDays"
    )
    packages_deny: list[str] = setting(
        list, "Patterns of packages that are neither installed nor loaded", key="packages.deny"
    )
    packages_verify: Literal["attested"] | None = setting(
        None,
        "What packages of an index must have to be installed: `attested`, a valid attestation of their publisher",
        key="packages.verify",
    )
    packages_catalogues: list[str] = setting(
        list, "Further catalogues for `pi search`: files and addresses of JSON", key="packages.catalogues"
    )
