"""Conan's recipe, for a checkout: `conan create packages/conan`. CUDA is left out; OpenCL is opened at run time."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

SOURCES = ("CMakeLists.txt", "CHANGELOG.md", "LICENSE", "apps/*", "cmake/*", "include/*", "packages/*", "python/stereopsis/commands/*", "src/*",
           "training/weights/*")


class Stereopsis(ConanFile):
    name = "stereopsis"
    license = "Apache-2.0"
    description = "Dense stereo matching in real time"
    topics = ("stereo", "disparity", "depth", "computer-vision")
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "tiff": [True, False]}
    default_options = {"shared": False, "tiff": True}

    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"project\(stereopsis VERSION ([0-9.]+)", load(self, os.path.join(self._checkout(), "CMakeLists.txt")))[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, self._checkout(), self.export_sources_folder)

    def requirements(self):
        for reference in ("highway/1.2.0", "onetbb/2021.12.0", "libpng/1.6.43", "libjpeg-turbo/3.0.2", "yaml-cpp/0.8.0", "pugixml/1.14"):
            self.requires(reference)
        for reference in ("cli11/2.4.1", "fmt/10.2.1", "nlohmann_json/3.11.3"):  # compiled in
            self.requires(reference, headers=True, libs=True, visible=False)
        if self.options.tiff:
            self.requires("libtiff/4.6.0")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(
            BUILD_SHARED_LIBS=bool(self.options.shared),
            STEREOPSIS_TIFF=bool(self.options.tiff),
            **dict.fromkeys(("STEREOPSIS_TESTS", "STEREOPSIS_CUDA", "STEREOPSIS_OPENCV", "STEREOPSIS_WEBP", "STEREOPSIS_JPEG2000"), "OFF"),
        )
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    # The project's own files for CMake serve users, with the targets that its documentation names.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "stereopsis")]
