# The portable kernels, stages/*/*.cl and fused/*/*.cl, become part of the library: as text for OpenCL, which compiles
# at run time, and as machine code for CUDA. A .cl file lists its instances in lines "// instance NAME: CONSTANT=VALUE …".
#
# As a script (cmake -P), writes one of the generated files: -D MODE=text|cuda -D OUT=… -D SRC=… -D FILES=…

if(CMAKE_SCRIPT_MODE_FILE)
  if(MODE STREQUAL text)
    set(out "#include \"device/gpu/sources.hpp\"\n\nconst std::vector<stereopsis::gpu::SourceFile>& stereopsis::gpu::source_files() {\n")
    string(APPEND out "  static const std::vector<SourceFile> files = {\n")
    foreach(file ${FILES})
      file(READ ${SRC}/${file} lines)
      string(APPEND out "{\"${file}\", R\"kernel(${lines})kernel\"},\n")
    endforeach()
    string(APPEND out "  };\n  return files;\n}\n")
  else()
    get_filename_component(name ${FILES} NAME_WE)
    set(out "#include \"device/gpu/vocabulary.h\"\n")
    file(STRINGS ${SRC}/${FILES} instances REGEX "^// instance ")
    foreach(line ${instances})
      string(REGEX MATCH "^// instance ([a-z0-9_]+):(.*)$" all "${line}")
      set(instance ${CMAKE_MATCH_1})
      string(REGEX MATCHALL "[^ ]+" constants "${CMAKE_MATCH_2}")
      string(APPEND out "\nnamespace ${name}_${instance} {\n#define INSTANCE ${instance}\n")
      foreach(constant ${constants})
        string(REPLACE "=" " " define "${constant}")
        string(APPEND out "#define ${define}\n")
      endforeach()
      string(APPEND out "#include \"${FILES}\"\n#undef INSTANCE\n")
      foreach(constant ${constants})
        string(REGEX REPLACE "=.*" "" constant "${constant}")
        string(APPEND out "#undef ${constant}\n")
      endforeach()
      string(APPEND out "}\n")
    endforeach()
  endif()
  file(WRITE ${OUT} "${out}")
  return()
endif()

set(kernel_source_dir ${PROJECT_SOURCE_DIR}/src)
file(GLOB kernels RELATIVE ${kernel_source_dir} CONFIGURE_DEPENDS
  ${kernel_source_dir}/stages/*/*.cl ${kernel_source_dir}/fused/*/*.cl ${kernel_source_dir}/device/gpu/*.cl)
file(GLOB tuned_kernels RELATIVE ${kernel_source_dir} CONFIGURE_DEPENDS
  ${kernel_source_dir}/stages/*/*_cuda.cu ${kernel_source_dir}/fused/*/*_cuda.cu)
file(GLOB kernel_headers RELATIVE ${kernel_source_dir} CONFIGURE_DEPENDS
  ${kernel_source_dir}/stages/*/*.cl.h ${kernel_source_dir}/device/gpu/*.cl.h ${kernel_source_dir}/device/gpu/vocabulary.h)
set(kernel_files ${kernels} ${kernel_headers})
list(TRANSFORM kernel_files PREPEND ${kernel_source_dir}/ OUTPUT_VARIABLE kernel_paths)
set(kernel_dir ${PROJECT_BINARY_DIR}/kernels)
set(STEREOPSIS_KERNELS "" CACHE STRING
  "The folder where another build of these sources for the same architectures has its CUDA kernels, to take them instead of compiling them again; none: no kernels")

find_program(STEREOPSIS_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda/bin)
find_program(STEREOPSIS_ZSTD zstd)
find_path(STEREOPSIS_ZSTD_HEADERS zstd.h)
find_library(STEREOPSIS_ZSTD_LIBRARY zstd)
find_path(STEREOPSIS_OPENCL_HEADERS CL/cl.h)
mark_as_advanced(STEREOPSIS_NVCC STEREOPSIS_ZSTD STEREOPSIS_ZSTD_HEADERS STEREOPSIS_ZSTD_LIBRARY STEREOPSIS_OPENCL_HEADERS)

# Sets `result` to whether an option that is AUTO, ON or OFF holds, given what it needs. The thread sanitizer does not see
# what threads of others do: AUTO is OFF there.
function(stereopsis_wants result option need what)
  set(${result} OFF PARENT_SCOPE)
  if(${option} STREQUAL AUTO AND need AND NOT STEREOPSIS_SANITIZE MATCHES thread)
    set(${result} ON PARENT_SCOPE)
  elseif(NOT ${option} STREQUAL AUTO AND ${option})
    if(NOT need)
      message(FATAL_ERROR "${option} is ON, but ${what} was not found; install it or set ${option} to AUTO or OFF")
    endif()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

function(stereopsis_kernel_text target)
  add_custom_command(OUTPUT ${kernel_dir}/source_files.cpp
    COMMAND ${CMAKE_COMMAND} -D MODE=text -D OUT=${kernel_dir}/source_files.cpp -D SRC=${kernel_source_dir} "-DFILES=${kernel_files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/StereopsisKernels.cmake
    DEPENDS ${kernel_paths} ${PROJECT_SOURCE_DIR}/cmake/StereopsisKernels.cmake VERBATIM)
  target_sources(${target} PRIVATE ${kernel_dir}/source_files.cpp)
endfunction()

# Adds a fat binary to what stereopsis_kernel_machine_code puts into the library; the arguments are what makes it.
macro(stereopsis_embed name)
  set(fatbin ${kernel_dir}/${name}.fatbin)
  if(STEREOPSIS_KERNELS)
    set(fatbin ${STEREOPSIS_KERNELS}/${name}.fatbin)
    if(NOT EXISTS ${fatbin})
      message(FATAL_ERROR "STEREOPSIS_KERNELS has no ${fatbin}; build the library there first, or set STEREOPSIS_KERNELS to nothing")
    endif()
  else()
    add_custom_command(OUTPUT ${fatbin} ${ARGN} VERBATIM)
  endif()
  set(packed ${kernel_dir}/${name}.zst)
  add_custom_command(OUTPUT ${packed} COMMAND ${STEREOPSIS_ZSTD} -q -f -${level} --long=27 -o ${packed} ${fatbin} DEPENDS ${fatbin} VERBATIM)
  list(APPEND fatbins ${packed})
  string(APPEND declarations "STEREOPSIS_EMBED(stereopsis_kernels_${name}, \"${packed}\")\n")
  string(APPEND entries "{\"${name}\", {stereopsis_kernels_${name}, stereopsis_kernels_${name}_end}},\n    ")
endmacro()

# Sets `result` to the list of STEREOPSIS_CUDA_ARCHITECTURES; `without_gpu` is what `native` is where there is none.
function(stereopsis_cuda_architectures without_gpu result)
  set(list ${STEREOPSIS_CUDA_ARCHITECTURES})
  if(list STREQUAL all)
    set(list 75 80 86 87 89 90 100 110 120)
  elseif(list STREQUAL native)
    set(list ${without_gpu})
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      RESULT_VARIABLE failed OUTPUT_VARIABLE capabilities ERROR_QUIET)
    if(NOT failed AND capabilities MATCHES "^[0-9.\n]+$")
      string(REPLACE "." "" capabilities "${capabilities}")
      string(REGEX MATCHALL "[0-9]+" list "${capabilities}")
    endif()
  endif()
  list(REMOVE_DUPLICATES list)
  list(SORT list COMPARE NATURAL)
  set(${result} ${list} PARENT_SCOPE)
endfunction()

# Sets `real` and `virtual` to the architectures of `list`, such as 90 (machine code) and 90-virtual (PTX), that are at
# least `least` and that nvcc knows. PTX of the oldest and the newest is added, which serves the GPUs in between and
# later ones.
function(stereopsis_cuda_code least list real virtual)
  execute_process(COMMAND ${STEREOPSIS_NVCC} --list-gpu-code OUTPUT_VARIABLE known)
  set(machine "")
  set(ptx "")
  foreach(entry ${list})
    if(NOT entry MATCHES "^([0-9]+)(-virtual)?$")
      message(FATAL_ERROR "STEREOPSIS_CUDA_ARCHITECTURES has '${entry}'; it must be all, native, or a list of numbers as 90 or 90-virtual")
    endif()
    set(architecture ${CMAKE_MATCH_1})
    set(kind ${CMAKE_MATCH_2})
    if(architecture LESS least OR NOT known MATCHES "sm_${architecture}\n")
      continue()
    endif()
    if(kind)
      list(APPEND ptx ${architecture})
    else()
      list(APPEND machine ${architecture})
    endif()
  endforeach()
  if(machine)
    list(GET machine 0 oldest)
    list(GET machine -1 newest)
    list(APPEND ptx ${oldest} ${newest})
    list(REMOVE_DUPLICATES ptx)
  endif()
  set(${real} ${machine} PARENT_SCOPE)
  set(${virtual} ${ptx} PARENT_SCOPE)
endfunction()

# The options of nvcc for them.
function(stereopsis_nvcc_code result real virtual)
  set(code "")
  foreach(architecture ${real})
    list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  foreach(architecture ${virtual})
    list(APPEND code -gencode arch=compute_${architecture},code=compute_${architecture})
  endforeach()
  set(${result} ${code} PARENT_SCOPE)
endfunction()

function(stereopsis_kernel_machine_code target)
  # Without a GPU each kernel is compiled once, to PTX, which the driver of any device that runs it completes.
  stereopsis_cuda_architectures(75-virtual architectures)
  stereopsis_cuda_code(75 "${architectures}" real virtual)
  if(NOT real AND NOT virtual)
    message(FATAL_ERROR "${STEREOPSIS_NVCC} knows nothing of CUDA architectures ${architectures}; set STEREOPSIS_CUDA_ARCHITECTURES to all, or STEREOPSIS_CUDA to OFF")
  endif()
  stereopsis_nvcc_code(code "${real}" "${virtual}")
  stereopsis_cuda_architectures(90-virtual architectures)
  stereopsis_cuda_code(80 "${architectures}" tuned_real tuned_virtual)
  message(STATUS "CUDA machine code for [${real}] and PTX for [${virtual}]; of tuned kernels [${tuned_real}] and [${tuned_virtual}]")

  # Kernels that no GPU here runs are for tests of the host's side: the compiler takes the shortest way. Packages are small instead.
  set(how -fatbin -no-compress -fmad=false -ccbin ${STEREOPSIS_NVCC_HOST} -I${kernel_source_dir})
  set(level 19)
  set(why_none "STEREOPSIS_KERNELS is none")
  if(STEREOPSIS_CUDA_ARCHITECTURES STREQUAL native)
    set(level 3)
    execute_process(COMMAND ${STEREOPSIS_NVCC} --help OUTPUT_VARIABLE help)
    if(NOT real AND NOT STEREOPSIS_TESTS AND NOT STEREOPSIS_KERNELS)
      set(STEREOPSIS_KERNELS none)
      set(why_none "no GPU is here: for another machine, give -DSTEREOPSIS_CUDA_ARCHITECTURES=90 or all")
    elseif(NOT real AND help MATCHES "Ofast-compile")
      list(APPEND how --Ofast-compile=max)
      set(STEREOPSIS_CUDA_REMARK "kernels for tests alone, as no GPU is here: for another machine, give -DSTEREOPSIS_CUDA_ARCHITECTURES=90 or all" PARENT_SCOPE)
    endif()
  endif()

  if(STEREOPSIS_KERNELS STREQUAL none)
    set(STEREOPSIS_CUDA_REMARK "without kernels: ${why_none}" PARENT_SCOPE)
    foreach(list kernels tuned_kernels real virtual tuned_real tuned_virtual)
      set(${list} "")
    endforeach()
  endif()
  set(declarations "")
  set(entries "")
  foreach(file ${kernels})
    get_filename_component(name ${file} NAME_WE)
    set(cu ${kernel_dir}/${name}.cu)
    add_custom_command(OUTPUT ${cu}
      COMMAND ${CMAKE_COMMAND} -D MODE=cuda -D OUT=${cu} -D SRC=${kernel_source_dir} -DFILES=${file}
              -P ${PROJECT_SOURCE_DIR}/cmake/StereopsisKernels.cmake
      DEPENDS ${kernel_source_dir}/${file} ${PROJECT_SOURCE_DIR}/cmake/StereopsisKernels.cmake VERBATIM)
    # No contraction: the same bits everywhere.
    stereopsis_embed(${name}
      COMMAND ${STEREOPSIS_NVCC} ${how} -std=c++17 ${code} -o ${kernel_dir}/${name}.fatbin ${cu}
      DEPENDS ${cu} ${kernel_paths} COMMENT "Compiling the kernels of ${name} for CUDA")
  endforeach()

  # Tuned kernels need 8.0; what is older runs the portable ones. Lines "// variant NAME: CONSTANT=VALUE …" of a file make
  # one fat binary each, FILE_NAME.
  stereopsis_nvcc_code(code "${tuned_real}" "${tuned_virtual}")
  if(NOT code)
    set(tuned_kernels "")
  endif()
  foreach(file ${tuned_kernels})
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(folder ${kernel_source_dir}/${file} DIRECTORY)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.cuh ${folder}/*_problem.hpp ${kernel_source_dir}/stages/*/*.cl.h ${kernel_source_dir}/device/*/*.cuh
      ${kernel_source_dir}/device/gpu/vocabulary.h ${kernel_source_dir}/device/gpu/properties.hpp ${kernel_source_dir}/device/gpu/tuning.hpp)
    file(STRINGS ${kernel_source_dir}/${file} variants REGEX "^// variant ")
    if(NOT variants)
      set(variants "// variant :")
    endif()
    foreach(variant ${variants})
      string(REGEX MATCH "^// variant ([a-z0-9_]*):(.*)$" all "${variant}")
      set(full_name ${name})
      if(CMAKE_MATCH_1)
        string(APPEND full_name _${CMAKE_MATCH_1})
      endif()
      separate_arguments(constants UNIX_COMMAND "${CMAKE_MATCH_2}")
      list(TRANSFORM constants PREPEND -D)
      stereopsis_embed(${full_name}
        COMMAND ${STEREOPSIS_NVCC} ${how} -std=c++20 ${constants} ${code} -o ${kernel_dir}/${full_name}.fatbin ${kernel_source_dir}/${file}
        DEPENDS ${kernel_source_dir}/${file} ${headers} COMMENT "Compiling ${full_name} for CUDA")
    endforeach()
  endforeach()
  foreach(list real virtual tuned_real tuned_virtual)
    list(JOIN ${list} ", " ${list})
  endforeach()
  file(CONFIGURE OUTPUT ${kernel_dir}/machine_code.cpp CONTENT
"#include \"device/cuda/machine_code.hpp\"
#include \"device/system/embed.hpp\"

${declarations}
const std::vector<stereopsis::cuda::MachineCode>& stereopsis::cuda::machine_code() {
  static const std::vector<MachineCode> code = {${entries}};
  return code;
}

const stereopsis::cuda::Architectures& stereopsis::cuda::portable_architectures() {
  static const Architectures all = {{${real}}, {${virtual}}};
  return all;
}

const stereopsis::cuda::Architectures& stereopsis::cuda::tuned_architectures() {
  static const Architectures all = {{${tuned_real}}, {${tuned_virtual}}};
  return all;
}
" @ONLY)
  set_source_files_properties(${kernel_dir}/machine_code.cpp PROPERTIES OBJECT_DEPENDS "${fatbins}")
  target_sources(${target} PRIVATE ${kernel_dir}/machine_code.cpp)
endfunction()

# Sets STEREOPSIS_NVCC_HOST, in the cache, to the first host compiler that nvcc supports, or to nothing. The kernels do not
# depend on it.
function(stereopsis_find_nvcc_host)
  set(tried "${STEREOPSIS_NVCC} ${CMAKE_CXX_COMPILER}")
  if(STEREOPSIS_NVCC_HOST_TRIED STREQUAL tried)
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/nvcc_host.cu)
  file(WRITE ${source} "#include <cstdint>\n")
  set(STEREOPSIS_NVCC_HOST "" CACHE INTERNAL "The host compiler of nvcc")
  foreach(compiler ${CMAKE_CXX_COMPILER} g++-14 g++-13 g++-12 g++-11)
    execute_process(COMMAND ${STEREOPSIS_NVCC} -fatbin -std=c++20 -ccbin ${compiler} ${source} -o ${source}.fatbin
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(STEREOPSIS_NVCC_HOST ${compiler} CACHE INTERNAL "The host compiler of nvcc")
      break()
    endif()
  endforeach()
  set(STEREOPSIS_NVCC_HOST_TRIED "${tried}" CACHE INTERNAL "What STEREOPSIS_NVCC_HOST was found for")
endfunction()

# The GPU layer of the library: called where the target is made.
function(stereopsis_gpu target)
  set(nvcc "")
  set(missing "nvcc of CUDA 12 or later, and zstd and libzstd-dev")
  if(STEREOPSIS_NVCC)
    execute_process(COMMAND ${STEREOPSIS_NVCC} --version OUTPUT_VARIABLE version)
    if(version MATCHES "release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 12)
      stereopsis_find_nvcc_host()
      set(nvcc ${STEREOPSIS_NVCC_HOST})
      if(NOT nvcc)
        set(missing "a compiler that nvcc supports, such as g++-13")
        message(WARNING "nvcc supports neither ${CMAKE_CXX_COMPILER} nor g++-11 to g++-14 as its host compiler: install one of these, or there is no CUDA")
      endif()
    elseif(NOT STEREOPSIS_CUDA STREQUAL OFF)
      message(WARNING "${STEREOPSIS_NVCC} is older than CUDA 12: install a later one, or there is no CUDA")
    endif()
    if(nvcc AND NOT (STEREOPSIS_ZSTD AND STEREOPSIS_ZSTD_HEADERS AND STEREOPSIS_ZSTD_LIBRARY))
      set(absent "")
      foreach(part IN ITEMS "STEREOPSIS_ZSTD the program zstd" "STEREOPSIS_ZSTD_HEADERS zstd.h" "STEREOPSIS_ZSTD_LIBRARY libzstd")
        string(REGEX MATCH "^[A-Z_]+" variable "${part}")
        string(REGEX REPLACE "^[A-Z_]+ " "" part "${part}")
        if(NOT ${variable})
          list(APPEND absent "${part}")
        endif()
      endforeach()
      list(JOIN absent ", " absent)
      set(missing "zstd and libzstd-dev")
      message(WARNING "nvcc is here, but not ${absent}, which CUDA kernels are packed with: install zstd and libzstd-dev, or there is no CUDA")
      set(nvcc "")
    endif()
  endif()
  stereopsis_wants(cuda STEREOPSIS_CUDA "${nvcc}" "nvcc of CUDA 12 or later, with zstd, its library and headers")
  set(STEREOPSIS_HAS_CUDA ${cuda} CACHE INTERNAL "Whether this build has CUDA")
  stereopsis_why_off(why STEREOPSIS_CUDA "${missing}")
  if(cuda)
    target_sources(${target} PRIVATE device/cuda/cuda_api.cpp device/cuda/cuda_device.cpp device/cuda/machine_code.cpp)
    target_include_directories(${target} SYSTEM PRIVATE ${STEREOPSIS_ZSTD_HEADERS})
    stereopsis_link_plain(${target} zstd ${STEREOPSIS_ZSTD_LIBRARY})
    target_compile_definitions(${target} PRIVATE STEREOPSIS_CUDA)
    stereopsis_kernel_machine_code(${target})
  endif()
  stereopsis_part("CUDA, by nvcc" ${cuda} "${why}" ${STEREOPSIS_CUDA_REMARK})
  stereopsis_wants(opencl STEREOPSIS_OPENCL "${STEREOPSIS_OPENCL_HEADERS}" "CL/cl.h (package opencl-headers)")
  if(opencl)
    target_sources(${target} PRIVATE device/gpu/sources.cpp device/opencl/opencl_api.cpp device/opencl/opencl_device.cpp)
    target_compile_definitions(${target} PRIVATE STEREOPSIS_OPENCL)
    target_include_directories(${target} SYSTEM PRIVATE ${STEREOPSIS_OPENCL_HEADERS})
    stereopsis_kernel_text(${target})
  endif()
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set(STEREOPSIS_HAS_OPENCL ${opencl} PARENT_SCOPE)
  stereopsis_why_off(why STEREOPSIS_OPENCL opencl-headers)
  stereopsis_part("OpenCL" ${opencl} "${why}")
endfunction()
