// The command in this process, with the networks and programs of the package as its methods.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "command/command.hpp"
#include "command/outside_methods.hpp"
#include "user_stage.hpp"
#include "command/video.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stereopsis::python {
namespace {

// Calls the function of the package that makes the pipeline of a method.
Pipeline made_by(nb::handle make, const std::string& what, const std::string& device, int threads) {
  const nb::gil_scoped_acquire lock;
  try {
    return nb::cast<Pipeline>(make(what, device, threads));
  } catch (nb::python_error& error) {
    throw Error(category_of(error.value()).value_or(ErrorCategory::unsupported), RaisedInPython(error).what());
  }
}

int run_command(std::vector<std::string> arguments, const std::filesystem::path& modules, nb::handle make,
                nb::handle end) {
  command::look_for_video_module_in(modules);
  const auto make_pipeline = [make](const std::string& what, const std::string& device, int threads) {
    return made_by(make, what, device, threads);
  };
  command::provide_outside_methods(make_pipeline, [end] {
    const nb::gil_scoped_acquire lock;
    end();
  });
  arguments.insert(arguments.begin(), "stereopsis");
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  const nb::gil_scoped_release free;
  return command::run(static_cast<int>(arguments.size()), words.data());
}

}  // namespace

void bind_command(nb::module_& m) {
  m.def("run_command", &run_command, "arguments"_a, "modules"_a, "make"_a, "end"_a,
        "Runs a subcommand of the compiled command, and returns its exit code. A process calls it once.");
}

}  // namespace stereopsis::python
