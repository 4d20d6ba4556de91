# The SIMD targets that Highway compiles all code for. `all`: every target from the static baseline on, for unknown
# machines. `native`: the baseline and the best target of this machine, for developers. `static`: the baseline.
set(STEREOPSIS_SIMD_TARGETS all CACHE STRING "SIMD targets: all, native (the baseline and this machine's best) or static")
set_property(CACHE STEREOPSIS_SIMD_TARGETS PROPERTY STRINGS all native static)

# Sets `result` to the bits of the targets that are neither the baseline nor this machine's best.
function(stereopsis_simd_targets_to_spare result)
  get_directory_property(options COMPILE_OPTIONS)
  get_directory_property(definitions COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND -D)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/simd_targets.cpp)
  file(WRITE ${source} [[
    #include <hwy/targets.h>
    #include <cstdio>
    int main() {
      const long long usable = hwy::SupportedTargets() & HWY_TARGETS, best = usable & -usable;
      std::printf("%lld", static_cast<long long>(HWY_TARGETS) & ~(HWY_STATIC_TARGET | best));
    }]])
  try_run(ran compiled ${CMAKE_CURRENT_BINARY_DIR}/simd_targets ${source}
    COMPILE_DEFINITIONS ${options} ${definitions} LINK_LIBRARIES hwy::hwy COMPILE_OUTPUT_VARIABLE said RUN_OUTPUT_VARIABLE bits)
  if(NOT compiled OR NOT ran EQUAL 0)
    message(FATAL_ERROR "This machine's SIMD targets can't be told; set STEREOPSIS_SIMD_TARGETS to all or static\n${said}")
  endif()
  set(${result} ${bits} PARENT_SCOPE)
  unset(ran CACHE)  # another build of the same folder may be on another machine
  unset(compiled CACHE)
endfunction()

if(STEREOPSIS_SIMD_TARGETS STREQUAL static)
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
elseif(STEREOPSIS_SIMD_TARGETS STREQUAL native AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CROSSCOMPILING)
  stereopsis_simd_targets_to_spare(spare)
  if(spare)
    add_compile_definitions(HWY_DISABLED_TARGETS=${spare})
  endif()
elseif(NOT STEREOPSIS_SIMD_TARGETS MATCHES "^(all|native)$")
  message(FATAL_ERROR "STEREOPSIS_SIMD_TARGETS is ${STEREOPSIS_SIMD_TARGETS}; it must be all, native or static")
endif()

# NEON. Vectors of SVE have no size that is known here, so that no array or struct can hold them, and some do.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  include(CheckCXXSymbolExists)
  set(CMAKE_REQUIRED_LIBRARIES hwy::hwy)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nothing is linked
  set(disabled HWY_SVE|HWY_SVE2)
  foreach(target HWY_SVE_256 HWY_SVE2_128)
    check_cxx_symbol_exists(${target} hwy/detect_targets.h ${target}_EXISTS)  # not in Highway 0.16
    if(${target}_EXISTS)
      string(APPEND disabled |${target})
    endif()
  endforeach()
  add_compile_definitions("HWY_DISABLED_TARGETS=(${disabled})")
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
endif()
