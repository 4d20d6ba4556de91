#include "command/peer_settings.hpp"

#include "peer_table.hpp"

namespace stereopsis::command {
namespace {

using Json = nlohmann::ordered_json;

const Json& peer_table() {
  static const Json table = Json::parse(peer_table_text);
  return table;
}

// Returns the set of scenes of a dataset: the first one with whose beginning the name begins.
std::string set_of(const std::string& dataset) {
  for (const auto& [name, beginning] : peer_table().at("sets").items())
    if (dataset.starts_with(beginning.get<std::string>())) return name;
  return {};
}

}  // namespace

OpenCvSetting opencv_setting(const std::string& peer, const std::string& dataset, int channels) {
  const Json& chosen = peer_table().at("chosen").at(peer).at(set_of(dataset));
  const Json& kind = peer_table().at(peer == "BM" ? "StereoBM" : "StereoSGBM");
  const bool colour = channels == 3 && chosen.at("images") == "colour";
  const int block = chosen.at("blockSize");
  Json parameters = {{"blockSize", block}, {"preFilterCap", chosen.at("preFilterCap")}};
  if (kind.contains("penalties"))
    for (const auto& [name, factor] : kind.at("penalties").items())
      parameters[name] = factor.get<int>() * (colour ? 3 : 1) * block * block;
  parameters.update(kind.at("checks"));
  return {colour, parameters};
}

std::vector<std::string> opencv_matchers() {
  std::vector<std::string> names;
  for (const auto& [name, chosen] : peer_table().at("chosen").items()) names.push_back(name);
  return names;
}

std::vector<std::string> libelas_settings() { return peer_table().at("libelas"); }

}  // namespace stereopsis::command
