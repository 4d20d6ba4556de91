// The command and its comparisons in this process, with the networks and programs of the package, and OpenCV of its
// environment.

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
#include "command/outside_methods.hpp"
#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "opencv_functions.hpp"
#include "user_stage.hpp"

namespace stereopsis::python {
namespace {

// `opencv` is the module stereopsis._opencv. All are kept until the process ends.
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
  command::provide_opencv(opencv_of(opencv.release()));
}

// The arguments are bytes, because names of files may be no text.
int run_command(const std::vector<nb::bytes>& given) {
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
                        const std::string& device, int threads) {
  command::DeviceOptions on;
  on.name = device;
  if (threads > 0) on.threads = threads;
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

// Returns the sentence of a scene that failed: that of the method itself, if the method raised an error of the package.
// KeyboardInterrupt and SystemExit, which a method raised, are no failures of a scene.
std::string sentence_of(const std::string&, const std::exception& problem) {
  const std::exception_ptr whole = std::current_exception();
  try {
    std::rethrow_if_nested(problem);
  } catch (const RaisedInPython& raised) {
    const nb::gil_scoped_acquire lock;
    if (PyObject_IsInstance(raised.exception().ptr(), PyExc_Exception) == 0) std::rethrow_exception(whole);
  } catch (const Error& own) {
    if (dynamic_cast<const std::nested_exception*>(&own) != nullptr) return own.what();
  } catch (...) {  // an error of the library
  }
  return problem.what();
}

std::string compare(const std::filesystem::path& dataset, const std::vector<Compared>& methods,
                    const std::vector<std::string>& settings, const std::string& device, int threads, int repeat,
                    double most_seconds, const std::pair<bool, std::optional<RowAlignment>>& rows,
                    const std::filesystem::path& html, nb::object on_scene) {
  const nb::gil_scoped_release free;
  command::set_verbosity(command::Verbosity::quiet);
  command::Bench bench = bench_of(methods, settings, device, threads);
  bench.repeat = repeat;
  bench.most_seconds = most_seconds;
  bench.rows = {.is_off = rows.first, .fixed = rows.second};
  bench.html = html;
  if (!html.empty()) command::check_result(html);
  command::SceneFailures failures(sentence_of);
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
        "Provides methods from outside the library and the module _opencv for run_command() and compare().");
  m.def("run_command", &run_command, "arguments"_a,
        "Runs a subcommand of the compiled command, and returns its exit code. A process calls it once.");
  m.def("compare", &compare, "dataset"_a, "methods"_a, "settings"_a, "device"_a, "threads"_a, "repeat"_a,
        "most_seconds"_a, "rows"_a, "html"_a, "on_scene"_a,
        "Runs methods on the scenes of a folder, and returns the results as JSON.");
}

}  // namespace stereopsis::python
