// Constructors of compiled classes that name the argument that is nearest to an unknown keyword argument.
#include "bindings.hpp"

namespace stereopsis::python {
namespace {

// Checks the names of the keyword arguments as the Python functions of the package do, and constructs.
PyObject* construct_checked(PyObject* type, PyObject* const* arguments, std::size_t count, PyObject* names) noexcept
    try {
  const Py_ssize_t positional = PyVectorcall_NARGS(count), named = names == nullptr ? 0 : PyTuple_Size(names);
  const nb::object values = nb::steal(PyTuple_New(positional));
  for (Py_ssize_t i = 0; i < positional; ++i)
    PyTuple_SetItem(values.ptr(), i, nb::borrow(arguments[i]).release().ptr());
  nb::dict options;
  for (Py_ssize_t i = 0; i < named; ++i)
    options[nb::borrow(PyTuple_GetItem(names, i))] = nb::borrow(arguments[positional + i]);
  if (named > 0) nb::module_::import_("stereopsis._keywords").attr("check_constructor")(nb::borrow(type), options);
  static const auto call = reinterpret_cast<ternaryfunc>(PyType_GetSlot(&PyType_Type, Py_tp_call));
  return call(type, values.ptr(), options.ptr());
} catch (nb::python_error& error) {
  error.restore();
  return nullptr;
}

#ifndef Py_tp_vectorcall
constexpr int Py_tp_vectorcall = 82;  // the number in Python 3.14; nanobind applies this slot in older versions
#endif

}  // namespace

PyType_Slot checked_constructor[] = {{Py_tp_vectorcall, reinterpret_cast<void*>(&construct_checked)}, {0, nullptr}};

}  // namespace stereopsis::python
