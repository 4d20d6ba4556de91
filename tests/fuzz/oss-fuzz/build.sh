#!/bin/bash -eu
# Builds the fuzz targets and their seeds into $OUT, in the form of OSS-Fuzz; ./dev fuzz calls it, too. OSS-Fuzz sets SRC, WORK,
# OUT, CXX, CXXFLAGS and LIB_FUZZING_ENGINE.
for library in yaml-cpp pugixml; do
  [ -d "$SRC/$library" ] || continue  # the system's
  cmake -S "$SRC/$library" -B "$WORK/$library" -DCMAKE_INSTALL_PREFIX="$WORK/installed" -DBUILD_SHARED_LIBS=OFF -DYAML_CPP_BUILD_TOOLS=OFF
  cmake --build "$WORK/$library" --target install
done
# The readers need neither SIMD nor GPUs. The targets find copies of the system's libraries beside them.
cmake -S "$SRC/stereopsis" -B "$WORK/build" -G Ninja -DCMAKE_PREFIX_PATH="$WORK/installed" "-DCMAKE_BUILD_RPATH=\$ORIGIN/lib" \
  "-DSTEREOPSIS_FUZZING_ENGINE=$LIB_FUZZING_ENGINE" -DSTEREOPSIS_SIMD=OFF -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_OPENCL=OFF \
  -DSTEREOPSIS_OPENCV=OFF -DSTEREOPSIS_APPS=OFF -DSTEREOPSIS_C=OFF -DSTEREOPSIS_INSTALL=OFF
cmake --build "$WORK/build" --target fuzz_targets
mkdir -p "$OUT/lib"
for program in "$WORK"/build/bin/fuzz_*; do
  name=$(basename "$program") seeds=$WORK/seeds/$(basename "$program")
  cp "$program" "$OUT/"
  ldd "$program" | sed -n 's,.*=> \(/[^ ]*\) .*,\1,p' | grep -v '/lib\(c\|m\|dl\|rt\|pthread\|gcc_s\)\.so' | xargs -I{} cp -L {} "$OUT/lib/"
  "$program" --write-seeds "$seeds"
  for kept in "$SRC/stereopsis/tests/fuzz/corpus/${name#fuzz_}"/*; do [ ! -e "$kept" ] || cp "$kept" "$seeds/"; done
  python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$seeds"/*
done
