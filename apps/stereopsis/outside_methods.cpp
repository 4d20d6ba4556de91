#include "outside_methods.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

MakeOutsideMethod& provided() {
  static MakeOutsideMethod make;
  return make;
}

Pipeline made(const std::string& what, const DeviceOptions& device) {
  return provided()(what, device.name, device.threads.value_or(0));
}

}  // namespace

void provide_outside_methods(MakeOutsideMethod make) { provided() = std::move(make); }
bool has_outside_methods() { return provided() != nullptr; }

bool is_outside_method(std::string_view name) { return name.starts_with("onnx:") || name.starts_with("program:"); }

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

Pipeline pipeline_named(const std::string& method, const DeviceOptions& device) {
  return has_outside_methods() && is_outside_method(method) ? made(method, device) : Pipeline(method);
}

Pipeline pipeline_of_file(const std::filesystem::path& file, const DeviceOptions& device) {
  return has_outside_methods() && is_outside_pipeline(file) ? made(file.string(), device) : read_pipeline(file);
}

DeviceOptions library_device(const Pipeline& pipeline, const DeviceOptions& device) {
  DeviceOptions of_library = device;
  if (pipeline.get("cost.stage") == "user_method") of_library.name = "cpu";
  return of_library;
}

}  // namespace stereopsis::command
