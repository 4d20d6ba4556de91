// Methods from outside the library: networks (onnx:FILE) and programs (program:CMD). A program that contains the command,
// such as the Python package, makes pipelines of them. The library's own steps of such a pipeline run on the CPU.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "command/common.hpp"

namespace stereopsis::command {

// Returns the pipeline of a method, or of a pipeline file that names one. The method runs on `device`, as --device names
// it; 0 threads means all.
using MakeOutsideMethod = std::function<Pipeline(const std::string& what, const std::string& device, int threads)>;
// `end` ends what the methods have started, such as programs, before an interrupted process ends.
void provide_outside_methods(MakeOutsideMethod make, std::function<void()> end);
bool has_outside_methods();

// Calls `end`, for at most a second.
void end_outside_methods();

bool is_outside_method(std::string_view name);
// Returns whether the file is a pipeline of such a method. Any error in it is left to its reader.
bool is_outside_pipeline(const std::filesystem::path& file);

// Return the pipeline of a method or of a file, wherever the method is from.
Pipeline pipeline_named(const std::string& method, const DeviceOptions& device);
Pipeline pipeline_of_file(const std::filesystem::path& file, const DeviceOptions& device);
// Returns whether the pipeline has a method from outside, which has its own device.
bool has_own_device(const Pipeline& pipeline);
// Returns the options for the device of the library: the CPU beside a method from outside, which has its own device.
DeviceOptions library_device(const Pipeline& pipeline, const DeviceOptions& device);

}  // namespace stereopsis::command
