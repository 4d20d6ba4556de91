# A port for a checkout: vcpkg install stereopsis --overlay-ports=packages/vcpkg. CUDA is left out; OpenCL is opened at run time.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DSTEREOPSIS_CUDA=OFF
        -DSTEREOPSIS_OPENCV=OFF
        -DSTEREOPSIS_WEBP=OFF
        -DSTEREOPSIS_JPEG2000=OFF
        -DSTEREOPSIS_X86_MARCH=
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/stereopsis)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES stereopsis AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
