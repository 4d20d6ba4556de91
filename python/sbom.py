"""Prints the bill of materials of a release as SPDX 2.3: the sources, the libraries that wheels bring, and the code that is compiled in.

python3 sbom.py PROGRAM VERSION FILE…: PROGRAM is the built command; the files are those of the release, with their hashes. The
licences of all parts are in THIRD_PARTY_NOTICES.txt. The date is SOURCE_DATE_EPOCH, so that two calls print the same bytes."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

from notices import COMPILED_IN, packages

UNKNOWN = "NOASSERTION"


def part(name: str, version: str, url: str) -> dict:
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": UNKNOWN,
        "copyrightText": UNKNOWN,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}],
    }


def of_debian(name: str) -> dict:
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version} ${Architecture}", name], capture_output=True, text=True, check=True)
    version, architecture = asked.stdout.split()
    return part(name, version, f"pkg:deb/debian/{name}@{version}?arch={architecture}")


def of_python(requirement: str) -> dict:
    name, version = requirement.split("==")
    return part(name, version, f"pkg:pypi/{name}@{version}")


def file_of(path: pathlib.Path) -> dict:
    content = path.read_bytes()
    sums = [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, content).hexdigest()} for name in ("sha1", "sha256")]
    return {"SPDXID": f"SPDXRef-File-{re.sub(r'[^A-Za-z0-9.-]', '-', path.name)}", "fileName": f"./{path.name}", "checksums": sums,
            "licenseConcluded": UNKNOWN, "copyrightText": UNKNOWN}  # fmt: skip


def document(program: str, version: str, files: list[str]) -> dict:
    root = pathlib.Path(__file__).parents[1]
    own = part("stereopsis", version, f"pkg:generic/stereopsis@{version}") | {"licenseDeclared": "Apache-2.0"}
    pinned = re.findall(r'"(nanobind==[0-9.]+)"', (root / "pyproject.toml").read_text())
    parts = [of_debian(name) for name in packages(program, "") + COMPILED_IN] + [of_python(one) for one in pinned]
    made = [file_of(pathlib.Path(name)) for name in files]
    digest = hashlib.sha256(json.dumps([parts, made]).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own)] + [(own["SPDXID"], "CONTAINS", one) for one in parts]
    relations += [(own["SPDXID"], "GENERATES", one) for one in made]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"stereopsis-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/stereopsis-{version}-{digest[:32]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: stereopsis-sbom"]},
        "packages": [own, *parts],
        "files": made,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b["SPDXID"]} for a, kind, b in relations],
    }


if __name__ == "__main__":
    print(json.dumps(document(sys.argv[1], sys.argv[2], sys.argv[3:]), indent=1))
