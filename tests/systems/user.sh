#!/usr/bin/env bash
# Does what a new user does, in a fresh system and a clone of the sources: the README's commands in their order, a video, an
# installed prefix, the wheel with [opencv,view], and the Debian packages. The last line counts the steps, for record.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
sources=$PWD work=$PWD/build/user steps=0
passed() { steps=$((steps + 1)) && printf 'user: %s (%s s)\n' "$*" "$SECONDS"; }
# Prints the command of the README that begins with these words, on one line.
readme() { grep -m 1 "^$1" <<<"$(sed -e ':more' -e '/\\$/{N;s/\\\n//;b more' -e '}' README.md)"; }
# Compares the rigs of two files: the focal length and the baseline must agree to 1e-6.
same_rigs() {
  "$3" - "$1" "$2" <<'PYTHON'
import sys
import stereopsis as st
a, b = (st.read_calibration(file).rig for file in sys.argv[1:])
for name in ("focal", "baseline", "cx_left", "cy"):
    assert abs(getattr(a, name) / getattr(b, name) - 1) < 1e-6, (name, getattr(a, name), getattr(b, name))
assert abs(a.baseline / 90 - 1) < 0.002, a.baseline
print(a)
PYTHON
}
# Arguments: a command. Writes a video and images of all formats, and reads them.
use_formats() (
  cd "$work"
  "$@" match l r --disparities 112 --color color.mp4 --quiet
  "$@" match color.mp4 color.mp4 --disparities 8 -o "$(mktemp -d)" | grep '2 frames'
  for format in tiff webp jp2; do
    "$@" match l/0.png r/0.png --disparities 112 --color "color.$format" --quiet
    "$@" match "color.$format" "color.$format" --disparities 8 -o again.pfm --quiet
  done
)
# Arguments: a Python with the package, a command. Calibrates as the README's command did, and uses files of all formats.
use_command() {
  (cd "$work" && "${@:2}" calibrate --left 'left??.pgm' --right 'right??.pgm' --board chessboard:9x6:25mm -o own.yml >/dev/null &&
    same_rigs native.yml own.yml "$1")
  use_formats "${@:2}"
}
use_package() { use_command "$1" "$1" -m stereopsis; }

# The first build compiles everything. ccache keeps its objects for builds with the same options, and for another run of this script.
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ccache >/dev/null
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CXXFLAGS=-fpch-preprocess CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1 CCACHE_DIR=/root/ccache
export STEREOPSIS_X86_MARCH=${STEREOPSIS_X86_MARCH-x86-64-v2}  # ./dev packages-test runs packages for older processors
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
bash -c "$(readme './dev demo')"
passed "./dev demo"
export PATH=$sources/build/release/bin:$PATH
rm -rf "$work" && mkdir -p "$work"/{l,r}
python3 tests/systems/boards.py "$work"
for i in 0 1; do for side in left right; do cp "demo/scene/$side.png" "$work/${side:0:1}/$i.png"; done; done
match=$(readme 'stereopsis match left.png right.png -o') calibrate=$(readme 'stereopsis calibrate') raw=$(readme 'stereopsis match left.png right.png --calib')
(cd demo/scene && bash -c "$match")
passed "$match"
(cd "$work" && bash -c "${calibrate//jpg/pgm}" && mv rig.yml native.yml)
passed "$calibrate"
(cd "$work" && cp native.yml rig.yml && cp left00.pgm left.pgm && cp right00.pgm right.pgm && bash -c "${raw//.png/.pgm}")
passed "$raw"
use_formats stereopsis
passed "a video, TIFF, WebP and JPEG 2000 are written and read"
stereopsis --version --verbose | tee "$work/parts.txt"
if grep -E '^ *(calibrate|charuco|files|OpenCL|command|C interface).* off ' "$work/parts.txt"; then
  echo "user: the parts above are off, although ./dev installed what they need" && exit 1
fi
passed "no part is off"

./dev setup python3-venv python3-dev
python3 -m venv "$work/venv"
line=$(readme 'pip install -v')
PATH=$work/venv/bin:$PATH bash -c "${line%%  #*} -q"
use_package "$work/venv/bin/python"
passed "pip install '.[opencv]', with rigs and videos by cv2"

cmake --install build/release --prefix "$work/prefix" >/dev/null
use_command "$work/venv/bin/python" "$work/prefix/bin/stereopsis"
cmake -S examples -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/examples" >/dev/null
passed "cmake --install, its command, and the examples by find_package"

./dev wheel >"$work/wheel.log" 2>&1 || { tail -n 30 "$work/wheel.log"; exit 1; }
python3 -m venv "$work/wheel"
for wheel in dist/*.whl; do
  if "$work/wheel/bin/pip" install -q "${wheel}[opencv,view]" 2>/dev/null; then break; fi  # others are for other versions of Python
done
use_package "$work/wheel/bin/python"
"$work/wheel/bin/python" -m stereopsis view --help >/dev/null
"$work/wheel/bin/python" -c 'import stereopsis.view.run, websockets'
passed "the wheel with [opencv,view]"

./dev packages >"$work/packages.log" 2>&1 || { tail -n 30 "$work/packages.log"; exit 1; }
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./dist/*.deb >/dev/null
use_command /usr/bin/python3 /usr/bin/stereopsis
passed "the Debian packages"
echo "$steps passed, 0 failed, 0 skipped"
