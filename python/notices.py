"""Prints the third-party notices of a wheel: the shared libraries that a program needs beyond the system's own, by
Debian's packages, and the code that is compiled in."""

import pathlib
import re
import subprocess
import sys

COMPILED_IN = ["libcli11-dev", "nlohmann-json3-dev"]
WITHOUT = r"libstereopsis|(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)[.-]"  # ours, and every system's own


def packages(program: str) -> list[str]:
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()
    files = [found[1] for line in lines if (found := re.search(r"=> (/\S+)", line))]
    found = set()
    for file in files:
        if re.match(WITHOUT, pathlib.Path(file).name):
            continue
        real = str(pathlib.Path(file).resolve())
        for name in (real, real.removeprefix("/usr")):
            owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            if owner.returncode == 0:
                found.add(owner.stdout.split(":")[0])
                break
        else:
            sys.exit(f"notices: no package owns {file}, so that its licence is not known; install it from one")
    return sorted(found)


def main(program: str) -> None:
    print("This package brings libraries of others. Their names and licences follow.\n")
    for package in packages(program) + COMPILED_IN:
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text()
        print(f"{'=' * 100}\n{package}\n{'=' * 100}\n\n{text}")
    # nanobind and robin-map have no package there.
    own = pathlib.Path(__file__).parents[1] / "packages/copyright"
    print(f"{'=' * 100}\nstereopsis\n{'=' * 100}\n\n{own.read_text()}")


if __name__ == "__main__":
    main(sys.argv[1])
