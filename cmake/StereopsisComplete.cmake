# `cmake --install` after a partial build, such as that of ./dev demo: what is installed is built first, so that a prefix is whole
# or untouched. StereopsisInstall.cmake defines the target.
install(CODE "
  execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --config \"\${CMAKE_INSTALL_CONFIG_NAME}\" --target stereopsis_installed
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR \"\${output}\\nNothing was installed, because the build above failed; build again with: cmake --build ${PROJECT_BINARY_DIR}\")
  endif()" ALL_COMPONENTS)
