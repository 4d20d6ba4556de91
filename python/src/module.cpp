// stereopsis._native: the library's bindings for Python. The package's Python code is in python/stereopsis/.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>

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

// The exception of a Python function that the library called; nothing where the error is the library's own.
nanobind::object cause_of(const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const RaisedInPython& raised) {
    return raised.exception();
  } catch (const std::exception& nested) {
    return cause_of(nested);
  } catch (...) {  // thrown by a function that is not Python's
  }
  return {};
}

nanobind::object error_class(ErrorCategory category) {
  return nanobind::module_::import_("stereopsis._errors").attr(class_of(category));
}

// A sentence may quote lines, a file's bytes, or a part of a character.
nanobind::object decoded(std::string sentence) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  return nanobind::steal(PyUnicode_DecodeUTF8(sentence.data(), static_cast<Py_ssize_t>(sentence.size()), "replace"));
}

// An error of the package, which a function of the user raised, stays what it is, and so do KeyboardInterrupt and
// SystemExit, which are no Exception.
bool passes(nanobind::handle cause) {
  const nanobind::object own = nanobind::module_::import_("stereopsis._errors").attr("Error");
  return PyObject_IsInstance(cause.ptr(), PyExc_Exception) == 0 || PyObject_IsInstance(cause.ptr(), own.ptr()) == 1;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    nanobind::object cause = cause_of(error);
    if (cause.is_valid() && passes(cause)) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
      return;
    }
    const nanobind::object type = error_class(error.category());
    nanobind::object raised = type(decoded(error.what()));
    if (cause.is_valid()) PyException_SetCause(raised.ptr(), cause.release().ptr());
    PyErr_SetObject(type.ptr(), raised.ptr());
  } catch (const std::filesystem::filesystem_error& error) {
    const nanobind::object type = error_class(ErrorCategory::file);
    PyErr_SetObject(type.ptr(),
                    type(decoded(error.path1().string() + " cannot be used: " + error.code().message())).ptr());
  }
}

}  // namespace
}  // namespace stereopsis::python

NB_MODULE(_native, m) {
  nanobind::set_leak_warnings(false);  // a pipeline and a stage of its own may keep each other
  m.doc() = "The compiled functions and classes. Programs use the names of the package stereopsis instead.";
  m.attr("version") = STEREOPSIS_VERSION;
  nanobind::register_exception_translator(stereopsis::python::translate);
  stereopsis::python::bind_rig(m);
  stereopsis::python::bind_obstacles(m);
  stereopsis::python::bind_registration(m);
  stereopsis::python::bind_pipeline(m);
  stereopsis::python::bind_device_arrays(m);
  stereopsis::python::bind_refinement(m);
  stereopsis::python::bind_rows(m);
  stereopsis::python::bind_seeds(m);
  stereopsis::python::bind_run(m);
  stereopsis::python::bind_request(m);
  stereopsis::python::bind_matcher(m);
  stereopsis::python::bind_files(m);
  stereopsis::python::bind_sources(m);
  stereopsis::python::bind_scenes(m);
  stereopsis::python::bind_command(m);
}
