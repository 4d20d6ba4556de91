// stereopsis._native: the library as Python sees it. What is Python's own is in python/stereopsis/.
#include <nanobind/nanobind.h>

#include <exception>
#include <utility>

#include "bindings.hpp"
#include "stereopsis/error.hpp"
#include "user_stage.hpp"

namespace stereopsis::python {
namespace {

const char* class_of(ErrorCategory category) {
  switch (category) {
    case ErrorCategory::call: return "CallError";
    case ErrorCategory::file: return "FileError";
    case ErrorCategory::format: return "FormatError";
    case ErrorCategory::unsupported: return "UnsupportedError";
    case ErrorCategory::memory: return "OutOfMemoryError";
    default: return "DeviceError";
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const auto type = nanobind::module_::import_("stereopsis._errors").attr(class_of(error.category()));
    nanobind::object raised = type(error.what());
    if (nanobind::object cause = std::exchange(cause_of_failure(), nanobind::object()); cause.is_valid())
      PyException_SetCause(raised.ptr(), cause.release().ptr());
    PyErr_SetObject(type.ptr(), raised.ptr());
  }
}

}  // namespace
}  // namespace stereopsis::python

NB_MODULE(_native, m) {
  nanobind::set_leak_warnings(false);  // a pipeline and a stage of its own may keep each other
  m.doc() = "The library's functions and classes; use those of stereopsis.";
  m.attr("version") = STEREOPSIS_VERSION;
  nanobind::register_exception_translator(stereopsis::python::translate);
  stereopsis::python::bind_rig(m);
  stereopsis::python::bind_pipeline(m);
  stereopsis::python::bind_device_arrays(m);
  stereopsis::python::bind_matcher(m);
  stereopsis::python::bind_files(m);
  stereopsis::python::bind_scenes(m);
}
