#include "command/outside_methods.hpp"

#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

struct Provided {
  MakeOutsideMethod make;
  std::function<void()> end;
};

Provided& provided() {
  static auto& methods = *new Provided();  // threads may use it when the process ends
  return methods;
}

ChosenMethod made(const std::string& what, const DeviceOptions& device) {
  return provided().make(what, device.name, device.threads.value_or(0));
}

}  // namespace

void provide_outside_methods(MakeOutsideMethod make, std::function<void()> end) {
  provided() = {std::move(make), std::move(end)};
}
bool has_outside_methods() { return provided().make != nullptr; }

void end_outside_methods() {
  if (!provided().end) return;
  const auto ended = std::make_shared<std::promise<void>>();
  std::thread([ended] {
    provided().end();
    ended->set_value();
  }).detach();
  ended->get_future().wait_for(std::chrono::seconds(1));
}

bool is_outside_method(std::string_view name) { return name.starts_with("onnx:") || name.starts_with("program:"); }

std::vector<std::filesystem::path> files_of_method(const std::string& name) {
  constexpr std::string_view kind = "onnx:";
  if (!name.starts_with(kind)) return {};
  const std::filesystem::path network = name.substr(kind.size());
  return {network, std::filesystem::path(network).replace_extension(".json")};
}

bool is_outside_pipeline(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return false;  // a pipe can be read only once
  std::ifstream stream(file);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.find("\"onnx:") == text.npos && text.find("\"program:") == text.npos) return false;
  const Json content = Json::parse(text, nullptr, false);
  const auto method = content.is_object() ? content.find("method") : content.end();
  return method != content.end() && method->is_string() && is_outside_method(method->get_ref<const std::string&>());
}

ChosenMethod method_named(const std::string& method, const DeviceOptions& device) {
  if (!is_outside_method(method) && method.find(',') != method.npos)
    refuse(
        fmt::format("--method {} names several methods; name one, or compare them with `bench` or `evaluate "
                    "--dataset`, where --method is repeatable",
                    method));
  return has_outside_methods() && is_outside_method(method) ? made(method, device) : ChosenMethod{Pipeline(method), ""};
}

ChosenMethod method_of_file(const std::filesystem::path& file, const DeviceOptions& device) {
  return has_outside_methods() && is_outside_pipeline(file) ? made(file.string(), device)
                                                            : ChosenMethod{read_pipeline(file), ""};
}

bool has_own_device(const Pipeline& pipeline) { return pipeline.get("cost.stage") == "user_method"; }

DeviceOptions library_device(const Pipeline& pipeline, const DeviceOptions& device) {
  DeviceOptions of_library = device;
  if (has_own_device(pipeline)) of_library.name = "cpu";
  return of_library;
}

}  // namespace stereopsis::command
