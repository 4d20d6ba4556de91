// Stages of one's own, in Python.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::python {

// `function` is called with a stereopsis.StageCall; see Pipeline.set_stage.
void set_stage(Pipeline& pipeline, const std::string& slot, nanobind::handle function, const std::string& name,
               const std::string& makes, double largest, const std::optional<std::string>& takes,
               nanobind::handle required_input);

// `function` is called with a stereopsis.StageCall, and writes the disparity and, if it is requested, the confidence.
void set_method(Pipeline& pipeline, nanobind::handle function, const std::string& name);

// The device of the matcher with which this thread enqueues a pair.
std::string& device_of_call();

// Returns a reference that any thread may drop. Called under the GIL.
std::shared_ptr<nanobind::object> shared_object(nanobind::handle object);

// Returns the library's category of an exception of the package, and nothing for other exceptions.
std::optional<ErrorCategory> category_of(nanobind::handle exception);

// A Python exception on its way through the library, which nests it in an Error. Made under the GIL; any thread may destroy it.
class RaisedInPython : public std::runtime_error {
 public:
  explicit RaisedInPython(nanobind::python_error& error);

  const nanobind::object& exception() const { return *exception_; }

 private:
  std::shared_ptr<nanobind::object> exception_;
};

}  // namespace stereopsis::python
