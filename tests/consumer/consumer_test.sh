#!/usr/bin/env bash
# Installs the build, builds the example against it with find_package and with pkg-config, and runs both on a scene.
# consumer_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/stereopsis" synth -o "$work/scene" --width 160 --height 120 --disparities 32

cmake -G Ninja -S "$source/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DEXAMPLE="$source/examples/match.cpp" >/dev/null
cmake --build "$work/consumer" >/dev/null
"$work/consumer/consumer" "$work/scene/left.png" "$work/scene/right.png" "$work/cmake.pfm"

export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name stereopsis-io.pc)")
c++ -std=c++20 "$source/examples/match.cpp" -o "$work/with_pkg_config" $(pkg-config --cflags --static --libs stereopsis-io)
"$work/with_pkg_config" "$work/scene/left.png" "$work/scene/right.png" "$work/pkg_config.pfm"
cmp "$work/cmake.pfm" "$work/pkg_config.pfm"
