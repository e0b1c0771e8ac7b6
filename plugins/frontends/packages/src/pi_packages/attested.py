"""``packages.verify: "attested"``: proof that the files of a package come from the publisher that its index names.

The index has attestations (PEP 740): signatures of the workflow that published a file, recorded in a public log.
``pypi_attestations`` verifies them with the roots of trust that it brings, so that nothing but the index is asked.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pi_hookspecs import UserError
from pi_packages.publisher import provenance_of
from pi_packages.settings import VERIFY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.settings import Settings
    from pi_packages.material import Material

__all__ = ["check_attested", "check_source", "wants_proof"]

_LOCAL = ("file", "folder")
"""Kinds of sources that are the user's own files."""


def wants_proof(settings: Settings) -> bool:
    """Whether only attested packages may be installed: a project can ask for it, too.

    Raises:
        UserError: The value of the setting is invalid.
    """
    values = [(origin, value) for origin, value in settings.each(VERIFY.name) if value is not None]
    for origin, value in values:
        if value != "attested":
            raise UserError(f"{origin}: packages.verify is {value!r}. Write 'attested', or remove it")
    return bool(values)


def check_source(material: Material) -> None:
    """Refuse sources whose files have no attestation; the user's own folders and files need no proof.

    Raises:
        UserError: The source has no attestations.
    """
    kind = material.source.kind
    if kind not in ("index", *_LOCAL):
        raise UserError(
            f"{material.source.label} is not attested: packages.verify is 'attested', and only packages of an index"
            " are. Remove the setting to install it"
        )


def check_attested(table: Mapping[str, Any], find_index: Callable[[], str | None]) -> str:
    """Verify every file of a locked distribution; return the result for the plan.

    Args:
        table: Its table of the lock file; the hashes in it bind what is installed.
        find_index: Returns the address of the index that it comes from.

    Raises:
        UserError: A file has no valid attestation.
    """
    try:
        from pypi_attestations import AttestationError, Distribution, Provenance
    except ImportError as error:
        from pi_core.host.advice import install_command

        raise UserError(
            "packages.verify is 'attested', and the verifier is not installed. Install pi with its extra:"
            f" {install_command('verify')}, or remove the setting"
        ) from error
    name = f"{table['name']} {table.get('version', '')}".rstrip()
    found: set[str] = set()
    for file in _files(table):
        file_name, digest = _name(file), file.get("hashes", {}).get("sha256", "")
        provenance = provenance_of(table["name"], {digest}, find_index)
        if provenance is None:
            raise UserError(
                f"{name} is not attested: the index has no attestation of {file_name}. Ask its author to publish it"
                " with one, or remove the setting packages.verify"
            )
        try:
            bundles = Provenance.model_validate(provenance).attestation_bundles
            distribution = Distribution(name=file_name, digest=digest)
            for bundle in bundles:
                for attestation in bundle.attestations:
                    attestation.verify(bundle.publisher, distribution, offline=True)
                    found.add(" ".join(_words(bundle.publisher)))
        except (AttestationError, ValueError) as error:  # pydantic's are ValueErrors
            reason = str(error).splitlines()[0]
            raise UserError(
                f"{name} is not installed: the attestation of {file_name} is not valid: {reason}. The file may have"
                " been replaced; ask its author"
            ) from error
    if not found:
        raise UserError(f"{name} is not attested: the index has no attestation of it that names a publisher")
    return f"attested: built by {', '.join(sorted(found))}"


def _files(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*table.get("wheels", ()), *(table[each] for each in ("sdist", "archive") if each in table)]


def _name(file: Mapping[str, Any]) -> str:
    named = file.get("name") or unquote(urlsplit(str(file.get("url", ""))).path) or file.get("path", "")
    return PurePosixPath(str(named)).name


def _words(publisher: Any) -> list[str]:
    values = publisher.model_dump()
    keys = ("kind", "repository", "vcs_origin", "email", "workflow", "workflow_filepath")
    return [str(values[key]).lower() if key == "kind" else str(values[key]) for key in keys if values.get(key)]
