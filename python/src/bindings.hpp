// The parts of the module, each in its file, and the conversions between types of C++ and Python that they share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace stereopsis::python {

namespace nb = nanobind;
using namespace nb::literals;

// The slots of a class whose constructor names the argument that is nearest to an unknown keyword argument.
extern PyType_Slot checked_constructor[];

void bind_pipeline(nb::module_& m);
void bind_device_arrays(nb::module_& m);
void bind_matcher(nb::module_& m);
void bind_rig(nb::module_& m);
void bind_obstacles(nb::module_& m);
void bind_refinement(nb::module_& m);
void bind_request(nb::module_& m);
void bind_registration(nb::module_& m);
void bind_files(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_seeds(nb::module_& m);
void bind_run(nb::module_& m);
void bind_sources(nb::module_& m);
void bind_scenes(nb::module_& m);
void bind_command(nb::module_& m);

}  // namespace stereopsis::python
