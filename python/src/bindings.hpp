// The parts of the module, each in its file.
#pragma once

#include <nanobind/nanobind.h>

namespace stereopsis::python {

// The slots of a class whose constructor names the argument that is nearest to an unknown keyword argument.
extern PyType_Slot checked_constructor[];

void bind_pipeline(nanobind::module_& m);
void bind_device_arrays(nanobind::module_& m);
void bind_matcher(nanobind::module_& m);
void bind_rig(nanobind::module_& m);
void bind_obstacles(nanobind::module_& m);
void bind_refinement(nanobind::module_& m);
void bind_registration(nanobind::module_& m);
void bind_files(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_seeds(nanobind::module_& m);
void bind_run(nanobind::module_& m);
void bind_sources(nanobind::module_& m);
void bind_scenes(nanobind::module_& m);
void bind_command(nanobind::module_& m);

}  // namespace stereopsis::python
