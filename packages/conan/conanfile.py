"""Conan's recipe, for a checkout: `conan create packages/conan`. CUDA is left out; OpenCL is opened at run time.

With `-pr:h default -pr:h packages/conan/system`, the dependencies are those of the system.
"""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

SOURCES = ("CMakeLists.txt", "CHANGELOG.md", "LICENSE", "apps/*", "cmake/*", "include/*", "packages/*", "python/stereopsis/*.py", "src/*",
           "training/weights/*")
# The libraries of the dependencies, where these are the system's.
SYSTEM = {"highway": "hwy", "onetbb": "tbb", "libpng": "png", "libjpeg-turbo": "jpeg", "libtiff": "tiff", "yaml-cpp": "yaml-cpp",
          "pugixml": "pugixml"}
LEFT_OUT = ("STEREOPSIS_CUDA", "STEREOPSIS_OPENCV", "STEREOPSIS_WEBP", "STEREOPSIS_JPEG2000")


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
        for reference in ("highway/[>=1.0 <2]", "onetbb/[>=2021 <2023]", "libpng/[>=1.6 <2]", "libjpeg-turbo/[>=2.1 <4]",
                          "yaml-cpp/[>=0.7 <1]", "pugixml/[>=1.12 <2]"):
            self.requires(reference)
        for reference in ("cli11/[>=2.1 <3]", "fmt/[>=9 <12]", "nlohmann_json/[>=3.10 <4]"):  # compiled in
            self.requires(reference, headers=True, libs=True, visible=False)
        if self.options.tiff:
            self.requires("libtiff/[>=4.3 <5]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        dependencies = CMakeDeps(self)  # Conan's names of Highway are not those of its own package
        dependencies.set_property("highway", "cmake_file_name", "hwy")
        dependencies.set_property("highway::hwy", "cmake_target_name", "hwy::hwy")
        dependencies.generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(STEREOPSIS_TIFF=bool(self.options.tiff), STEREOPSIS_X86_MARCH="", **dict.fromkeys(LEFT_OUT, "OFF"))
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        for made_by_conan in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", made_by_conan))

    # The targets are those of the project's own files for CMake.
    def package_info(self):
        packaged = {dependency.ref.name for _, dependency in self.dependencies.filter({"direct": True, "build": False}).items()}

        def library(component, name, requires):
            info = self.cpp_info.components[component]
            info.set_property("cmake_target_name", f"stereopsis::{component}")
            info.libs = [name]
            for required in requires:
                package = required.partition("::")[0]
                if package in SYSTEM and package not in packaged:
                    info.system_libs.append(SYSTEM[package])
                else:
                    info.requires.append(required)
            return info

        self.cpp_info.set_property("cmake_file_name", "stereopsis")
        # libstereopsis.so is the C interface.
        core = library("stereopsis", "stereopsis_core" if self.options.shared else "libstereopsis.a", ["highway::highway", "onetbb::onetbb"])
        core.defines = ["STEREOPSIS_SIMD"]
        core.system_libs += ["dl", "m", "pthread"]
        library("tools", "stereopsis_tools", ["stereopsis", "onetbb::onetbb"])
        files = ["libpng::libpng", "libjpeg-turbo::libjpeg-turbo", "yaml-cpp::yaml-cpp", "pugixml::pugixml"]
        if self.options.tiff:
            files.append("libtiff::libtiff")
        library("io", "stereopsis_io", ["tools", *files])
        library("c", "stereopsis", [])
