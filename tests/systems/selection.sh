#!/usr/bin/env bash
# Builds a selection of the tests and the command in a configured folder, runs the tests, and matches a generated scene:
# tests/systems/selection.sh FOLDER [CMAKE]. It shows that another compiler or system works, in a few minutes.
set -euo pipefail
build=${1:?name a folder that CMake has configured}
programs=(core_test simd_test planning_test c_test out_of_memory_test census_test sgm_test median_test learned_features_test sgm_wta_test)
"${2:-cmake}" --build "$build" --target stereopsis_command "${programs[@]}"
for program in "${programs[@]}"; do "$build/bin/$program" --gtest_brief=1; done
"$build/bin/stereopsis" synth -o "$build/scene" --width 320 --height 240 --disparities 48
"$build/bin/stereopsis" match "$build/scene/left.png" "$build/scene/right.png" -o "$build/disparity.pfm" --disparities 48
"$build/bin/stereopsis" evaluate "$build/disparity.pfm" --truth "$build/scene/disp_left.pfm"
