# The weights of networks, training/weights/NAME.weights, become part of the library as bytes, which the function
# NAME_file() of a namespace returns.
#
# As a script (cmake -P), writes the generated source: -D OUT=… -D NAMESPACE=… -D FILES=…

if(CMAKE_SCRIPT_MODE_FILE)
  set(out "#include <array>\n#include <cstddef>\n#include <span>\n\nnamespace stereopsis::${NAMESPACE} {\n")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND out "\nstatic constexpr unsigned char ${name}_bytes[] = {\n${bytes}};\n"
                      "std::span<const std::byte> ${name}_file() { return std::as_bytes(std::span(${name}_bytes)); }\n")
  endforeach()
  file(WRITE ${OUT} "${out}\n}  // namespace stereopsis::${NAMESPACE}\n")
  return()
endif()

function(stereopsis_weights target namespace)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/training/weights/ OUTPUT_VARIABLE files)
  list(TRANSFORM files APPEND .weights)
  set(source ${PROJECT_BINARY_DIR}/${namespace}_weights.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D OUT=${source} -D NAMESPACE=${namespace} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/StereopsisWeights.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/StereopsisWeights.cmake VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
