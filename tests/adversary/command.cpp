#include "adversary/command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "adversary/same.hpp"
#include "core/text.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::adversary {
namespace {

namespace fs = std::filesystem;

// A folder that is removed with its contents.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "adversary_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

int run(std::vector<std::string> words, const fs::path& err) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  pid_t pid = 0;
  const int failure = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error(text(words[0], " can't be run"));
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A file type that holds these pixels as they are: PNM alone tells how many bits carry the intensity.
std::string extension_of(const AnyImageView& image, Dice& dice) {
  if (image.type == PixelType::f32) return image.channels == 1 && dice.chance(0.5) ? ".pfm" : ".npy";
  if (image.type == PixelType::u16 && image.bit_depth != 16) return image.channels == 1 ? ".pgm" : ".ppm";
  return dice.pick(std::array<std::string, 3>{".png", ".npy", image.channels == 1 ? ".pgm" : ".ppm"});
}

// The parameters, by one of the two ways; those of a refinement that is off would be refused.
void name_pipeline(const Call& call, const fs::path& folder, Dice& dice, std::vector<std::string>& words) {
  if (call.mixed || dice.chance(0.5)) {
    write_text(folder / "pipeline.json", to_json(call.pipeline));
    words.insert(words.end(), {"--pipeline", folder / "pipeline.json"});
    return;
  }
  words.insert(words.end(), {"--method", call.pipeline.method()});
  for (const auto& [name, value] : call.changed) {
    const std::string enabled = name.substr(0, name.find('.')) + ".enabled";
    bool is_off = false;
    for (const ParameterInfo& info : call.pipeline.parameters())
      is_off = is_off || (info.name == enabled && info.value == "false" && name != enabled);
    if (!is_off) words.insert(words.end(), {"--set", name + "=" + value});
  }
}

}  // namespace

bool can_go_through_command(const Call& call) {
  const Problem& p = call.problem;
  return !p.geometry.rectification && call.memory == 0 && p.constant.mask_black == p.constant.mark_flat &&
         (p.pixel_type != PixelType::u16 || p.bit_depth > 8);  // a file of 8 bits is read as such
}

std::string through_command(const std::string& command, const Call& call, const std::string& device,
                            const Matched& expected) {
  const Folder folder;
  Dice dice(call.seed ^ 0xC0FFEE);
  const Problem& p = call.problem;
  const StereoPair& pair = call.pairs[0].views;
  const std::string extension = extension_of(pair.left, dice);
  const auto file = [&](const std::string& name) { return (folder.path / name).string(); };
  write_image(file("left" + extension), pair.left);
  write_image(file("right" + extension), pair.right);
  std::vector<std::string> words = {command,
                                    "match",
                                    file("left" + extension),
                                    file("right" + extension),
                                    "-o",
                                    file("disparity.npy"),
                                    "--validity",
                                    file("validity.npy"),
                                    "--device",
                                    device,
                                    "--threads",
                                    std::to_string(call.threads),
                                    "--min-disparity=" + std::to_string(p.range.min),
                                    "--disparities",
                                    std::to_string(p.range.count)};
  name_pipeline(call, folder.path, dice, words);
  if (p.constant.mask_black)
    words.insert(words.end(), {"--mask-black", std::to_string(p.constant.black)});
  else
    words.push_back("--measure-constant");
  if (p.region)
    words.insert(words.end(),
                 {"--roi", text(p.region->x, ",", p.region->y, ",", p.region->width, ",", p.region->height)});
  const auto mask = [&](const char* option, const ImageView<const std::uint8_t>& view) {
    if (view.empty()) return;
    write_image(file(std::string(option) + ".png"), AnyImageView(view));
    words.insert(words.end(), {option, file(std::string(option) + ".png")});
  };
  mask("--mask-left", pair.mask_left);
  mask("--mask-right", pair.mask_right);
  if (p.want_confidence) words.insert(words.end(), {"--confidence", file("confidence.npy")});

  const int code = run(words, folder.path / "err");
  const std::string said = read_text(folder.path / "err");
  if (code != 0) {
    if (code < 0 || code > 4 || said.empty()) return text("it ends with ", code, ": ", said, join(words, " "));
    return fs::exists(file("disparity.npy")) || fs::exists(file("validity.npy"))
               ? "it is refused, but writes a file: " + said
               : refused;
  }
  std::string difference = first_difference("disparity", read_disparity(file("disparity.npy")), expected.disparity);
  if (difference.empty())
    difference = first_difference("validity", read_validity(file("validity.npy")), expected.validity);
  if (difference.empty() && p.want_confidence)
    difference = first_difference("confidence", read_disparity(file("confidence.npy")), expected.confidence);
  return difference.empty() ? difference : difference + ": " + join(words, " ");
}

}  // namespace stereopsis::adversary
