# find_package(stereopsis) and pkg-config for those who use the library.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stereopsis)
set(libraries stereopsis stereopsis_tools)
if(STEREOPSIS_IO)
  list(APPEND libraries stereopsis_io)
  set_target_properties(stereopsis_io PROPERTIES EXPORT_NAME io)
endif()

install(TARGETS ${libraries} EXPORT stereopsis)
install(DIRECTORY include/stereopsis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# For who builds on the build tree itself, as the Python package does.
export(EXPORT stereopsis NAMESPACE stereopsis:: FILE ${PROJECT_BINARY_DIR}/stereopsis-targets.cmake)
install(EXPORT stereopsis NAMESPACE stereopsis:: FILE stereopsis-targets.cmake DESTINATION ${package_dir})
if(STEREOPSIS_APPS)
  install(TARGETS stereopsis_command)
endif()

configure_package_config_file(cmake/stereopsis-config.cmake.in ${PROJECT_BINARY_DIR}/stereopsis-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stereopsis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stereopsis-config.cmake ${PROJECT_BINARY_DIR}/stereopsis-config-version.cmake
  DESTINATION ${package_dir})

# The installed folder may be moved: paths count from the .pc files. What a static library drags along is private.
file(RELATIVE_PATH pkgconfig_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
set(pkgconfig_private "")
if(STEREOPSIS_SIMD)
  list(APPEND pkgconfig_private libhwy tbb)
endif()
list(JOIN pkgconfig_private " " pkgconfig_core)
configure_file(cmake/stereopsis.pc.in ${PROJECT_BINARY_DIR}/stereopsis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stereopsis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(cmake/stereopsis-tools.pc.in ${PROJECT_BINARY_DIR}/stereopsis-tools.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stereopsis-tools.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(STEREOPSIS_IO)
  list(APPEND pkgconfig_private libpng libjpeg)
  if(STEREOPSIS_TIFF)
    list(APPEND pkgconfig_private libtiff-4)
  endif()
  list(JOIN pkgconfig_private " " pkgconfig_io)
  configure_file(cmake/stereopsis-io.pc.in ${PROJECT_BINARY_DIR}/stereopsis-io.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/stereopsis-io.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
