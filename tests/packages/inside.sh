#!/bin/bash
# Runs in the fresh system, next to the packages, and does what a user does with them.
set -euo pipefail
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
say() { printf 'packages: %s (%s s)\n' "$*" "$SECONDS"; }
install() { apt-get install -y -q --no-install-recommends "$@" >apt.log 2>&1 || { cat apt.log; exit 1; }; }
apt-get update -q >/dev/null

install ./stereopsis_*.deb
stereopsis synth -o . --width 320 --height 240 --disparities 64 >/dev/null
stereopsis match left.png right.png -o command.pfm --set sgm.paths=4 --disparities 128 --color command.png >/dev/null
stereopsis evaluate command.pfm --truth disp_left.pfm
zcat /usr/share/man/man1/stereopsis.1.gz | grep 'STEREOPSIS MATCH' >/dev/null
bash -c '. /usr/share/bash-completion/completions/stereopsis && complete -p stereopsis' >/dev/null
ls /usr/share/zsh/vendor-completions/_stereopsis /usr/share/fish/vendor_completions.d/stereopsis.fish
say "the command alone: matches, and has its pages"

mkdir left right
for i in 0 1; do cp left.png left/$i.png && cp right.png right/$i.png; done
{ ! stereopsis match left right --disparities 64 --color color.mp4 2>&1; } | grep 'requires OpenCV.*stereopsis-opencv'
install ./stereopsis-opencv_*.deb
stereopsis match left right --disparities 64 --color color.mp4 --quiet
stereopsis match color.mp4 color.mp4 --disparities 8 -o twice | grep '2 frames'
say "with the package for OpenCV: writes and reads a video"

install qemu-user
qemu-x86_64 -cpu core2duo /usr/bin/stereopsis devices | grep 'this CPU has no SSE4.2'
qemu-x86_64 -cpu core2duo /usr/bin/stereopsis match left.png right.png -o old.pfm --set sgm.paths=4 --disparities 128 --quiet
cmp old.pfm command.pfm
say "the command on a processor without SSE4.2, by QEMU: the same bits"

install ./*.deb g++ cmake make pkg-config
# The README's own lines.
sed -n '/^```cpp$/,/^```$/p' README.md | grep -v '^```' |
  awk '/^#include|^using/ {print; next} !begun && NF {print "int main() {"; begun = 1} {print} END {print "}"}' >readme.cpp
cmake -S . -B build >/dev/null && cmake --build build >/dev/null
./build/readme && cmp disparity.pfm command.pfm && rm disparity.pfm
say "the README's example by find_package: the command's bits"
g++ -std=c++20 readme.cpp -o by_pkg_config $(pkg-config --cflags --static --libs stereopsis-io)
./by_pkg_config && cmp disparity.pfm command.pfm
say "and by pkg-config"
ldd build/in_c | grep libstereopsis.so.0 && ./build/in_c
say "the C interface by find_package"

# Uses the distribution's own Python, outside of any checkout.
cd /
python3 - /root/stereopsis <<'PYTHON'
import importlib.metadata
import sys

import numpy
import stereopsis as st

folder = sys.argv[1]
left, right = (st.read_image(f"{folder}/{side}.png") for side in ("left", "right"))
result = st.match(left, right, disparities=128, set={"sgm.paths": 4})
assert numpy.array_equal(result.disparity, st.read_disparity(f"{folder}/command.pfm"), equal_nan=True)
assert importlib.metadata.version("stereopsis") == st.__version__
print(sys.version.split()[0], numpy.__version__, st.__file__)
PYTHON
python3 -m stereopsis --version
stereopsis view --help >/dev/null
say "the Python package: the command's bits"

apt-get remove -y -q '*stereopsis*' >/dev/null
if find / -xdev -path '*stereopsis*' -not -path '/root/*' -not -path '/proc/*' -not -path '/var/lib/dpkg/*' -not -path '/var/log/*' | grep .; then
  say "the files above are left behind" && exit 1
fi
say "removed, and nothing is left behind"
