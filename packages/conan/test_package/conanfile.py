"""Builds the examples in C++ and C on Conan's package, and runs them and the command."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class StereopsisTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str, run=True)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        programs = self.cpp.build.bindir
        self.run("stereopsis synth -o scene --width 160 --height 120 --disparities 32", env="conanrun")
        self.run(f"{os.path.join(programs, 'consumer')} scene/left.png scene/right.png disparity.pfm", env="conanrun")
        self.run("stereopsis evaluate disparity.pfm --truth scene/disp_left.pfm", env="conanrun")
        with open("grey.pgm", "wb") as file:
            file.write(b"P5\n140 90\n255\n" + bytes(range(90)) * 140)
        self.run(f"{os.path.join(programs, 'c_consumer')} grey.pgm grey.pgm c.pfm", env="conanrun")
