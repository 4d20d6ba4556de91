#include "command/peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "command/opencv.hpp"
#include "command/peer_settings.hpp"
#include "core/text.hpp"

namespace stereopsis::command {
namespace {

MakePeer& libelas_peer() {
  static MakePeer make;
  return make;
}

struct Program {
  const char *name, *title;
  std::vector<std::string> matchers;
  std::string (*why_not)();  // returns the reason for which its matchers are left out; empty if they are there
  std::optional<Peer> (*make)(const std::string& matcher, const PeerProblem&);
};

std::string why_no_opencv() {
  try {
    opencv("a matcher of OpenCV").version();
    return {};
  } catch (const Error& missing) {
    return missing.what();
  }
}

const std::array<Program, 2>& programs() {
  static const std::array<Program, 2> known = {
      {{"opencv", "OpenCV's matchers", opencv_matchers(), why_no_opencv, opencv_peer},
       {"libelas", "libelas", libelas_settings(),
        [] { return std::string(libelas_peer() ? "" : "this build was made without it"); },
        [](const std::string& matcher, const PeerProblem& problem) { return libelas_peer()(matcher, problem); }}}};
  return known;
}

std::string program_of(std::string_view method) { return std::string(method.substr(0, method.find(':'))); }

const Program* find(const std::string& name) {
  const auto found = std::ranges::find(programs(), name, &Program::name);
  return found == programs().end() ? nullptr : &*found;
}

}  // namespace

void provide_libelas(MakePeer make) { libelas_peer() = std::move(make); }

bool is_peer(std::string_view method) { return find(program_of(method)) != nullptr; }

std::vector<PeerName> peers_named(const std::string& method) {
  const Program& program = *find(program_of(method));
  if (const std::string reason = program.why_not(); !reason.empty())
    throw Error(ErrorCategory::unsupported, fmt::format("--method {} cannot run: {}", method, reason));
  std::vector<PeerName> names;
  for (const std::string& matcher : program.matchers)
    if (method == program.name || method == PeerName{program.name, matcher}.text())
      names.push_back({program.name, matcher});
  if (names.empty())
    refuse(fmt::format("--method {} is not allowed; it must be {} or one of {}:{}", method, program.name, program.name,
                       join(program.matchers, fmt::format(", {}:", program.name))));
  return names;
}

std::vector<PeerName> peers_there() {
  std::vector<PeerName> names;
  for (const Program& program : programs())
    if (program.why_not().empty())
      for (const std::string& matcher : program.matchers) names.push_back({program.name, matcher});
  return names;
}

std::string peers_left_out() {
  std::vector<std::string> missing;
  for (const Program& program : programs())
    if (const std::string reason = program.why_not(); !reason.empty())
      missing.push_back(fmt::format("{} ({})", program.title, reason));
  return missing.empty() ? "" : "left out: " + join(missing, ", ");
}

std::optional<Peer> make_peer(const PeerName& name, const PeerProblem& problem) {
  return find(name.program)->make(name.matcher, problem);
}

Image<std::uint8_t> padded(ImageView<const std::uint8_t> image, int columns) {
  Image<std::uint8_t> out({image.width + columns, image.height}, image.channels);
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* row = image.data + y * image.pitch;
    std::uint8_t* to = out.row(y);
    for (int x = 0; x < columns; ++x) to = std::copy_n(row, image.channels, to);
    std::copy_n(row, image.width * image.channels, to);
  }
  return out;
}

}  // namespace stereopsis::command
