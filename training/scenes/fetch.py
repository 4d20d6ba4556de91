#!/usr/bin/env python3
"""Fetches free meshes from a Debian package, and writes a pack for mesh_scenes.

    python3 training/scenes/fetch.py -o pack              needs apt-get, dpkg-deb and Pillow
    python3 training/scenes/fetch.py -o pack --tar pack.tar.xz

The pack has objects.tsv, the meshes with smaller pictures, manifest.tsv (path, SHA-256, licence, author, title) and
ATTRIBUTION, which belongs beside weights that were trained with the pack. All meshes are CC0 or CC-BY.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE, VERSION = "sweethome3d-furniture", "1.8-1"
SHA256 = "3ccb90c63f9525e887a767b9cd5c8b6933b8b6b2973a615a5359ee68a2118668"
# Licences of the catalogues, from debian/copyright of the package.
LICENCES = {
    "BlendSwap-CC-0": "CC0", "BlendSwap-CC-BY": "CC-BY-3.0", "KatorLegaz": "CC-BY-3.0-US", "Reallusion": "CC-BY-3.0-US",
    "Scopia": "CC-BY-3.0",
}  # fmt: skip
HOLDERS = {
    "BlendSwap-CC-0": "Emmanuel Puybaret and contributors", "BlendSwap-CC-BY": "contributors of BlendSwap",
    "KatorLegaz": "Andrew Kator & Jennifer Legaz", "Reallusion": "Reallusion", "Scopia": "Scopia Visual Interfaces Systems, s.l.",
}  # fmt: skip
MOST_BYTES = 900_000  # largest file of a mesh
MOST_PIXELS = 512  # along the longer side of a picture
LARGEST = 12  # metres


def download(folder):
    """Returns the package's file, whose contents are known."""
    subprocess.run(["apt-get", "download", f"{PACKAGE}={VERSION}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    file = next(folder.glob(f"{PACKAGE}_*.deb"))
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{file.name} has the SHA-256 {found} instead of {SHA256}; do not use it")
    return file


def entries(catalogue):
    """Returns the properties of the objects of a catalogue."""
    found = {}
    text = (catalogue / "PluginFurnitureCatalog.properties").read_text("latin-1")
    for name, number, value in re.findall(r"^(\w+)#(\d+)=(.*)$", text, re.MULTILINE):
        found.setdefault(int(number), {})[name] = value.strip()
    return [entry for _, entry in sorted(found.items()) if entry.get("model", "").endswith(".obj")]


def kind_of(entry, size):
    text = (entry.get("category", "") + " " + entry.get("name", "")).lower()
    for kind, words in (
        ("vehicle", r"vehicle|\b(car|truck|van|taxi|bus|motorcycle|bicycle)\b"), ("person", "character|people|man|woman"),
        ("plant", "plant|flower|tree|palm|bush"), ("outdoor", "exterior|garden|fence"), ("none", "window|door|stair"),
    ):  # fmt: skip
        if re.search(words, text):
            return kind
    return "small" if max(size) < 0.6 else "furniture"


def copy_picture(source, target):
    """Copies a picture with fewer pixels, each of which is opaque or transparent."""
    from PIL import Image

    with Image.open(source) as picture:
        picture = picture.convert("RGBA" if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info else "RGB")
        picture.thumbnail((MOST_PIXELS, MOST_PIXELS))
        if picture.mode == "RGBA":
            picture.putalpha(picture.getchannel("A").point(lambda alpha: 255 if alpha >= 128 else 0))
        picture.save(target, format="PNG" if picture.mode == "RGBA" else "JPEG", quality=85)


def copy_materials(mesh, folder):
    """Copies the materials of a mesh and their pictures. Returns the files."""
    names = re.findall(r"^mtllib\s+(.+?)\s*$", mesh.read_text("latin-1"), re.MULTILINE)
    files = []
    for material in (mesh.parent / name for name in names):
        if not material.exists():
            continue
        lines = []
        for line in material.read_text("latin-1").splitlines():
            words = line.split()
            picture = mesh.parent / words[-1].replace("\\", "/") if words and words[0].startswith("map_") else None
            if picture and words[0] == "map_Kd" and picture.exists():
                target = folder / picture.name
                if not target.exists():
                    copy_picture(picture, target)
                files.append(target)
                line = f"map_Kd {picture.name}"
            if not picture or words[0] == "map_Kd":
                lines.append(line)
        (folder / material.name).write_text("\n".join(lines) + "\n", "latin-1")
        files.append(folder / material.name)
    return files


def add_catalogue(catalogue, pack, objects, manifest):
    name = catalogue.name
    for entry in entries(catalogue):
        mesh = catalogue / entry["model"].lstrip("/")
        size = [float(entry[side]) / 100 for side in ("width", "height", "depth")]
        kind = kind_of(entry, size)
        if kind == "none" or not mesh.exists() or mesh.stat().st_size > MOST_BYTES or max(size) > LARGEST or min(size) <= 0:
            continue
        folder = pack / "objects" / f"{len(objects):04}"
        folder.mkdir(parents=True)
        files = [Path(shutil.copy(mesh, folder)), *copy_materials(mesh, folder)]
        objects.append([files[0].relative_to(pack), kind, *(f"{s:.3f}" for s in size)])
        author = f"{entry.get('creator', '')} ({HOLDERS[name]})".strip()
        for file in dict.fromkeys(files):
            sum_ = hashlib.sha256(file.read_bytes()).hexdigest()
            manifest.append([file.relative_to(pack), sum_, LICENCES[name], author, entry.get("name", "")])


def write_table(file, rows):
    file.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the pack; it must not exist")
    parser.add_argument("--package", type=Path, help="the package's file, if it is there [download it]")
    parser.add_argument("--tar", type=Path, help="archive to write, too, for a machine without network")
    options = parser.parse_args()
    options.output.mkdir(parents=True)
    objects, manifest = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["dpkg-deb", "-x", options.package or download(folder), folder / "files"], check=True)
        for archive in sorted(folder.glob("files/usr/share/sweethome3d/furniture/*.sh3f")):
            with zipfile.ZipFile(archive) as files:
                files.extractall(folder / archive.stem)
            add_catalogue(folder / archive.stem, options.output, objects, manifest)
    write_table(options.output / "objects.tsv", objects)
    write_table(options.output / "manifest.tsv", manifest)
    authors = sorted({f"{licence}: {author}" for _, _, licence, author, _ in manifest})
    (options.output / "ATTRIBUTION").write_text(
        f"The weights were trained with pictures of meshes of the Debian package {PACKAGE} {VERSION}.\n"
        "Titles and files are in manifest.tsv. Authors and licences:\n" + "".join(f"  {line}\n" for line in authors)
    )
    if options.tar:
        with tarfile.open(options.tar, "w:xz") as archive:
            archive.add(options.output, "pack")
    print(f"{len(objects)} meshes in {options.output}")


if __name__ == "__main__":
    main()
