// The command and its comparisons in this process, with the networks and programs of the package, and OpenCV's matchers of
// its environment.
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "command/bench.hpp"
#include "command/command.hpp"
#include "command/opencv_peers.hpp"
#include "command/outside_methods.hpp"
#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "command/video.hpp"
#include "user_stage.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stereopsis::python {
namespace {

// Calls Python, whose exception becomes an Error.
template <class Function>
auto in_python(const Function& function) {
  const nb::gil_scoped_acquire lock;
  try {
    return function();
  } catch (nb::python_error& error) {
    throw Error(category_of(error.value()).value_or(ErrorCategory::unsupported), RaisedInPython(error).what());
  }
}

command::OpenCvMatcher made_opencv(nb::handle make, const std::string& matcher, const command::Json& parameters,
                                   int threads, Image<std::uint8_t> left, Image<std::uint8_t> right) {
  const auto made = in_python([&] {
    nb::dict values;
    for (const auto& [name, value] : parameters.items()) values[name.c_str()] = value.get<int>();
    const auto array = [](Image<std::uint8_t>& image) {
      auto owner = std::make_shared<Image<std::uint8_t>>(std::move(image));
      return lend(*owner, owner);
    };
    return shared_object(make(matcher, values, threads, array(left), array(right)));
  });
  return {[made] { in_python([&] { made->attr("run")(); }); },
          [made] {
            return in_python([&] {
              using Found = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
              const auto found = nb::cast<Found>(made->attr("found"));
              const ImageView<const std::int16_t> view(found.data(), static_cast<int>(found.shape(1)),
                                                       static_cast<int>(found.shape(0)), 1,
                                                       static_cast<std::ptrdiff_t>(found.shape(1)));
              Image<std::int16_t> copy(view.width, view.height);
              copy.copy_from(view);
              return copy;
            });
          }};
}

// `opencv` is the version and the function that makes a matcher, or the reason why there are none. The functions are kept
// until the process ends.
void provide(nb::object make, nb::object end, nb::object opencv) {
  const nb::handle make_method = make.release(), end_methods = end.release();
  const auto made = [make_method](const std::string& what, const std::string& device, int threads) {
    return in_python([&] {
      const auto bytes = [](const std::string& text) { return nb::bytes(text.data(), text.size()); };
      const nb::object found = make_method(bytes(what), bytes(device), threads);
      return command::ChosenMethod{nb::cast<Pipeline>(found[0]), nb::cast<std::string>(found[1])};
    });
  };
  command::provide_outside_methods(made, [end_methods] {
    const nb::gil_scoped_acquire lock;
    end_methods();
  });
  if (nb::isinstance<nb::str>(opencv)) return command::provide_peers("opencv", {}, nb::cast<std::string>(opencv));
  const nb::handle make_matcher = nb::object(opencv[1]).release();
  command::provide_opencv({nb::cast<std::string>(opencv[0]), [make_matcher](auto&&... arguments) {
                             return made_opencv(make_matcher, std::forward<decltype(arguments)>(arguments)...);
                           }});
}

// The arguments are bytes, because names of files may be no text.
int run_command(const std::vector<nb::bytes>& given, const std::filesystem::path& modules) {
  command::look_for_video_module_in(modules);
  std::vector<std::string> arguments = {"stereopsis"};
  for (const nb::bytes& word : given) arguments.emplace_back(word.c_str(), word.size());
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  const nb::gil_scoped_release free;
  return command::run(static_cast<int>(arguments.size()), words.data());
}

// A label with the text of a method, or with a pipeline and its device.
using Compared = std::tuple<std::string, std::string, std::optional<Pipeline>, std::string>;

command::Bench bench_of(const std::vector<Compared>& methods, const std::vector<std::string>& settings,
                        const std::string& device) {
  command::DeviceOptions on;
  on.name = device;
  command::Bench bench;
  std::vector<std::string> texts;
  for (const auto& [label, text, pipeline, own_device] : methods) {
    if (pipeline) {
      const Device used = command::library_device(*pipeline, on).device();
      bench.contenders.push_back({label, *pipeline, used, "auto", own_device});
      continue;
    }
    texts.push_back(text);
    command::add_method(bench, text, settings, on);
    if (!command::is_peer(text)) bench.contenders.back().label = label;
  }
  command::reads_methods(bench.files, texts);
  return bench;
}

// KeyboardInterrupt and SystemExit, which a method raised, are no failures of a scene.
void rethrow_exits(const std::exception& problem) {
  const std::exception_ptr whole = std::current_exception();
  try {
    std::rethrow_if_nested(problem);
  } catch (const RaisedInPython& raised) {
    const nb::gil_scoped_acquire lock;
    if (PyObject_IsInstance(raised.exception().ptr(), PyExc_Exception) == 0) std::rethrow_exception(whole);
  } catch (...) {  // an error of the library
  }
}

std::string compare(const std::filesystem::path& dataset, const std::vector<Compared>& methods,
                    const std::vector<std::string>& settings, const std::string& device, int repeat,
                    const std::filesystem::path& html, nb::object on_scene) {
  const nb::gil_scoped_release free;
  command::set_verbosity(command::Verbosity::quiet);
  command::Bench bench = bench_of(methods, settings, device);
  bench.repeat = repeat;
  bench.html = html;
  if (!html.empty()) command::check_result(html);
  command::SceneFailures failures([](const std::string&, const std::exception& problem) { rethrow_exits(problem); });
  const command::Compared compared =
      command::compare_on_scenes(bench, dataset, failures, [&](std::size_t done, std::size_t all) {
        const nb::gil_scoped_acquire lock;
        on_scene(done, all);
      });
  return command::json_text(command::comparison_json(bench, compared, failures));
}

}  // namespace

void bind_command(nb::module_& m) {
  m.def("provide_methods", &provide, "make"_a, "end"_a, "opencv"_a,
        "Provides methods from outside the library and OpenCV's matchers for run_command() and compare().");
  m.def("run_command", &run_command, "arguments"_a, "modules"_a,
        "Runs a subcommand of the compiled command, and returns its exit code. A process calls it once.");
  m.def("compare", &compare, "dataset"_a, "methods"_a, "settings"_a, "device"_a, "repeat"_a, "html"_a, "on_scene"_a,
        "Runs methods on the scenes of a folder, and returns the results as JSON.");
}

}  // namespace stereopsis::python
