"""Reports on the dependencies of a release: licences, a bill of materials, known vulnerabilities."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import advisories
import licences
from advisories import Audit
from bill_of_materials import bill_of_materials
from licences import NAMED, is_permissive, licence_of
from locked import DEVELOPMENT, locked

FOR_USERS = {package.name: package for package in locked() if package.used_by != (DEVELOPMENT,)}


def test_what_users_get_is_permissive_or_named_with_a_reason() -> None:
    """With every extra, on every system."""
    told = {name: licence_of(package) for name, package in FOR_USERS.items()}
    assert {name for name, licence in told.items() if not is_permissive(licence)} == set(NAMED)


def test_an_alternative_that_is_permissive_suffices_and_a_part_that_is_not_does_not() -> None:
    assert is_permissive("GPL-3.0-only OR MIT")
    assert is_permissive("Apache-2.0 WITH LLVM-exception AND ISC")
    assert not is_permissive("MIT AND MPL-2.0")
    assert not is_permissive(licences.UNKNOWN)


def test_the_page_of_licences_has_what_is_locked() -> None:
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", licences.PAGE.read_text(), re.MULTILINE)
    shown = {name: (by, licence) for by, licence, names in rows for name in names.split(", ")}
    del shown["packages"]
    # Where another Python has another version of a package, its licence may be worded otherwise.
    assert shown == {
        each.name: (
            licences.LABELS.get(each.used_by, ", ".join(each.used_by)),
            shown[each.name][1] if len(each.versions) > 1 else licence_of(each),
        )
        for each in locked()
    }, "Run `make licences`."


def test_the_bill_of_materials_has_every_component_with_its_hashes_and_licence() -> None:
    bill = bill_of_materials()
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "recollect-memory")
    by_name = {component["name"]: component for component in bill["components"]}
    assert set(by_name) == set(FOR_USERS)
    for name, component in by_name.items():
        assert component["version"] in FOR_USERS[name].versions
        assert "licenses" in component or name in NAMED
        files = component.get("externalReferences", ())
        assert all(file["hashes"] for file in files)
        assert files or FOR_USERS[name].folder is not None


def test_an_audit_that_looked_up_nothing_is_no_good_news() -> None:
    audit = Audit({"tea==1.0", "pot==2.0"})
    assert audit.status == advisories.NOT_KNOWN
    audit.read({"dependencies": [{"name": "tea", "version": "1.0", "vulns": []}]})
    audit.read({"dependencies": [{"name": "pot", "skip_reason": "not found on PyPI"}]})
    assert audit.status == advisories.NOT_KNOWN
    assert "NOT looked up: 1" in audit.text()
    audit.read({"dependencies": [{"name": "pot", "version": "2.0", "vulns": []}]})
    assert audit.status == 0
    leak = {"id": "PYSEC-1", "fix_versions": ["2.1"]}
    audit.read({"dependencies": [{"name": "pot", "version": "2.0", "vulns": [leak]}]})
    assert audit.status == advisories.FOUND
    assert "pot==2.0: PYSEC-1, fixed in 2.1" in audit.text()


def test_without_a_network_the_audit_says_so_and_ends_with_three(tmp_path: Path) -> None:
    cut_off = {
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
    }
    done = subprocess.run(
        [sys.executable, advisories.__file__],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **cut_off},
    )
    assert done.returncode == 3, done.stderr
    assert "0 of" in done.stdout
    assert "could be reached" not in done.stdout
    assert "can be reached" in done.stdout
