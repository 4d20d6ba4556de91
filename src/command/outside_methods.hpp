// Methods from outside the library: networks (onnx:FILE) and programs (program:CMD). A program that contains the command,
// such as the Python package, makes pipelines of them. The library's own steps of such a pipeline run on the CPU.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "command/common.hpp"

namespace stereopsis::command {

// Makes a method, or that of a pipeline file. The method runs on `device`, as --device names it; 0 threads means all.
using MakeOutsideMethod = std::function<ChosenMethod(const std::string& what, const std::string& device, int threads)>;
// `end` ends what the methods have started, such as programs, before an interrupted process ends.
void provide_outside_methods(MakeOutsideMethod make, std::function<void()> end);
bool has_outside_methods();

// Calls `end`, for at most a second.
void end_outside_methods();

bool is_outside_method(std::string_view name);
// Returns the files of a network: the network, and its description beside it. Other methods have none.
std::vector<std::filesystem::path> files_of_method(const std::string& name);
// Returns whether the file is a pipeline of such a method. Any error in it is left to its reader.
bool is_outside_pipeline(const std::filesystem::path& file);

// Return a method or that of a file, wherever it is from.
ChosenMethod method_named(const std::string& method, const DeviceOptions& device);
ChosenMethod method_of_file(const std::filesystem::path& file, const DeviceOptions& device);
// Returns whether the pipeline has a method from outside, which has its own device.
bool has_own_device(const Pipeline& pipeline);
// Returns the options for the device of the library: the CPU beside a method from outside, which has its own device.
DeviceOptions library_device(const Pipeline& pipeline, const DeviceOptions& device);

}  // namespace stereopsis::command
