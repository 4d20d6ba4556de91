"""Prints the third-party notices of a wheel: the shared libraries that a program needs beyond the system's own, by
Debian's packages, and the code that is compiled in.

python3 notices.py PROGRAM [SYSROOT]: a program for AArch64 has its libraries in the folder that
tests/cross/aarch64_sysroot.sh made."""

import pathlib
import re
import subprocess
import sys

COMPILED_IN = ["libcli11-dev", "nlohmann-json3-dev"]
WITHOUT = r"libstereopsis|libjbig|(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)[.-]"  # ours (no_jbig.c takes libjbig's place), and every system's own


def owner_of(file: str, sysroot: str) -> str | None:
    """Returns the Debian package that a file is of."""
    real = str(pathlib.Path(sysroot + file).resolve()).removeprefix(sysroot)
    for name in (real, real.removeprefix("/usr")):
        if sysroot:
            lists = pathlib.Path(sysroot, "var/apt/files").iterdir()
            owners = [one.name for one in lists if name in one.read_text().splitlines()]
        else:
            asked = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            owners = asked.stdout.split(":")[:1] if asked.returncode == 0 else []
        if owners:
            return owners[0]
    return None


def packages(program: str, sysroot: str) -> list[str]:
    # The loader's own way of listing libraries, which ldd uses, works in an emulator.
    ask = ["qemu-aarch64", "-L", sysroot, "-E", "LD_TRACE_LOADED_OBJECTS=1", program] if sysroot else ["ldd", program]
    lines = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [found[1] for line in lines if (found := re.search(r"=> (/\S+)", line))]
    found = set()
    for file in files:
        if re.match(WITHOUT, pathlib.Path(file).name):
            continue
        owner = owner_of(file, sysroot)
        if owner:
            found.add(owner)
        else:
            sys.exit(f"notices: no package owns {file}, so that its licence is not known; install it from one")
    return sorted(found)


def main(program: str, sysroot: str = "") -> None:
    print("This package brings libraries of others. Their names and licences follow.\n")
    for package in packages(program, sysroot) + COMPILED_IN:
        text = pathlib.Path(f"{sysroot}/usr/share/doc/{package}/copyright").read_text()
        print(f"{'=' * 100}\n{package}\n{'=' * 100}\n\n{text}")
    # nanobind and robin-map have no package there.
    own = pathlib.Path(__file__).parents[1] / "packages/copyright"
    print(f"{'=' * 100}\nstereopsis\n{'=' * 100}\n\n{own.read_text()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
