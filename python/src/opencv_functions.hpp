// OpenCV of the package's environment, for the command in this process.
#pragma once

#include "command/opencv.hpp"
#include "stereopsis/pair_source.hpp"
#include "user_stage.hpp"

namespace stereopsis::python {

// Calls Python, whose exception becomes an Error.
template <class Function>
auto in_python(const Function& function) {
  const nanobind::gil_scoped_acquire lock;
  try {
    return function();
  } catch (nanobind::python_error& error) {
    throw Error(category_of(error.value()).value_or(ErrorCategory::unsupported), RaisedInPython(error).what());
  }
}

// Opens videos with a function of Python, which must outlive the result.
OpenVideo opener_of(nanobind::handle open);

// `functions` is the module stereopsis._opencv, which must outlive the result.
command::OpenCv opencv_of(nanobind::handle functions);

}  // namespace stereopsis::python
