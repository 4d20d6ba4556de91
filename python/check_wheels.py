"""Prints the contents and size of finished wheels; fails if a wheel contains a file that it must not contain."""

import pathlib
import sys
import zipfile

MOST = 30e6  # bytes
FORBIDDEN = ("opencv", "cuda", "OpenCL")  # the user's, the driver's
NEEDED = ("stereopsis/bin/stereopsis", "stereopsis/THIRD_PARTY_NOTICES.txt", "stereopsis/_native.pyi", "stereopsis/py.typed", ".data/scripts/stereopsis")


def check(wheel: pathlib.Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        gpl = [name for name in names if "libjbig" in name and b"Stereopsis wheels do not" not in archive.read(name)]
    libraries = sorted(pathlib.Path(name).name for name in names if ".libs/" in name and ".so" in name)
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB, with {', '.join(libraries) or 'no libraries of others'}")
    wrong = [f"it brings {library}" for library in libraries if any(word in library for word in FORBIDDEN)]
    wrong += [f"it brings {name}, which is under the GPL" for name in gpl]
    wrong += [f"it lacks {name}" for name in NEEDED if not any(path.endswith(name) for path in names)]
    if size > MOST:
        wrong.append(f"it has {size / 1e6:.1f} MB, more than {MOST / 1e6:.0f}")
    return [f"{wheel.name}: {what}" for what in wrong]


if __name__ == "__main__":
    problems = [problem for name in sys.argv[1:] for problem in check(pathlib.Path(name))]
    sys.exit("\n".join(problems) or 0)
