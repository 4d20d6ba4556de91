#include "command/peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "command/peer_settings.hpp"
#include "core/text.hpp"

namespace stereopsis::command {
namespace {

struct Program {
  const char *name, *title, *why_not;  // the reason of a program that lacks it
  std::vector<std::string> matchers;
};

const std::array<Program, 2>& programs() {
  static const std::array<Program, 2> known = {
      {{"opencv", "OpenCV's matchers",
        "this build was made without OpenCV; with the Python package, --method opencv runs those of its package cv2",
        opencv_matchers()},
       {"libelas", "libelas", "this build was made without it", libelas_settings()}}};
  return known;
}

struct Provided {
  MakePeer make;
  std::string why_not;
};

std::map<std::string, Provided>& provided() {
  static auto& all = *new std::map<std::string, Provided>();
  return all;
}

std::string program_of(std::string_view method) { return std::string(method.substr(0, method.find(':'))); }

std::string why_not(const Program& program) {
  const std::string& reason = provided()[program.name].why_not;
  return reason.empty() ? program.why_not : reason;
}

const Program* find(const std::string& name) {
  const auto found = std::ranges::find(programs(), name, &Program::name);
  return found == programs().end() ? nullptr : &*found;
}

}  // namespace

void provide_peers(const std::string& program, MakePeer make, std::string why_not) {
  provided()[program] = {std::move(make), std::move(why_not)};
}

bool has_peers(const std::string& program) { return provided()[program].make != nullptr; }

bool is_peer(std::string_view method) { return find(program_of(method)) != nullptr; }

std::vector<PeerName> peers_named(const std::string& method) {
  const Program& program = *find(program_of(method));
  if (!has_peers(program.name))
    throw Error(ErrorCategory::unsupported, fmt::format("--method {} cannot run: {}", method, why_not(program)));
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
    if (has_peers(program.name))
      for (const std::string& matcher : program.matchers) names.push_back({program.name, matcher});
  return names;
}

std::string peers_left_out() {
  std::vector<std::string> missing;
  for (const Program& program : programs())
    if (!has_peers(program.name)) missing.push_back(fmt::format("{} ({})", program.title, why_not(program)));
  return missing.empty() ? "" : "left out: " + join(missing, ", ");
}

std::optional<Peer> make_peer(const PeerName& name, const PeerProblem& problem) {
  return provided()[name.program].make(name.matcher, problem);
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
