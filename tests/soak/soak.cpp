// Long runs: thousands of frames with every output there is, through the library and through the command on a sequence. Every
// frame must be the one of the first round, to the bit, and what the process takes must stay as it is: memory, descriptors,
// threads, temporary files.
//
//   soak [--frames N] [--device D] [--command FILE] [--command-frames N]
//
// Ends with 1 where something grows or differs. 20,000 frames by hand; a few hundred in the suite, to keep it working.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "adversary/same.hpp"
#include "core/text.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/sanitized.hpp"

namespace stereopsis::soak {
namespace {

namespace fs = std::filesystem;

constexpr Size size{96, 64};
constexpr DisparityRange range{0, 24};
constexpr int scenes = 7;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

// The resources of a process at one moment.
struct Taken {
  long kib = 0;
  int descriptors = 0, threads = 0;
};

Taken taken_by(pid_t pid) {
  Taken t;
  std::ifstream status(text("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) t.kib = std::stol(line.substr(6));
    if (line.starts_with("Threads:")) t.threads = std::stoi(line.substr(8));
  }
  std::error_code gone;
  for (fs::directory_iterator file(text("/proc/", pid, "/fd"), gone); !gone && file != fs::directory_iterator();
       file.increment(gone))
    ++t.descriptors;
  return t;
}

// The most that was taken in the first third of a run, and in the last one: the same, but for what allocators round.
class Watch {
 public:
  explicit Watch(std::string name) : name_(std::move(name)) {}

  // `done`: the share of the run.
  void look(double done, const Taken& now) {
    if (done < 0.05 || now.kib == 0) return;  // still warming up
    if (done < 0.4) early_ = most(early_, now);
    if (done > 0.6) late_ = most(late_, now);
  }
  void finish(long frames) const {
    std::printf("%s: %ld frames; %ld and then %ld KiB, %d and %d descriptors, %d and %d threads at the most\n",
                name_.c_str(), frames, early_.kib, late_.kib, early_.descriptors, late_.descriptors, early_.threads,
                late_.threads);
    std::fflush(stdout);
    // The number of open files varies.
    if (late_.descriptors > early_.descriptors + 4) fail(name_ + ": more and more descriptors");
    // A new thread may start before an old one has ended.
    if (late_.threads > early_.threads + 2) fail(name_ + ": more and more threads");
    // Records of finished frames may take 2 KiB each.
    if (!sanitized && late_.kib > early_.kib + 8192 + 2 * frames) fail(name_ + ": more and more memory");
  }

 private:
  static Taken most(const Taken& a, const Taken& b) {
    return {std::max(a.kib, b.kib), std::max(a.descriptors, b.descriptors), std::max(a.threads, b.threads)};
  }

  std::string name_;
  Taken early_, late_;
};

// Maps that turn the images a little, so that some pixels have no source.
std::shared_ptr<const RectificationMaps> turned() {
  RectificationMaps maps{.input = size, .left = Image<std::int32_t>(size, 2), .right = Image<std::int32_t>(size, 2)};
  for (auto* map : {&maps.left, &maps.right})
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        (*map)(x, y, 0) = 256 * x + 3 * y;
        (*map)(x, y, 1) = 256 * y - 2 * x;
      }
  return std::make_shared<const RectificationMaps>(std::move(maps));
}

class Library {
 public:
  explicit Library(const std::string& device) : device_(device) {
    for (int i = 0; i < scenes; ++i)
      scenes_.push_back(make_scene({.size = size, .disparities = range.count, .seed = i + 1ull, .noise = 2}));
    pipeline_.set("window_confidence.enabled", "true");
    pipeline_.set("repair.enabled", "true");
    problem_ = Problem::of(pair(0), range);
    problem_.want_right = problem_.want_confidence = problem_.want_times = true;
    Geometry& g = problem_.geometry;
    g.rig = Rig{100, 48, 47, 32, 0.1, "m", size};
    g.want_depth = g.want_points = g.want_uncertainty = g.want_rectified = true;
    g.rectification = turned();
    Matcher one = matcher(1);
    for (int i = 0; i < scenes; ++i) expected_.push_back(one.match(pair(i)));
  }

  void in_turn(int frames) {
    constexpr int batch = 4;
    Matcher m = matcher(batch);
    std::vector<Matched> results(batch);
    for (Matched& result : results) result = m.make_result();
    std::vector<Ticket> tickets(batch);
    Watch watch("frames in turn on " + device_);
    for (int i = 0; i < frames + batch; ++i) {
      m.wait(tickets[i % batch]);
      if (i >= batch) expect(results[i % batch], i - batch);
      if (i < frames) tickets[i % batch] = m.enqueue(pair(i), results[i % batch]);
      look(watch, i, frames);
    }
    watch.finish(frames);
  }

  void in_batches(int frames) {
    constexpr int count = 10;
    Matcher m = matcher(3);
    std::vector<Matched> results(count);
    Watch watch("batches on " + device_);
    for (int first = 0; first < frames; first += count) {
      std::vector<StereoPair> pairs;
      for (int i = 0; i < count; ++i) pairs.push_back(pair(first + i));
      m.match(pairs, results);
      for (int i = 0; i < count; ++i) expect(results[i], first + i);
      look(watch, first, frames);
    }
    watch.finish(frames);
  }

  void with_new_matchers(int frames) {
    constexpr int count = 8;
    Watch watch("matchers made anew on " + device_);
    for (int first = 0; first < frames; first += count) {
      Matched result;  // outlives the pairs left in flight
      Matcher m = matcher(2);
      for (int i = 0; i < count; ++i) {
        m.match(pair(first + i), result);
        expect(result, first + i);
      }
      m.enqueue(pair(0), result);  // and left in flight
      look(watch, first, frames);
    }
    watch.finish(frames);
  }

 private:
  StereoPair pair(int i) const { return {scenes_[i % scenes].left, scenes_[i % scenes].right, {}, {}}; }
  Matcher matcher(int batch) const {
    Problem p = problem_;
    p.batch = batch;
    return Matcher(Plan(pipeline_, p, {device_, 0}));
  }
  void expect(const Matched& got, int frame) const {
    const std::string difference = adversary::first_difference(got, expected_[frame % scenes]);
    if (!difference.empty()) fail(text("frame ", frame, " is not what it was: ", difference));
  }
  static void look(Watch& watch, int frame, int frames) {
    if (frame % std::max(1, frames / 200) == 0) watch.look(static_cast<double>(frame) / frames, taken_by(getpid()));
  }

  std::string device_;
  Pipeline pipeline_{"sgm"};
  Problem problem_;
  std::vector<Scene> scenes_;
  std::vector<Matched> expected_;
};

pid_t start(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0600);
  pid_t pid = 0;
  const int failure = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) fail(words[0] + " can't be run");
  return pid;
}

std::size_t files_in(const fs::path& folder, const std::string& ending = "") {
  return static_cast<std::size_t>(std::count_if(fs::directory_iterator(folder), {}, [&](const auto& file) {
    return file.path().filename().string().ends_with(ending);
  }));
}

// A sequence through the command, all files of which must be those of the first round.
class Sequence {
 public:
  Sequence(std::string command, std::string device, int frames)
      : command_(std::move(command)), device_(std::move(device)), frames_(frames) {
    std::string name = (fs::temp_directory_path() / "soak_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail("no temporary folder can be made");
    folder_ = name;
    fs::create_directory(folder_ / "in");
    for (const char* view : {"left", "right"}) fs::create_directory(folder_ / "in" / view);
    for (const auto& [kind, ending] : outputs()) fs::create_directory(folder_ / kind);
    for (int i = 0; i < scenes; ++i) {
      const Scene scene = make_scene({.size = size, .disparities = range.count, .seed = i + 1ull, .noise = 2});
      write_image(folder_ / text("left", i, ".png"), scene.left.view());
      write_image(folder_ / text("right", i, ".png"), scene.right.view());
    }
    for (int i = 0; i < frames_; ++i)
      for (const char* view : {"left", "right"})
        fs::create_hard_link(folder_ / text(view, i % scenes, ".png"), folder_ / "in" / view / (number(i) + ".png"));
    write_text(folder_ / "calib.txt",
               text("cam0=[100 0 48; 0 100 32; 0 0 1]\ncam1=[100 0 48; 0 100 32; 0 0 1]\ndoffs=0\nbaseline=100\nwidth=",
                    size.width, "\nheight=", size.height, "\nndisp=24\n"));
  }
  ~Sequence() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  void run() {
    std::vector<std::string> words = {command_,
                                      "match",
                                      folder_ / "in/left",
                                      folder_ / "in/right",
                                      "--device",
                                      device_,
                                      "--calib",
                                      folder_ / "calib.txt",
                                      "--disparities",
                                      std::to_string(range.count),
                                      "--report",
                                      folder_ / "report.json"};
    for (const auto& [kind, ending] : outputs())
      words.insert(words.end(), {"--" + kind, folder_ / kind / ("%05d" + ending)});
    const pid_t pid = start(words);
    Watch watch("the command on " + device_);
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      const double done = static_cast<double>(files_in(folder_ / "validity")) / frames_;
      if (done < 0.98) watch.look(done, taken_by(pid));  // the report measures the machine
      std::this_thread::sleep_for(std::chrono::milliseconds(frames_ > 2000 ? 500 : 20));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail(text("the command ends with ", status));
    watch.finish(frames_);
    for (const auto& [kind, ending] : outputs()) check(kind, ending);
  }

 private:
  static std::string number(int i) { return std::to_string(100000 + i).substr(1); }
  static const std::map<std::string, std::string>& outputs() {
    static const std::map<std::string, std::string> all = {
        {"output", ".pfm"}, {"right", ".npy"},  {"confidence", ".pfm"},  {"validity", ".png"},
        {"color", ".png"},  {"depth", ".tiff"}, {"uncertainty", ".npy"}, {"cloud", ".ply"}};
    static const std::map<std::string, std::string> without_tiff = [] {
      auto some = all;
      some["depth"] = ".npy";
      return some;
    }();
#ifdef STEREOPSIS_TIFF
    return all;
#else
    return without_tiff;
#endif
  }

  void check(const std::string& kind, const std::string& ending) const {
    const fs::path folder = folder_ / kind;
    if (files_in(folder, ".tmp") != 0) fail(text("temporary files are left among the files of --", kind));
    if (files_in(folder, ending) != static_cast<std::size_t>(frames_))
      fail(text("--", kind, " wrote ", files_in(folder, ending), " files for ", frames_, " frames"));
    for (int i = scenes; i < frames_; ++i)
      if (read_text(folder / (number(i) + ending)) != read_text(folder / (number(i % scenes) + ending)))
        fail(text("frame ", i, " of --", kind, " is not what it was"));
  }

  std::string command_, device_;
  int frames_;
  fs::path folder_;
};

}  // namespace
}  // namespace stereopsis::soak

int main(int argc, char** argv) {
  using namespace stereopsis::soak;
  try {
    int frames = 20000, command_frames = 0;
    std::string device = "cpu", command;
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string name = argv[i], value = argv[i + 1];
      if (name == "--frames") frames = std::stoi(value);
      if (name == "--command-frames") command_frames = std::stoi(value);
      if (name == "--device") device = stereopsis::resolve_device(value);
      if (name == "--command") command = value;
    }
    Library library(device);
    library.in_turn(frames / 2);
    library.in_batches(frames / 4);
    library.with_new_matchers(frames / 4);
    if (!command.empty()) Sequence(command, device, command_frames > 0 ? command_frames : frames).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 1;
  }
}
