# The parts of a build, for the table at the end of configuring and for `stereopsis --version --verbose`.

# Notes a part: stereopsis_part(<name> <whether it is there> <why it is off> [<remark if it is on>]).
function(stereopsis_part name is_there why_off)
  if(is_there)
    set(state on)
    set(note "${ARGN}")
  else()
    set(state off)
    set(note "${why_off}")
  endif()
  set_property(GLOBAL APPEND PROPERTY stereopsis_parts "${name}|${state}|${note}")
endfunction()

# Sets `result` to the reason for which a part is off: its option says so, or a library is missing.
function(stereopsis_why_off result option missing)
  if("${${option}}" STREQUAL AUTO)
    set(${result} "install ${missing}, and configure again" PARENT_SCOPE)
  else()
    set(${result} "${option} is ${${option}}" PARENT_SCOPE)
  endif()
endfunction()

# Prints the table, and writes it for the command.
function(stereopsis_print_parts)
  get_property(parts GLOBAL PROPERTY stereopsis_parts)
  set(rows "")
  message(STATUS "Parts of this build:")
  foreach(part IN LISTS parts)
    string(REPLACE "|" ";" fields "${part}|")
    list(GET fields 0 name)
    list(GET fields 1 state)
    list(GET fields 2 note)
    string(LENGTH "${name}" length)
    math(EXPR missing "32 - ${length}")
    string(REPEAT " " ${missing} space)
    set(line "${name}${space}${state}")
    if(note)
      string(APPEND line "  ${note}")
    endif()
    message(STATUS "  ${line}")
    string(APPEND rows "    \"${line}\",\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/build_parts.hpp CONTENT
"// The parts of this build. CMake writes this file.
#pragma once

namespace stereopsis::command {

inline constexpr const char* build_parts[] = {
${rows}};

}  // namespace stereopsis::command
" @ONLY)
endfunction()
