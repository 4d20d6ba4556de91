// Stages of one's own, in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "stereopsis/pipeline.hpp"

namespace stereopsis::python {

// `function` is called with a stereopsis.StageCall; see Pipeline.set_stage.
void set_stage(Pipeline& pipeline, const std::string& slot, nanobind::handle function, const std::string& name,
               const std::string& makes, double largest, const std::optional<std::string>& takes,
               nanobind::handle required_input);

// Of the matcher that this thread enqueues a pair with.
std::string& device_of_call();
// What such a function raised last, until it is told. Under the GIL.
nanobind::object& cause_of_failure();

}  // namespace stereopsis::python
