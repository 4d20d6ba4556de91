# Finds Highway, as the target hwy::hwy: by its own file for CMake or, as Ubuntu 22.04's version has none, by its library.
find_package(hwy CONFIG QUIET)
if(NOT hwy_FOUND)
  find_path(HWY_INCLUDE_DIR hwy/highway.h)
  find_library(HWY_LIBRARY hwy)
  mark_as_advanced(HWY_INCLUDE_DIR HWY_LIBRARY)
  if(HWY_INCLUDE_DIR AND HWY_LIBRARY)
    add_library(hwy::hwy UNKNOWN IMPORTED)
    set_target_properties(hwy::hwy PROPERTIES IMPORTED_LOCATION ${HWY_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${HWY_INCLUDE_DIR}
                                              INTERFACE_COMPILE_DEFINITIONS HWY_SHARED_DEFINE)
    set(hwy_FOUND TRUE)
  endif()
endif()
