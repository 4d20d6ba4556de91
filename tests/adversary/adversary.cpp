// Random calls on every device and through the command. Each gives the bits of its stages' oracles in sequence, or is
// rejected with one sentence.
//
//   adversary [--cases N] [--seed S] [--device D]… [--command FILE] [--seconds T]
//
// Case i has the seed S + i and nothing else: `--seed S+i --cases 1` repeats it. Every 20th goes through the command, too. D is
// cpu, cuda:N, opencl:N or all. Ends with 1 at the first call that is not as it should be, and says which.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "adversary/call.hpp"
#include "adversary/command.hpp"
#include "adversary/reference.hpp"
#include "adversary/same.hpp"
#include "core/text.hpp"

extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace stereopsis::adversary {
namespace {

constexpr unsigned seconds_per_call = 120;
char current[64];  // the message if the call crashes

void on_signal(int number) {
  constexpr char message[] = "a call crashed or hung; again: adversary --cases 1 --seed ";
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0 || write(STDERR_FILENO, current, std::strlen(current)) < 0)
    _exit(2);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

struct Options {
  int cases = 2000;
  std::uint64_t seed = 1;
  std::vector<std::string> devices;
  std::string command;
  double seconds = 1e9;
};

struct Counts {
  int matched = 0, refused = 0, short_of_memory = 0, by_command = 0, refused_by_command = 0;
};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

void expect_a_sentence(const Error& error) {
  const std::string said = error.what();
  if (said.size() < 10 || said.find('\n') != std::string::npos ||
      said.find("error in the library") != std::string::npos)
    fail("it was refused, but not in a sentence to its caller: " + said);
}

// Returns the plan, or nothing if the call is rejected.
std::optional<Plan> plan_of(const Call& call, const std::string& device, Counts& counts) {
  Problem problem = call.problem;
  std::optional<Plan> plan;
  try {
    plan.emplace(call.pipeline, problem, Device{device, call.threads});
  } catch (const Error& error) {
    expect_a_sentence(error);
    if (error.category() != ErrorCategory::call) fail(error.what());
    ++counts.refused;
    return plan;
  }
  if (call.memory == 0) return plan;
  problem.memory_limit =
      std::max<std::size_t>(1, static_cast<std::size_t>(call.memory * static_cast<double>(plan->workspace_bytes())));
  try {
    plan.emplace(call.pipeline, problem, Device{device, call.threads});
  } catch (const Error& error) {
    expect_a_sentence(error);
    if (error.category() != ErrorCategory::memory) fail(error.what());
    ++counts.short_of_memory;
    return std::nullopt;
  }
  if (plan->workspace_bytes() > problem.memory_limit) fail("the plan takes more than the memory limit");
  return plan;
}

void expect_same(const Matched& got, const Matched& expected, std::size_t pair) {
  if (const std::string difference = first_difference(got, expected); !difference.empty())
    fail(text("pair ", pair, " differs from the oracles: ", difference));
}

template <class T>
void download(const DeviceImage& from, Image<T>& to) {
  if (from.view().empty()) return;
  to = Image<T>(from.view().size(), from.view().channels);
  from.download(to);
}

// The pair and its results on the device.
Matched match_there(const Call& call, const std::string& device, Matcher& matcher, const StereoPair& pair) {
  const Problem& p = call.problem;
  const Size size = matcher.plan().output_size();
  const auto copied = [&](const AnyImageView& image) {
    return image.empty() ? DeviceImage() : DeviceImage(device, image);
  };
  const auto made = [&](bool wanted, PixelType type = PixelType::f32, int channels = 1) {
    return wanted ? DeviceImage(device, size, type, channels) : DeviceImage();
  };
  const DeviceImage left = copied(pair.left), right = copied(pair.right), mask_left = copied(pair.mask_left),
                    mask_right = copied(pair.mask_right), disparity = made(true), validity = made(true, PixelType::u8),
                    other = made(p.want_right), confidence = made(p.want_confidence),
                    depth = made(p.geometry.want_depth), points = made(p.geometry.want_points, PixelType::f32, 3),
                    uncertainty = made(p.geometry.want_uncertainty);
  const DevicePair in{left, right, mask_left, mask_right};
  const DeviceMatched out{disparity, validity, other, confidence, depth, points, uncertainty};
  for (int run = 0; run < 3; ++run) matcher.wait(matcher.enqueue(in, out));  // recorded, and replayed
  Matched result;
  download(disparity, result.disparity);
  download(validity, result.validity);
  download(other, result.right);
  download(confidence, result.confidence);
  download(depth, result.depth);
  download(points, result.points);
  download(uncertainty, result.uncertainty);
  return result;
}

// Matches all pairs, in one of the ways that the library offers.
void match_all(const Call& call, const std::string& device, Matcher& matcher, const std::vector<Matched>& expected) {
  Dice dice(call.seed ^ 0x5DEECE66D);
  if (device != "cpu" && !call.problem.region && !call.problem.geometry.want_rectified && dice.chance(0.3)) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      expect_same(match_there(call, device, matcher, call.pairs[i].views), expected[i], i);
    return;
  }
  std::vector<Matched> results(call.pairs.size());
  std::vector<StereoPair> pairs;
  for (const Pair& pair : call.pairs) pairs.push_back(pair.views);
  switch (dice.below(4)) {
    case 0:
      for (std::size_t i = 0; i < pairs.size(); ++i) results[i] = matcher.match(pairs[i]);
      break;
    case 1: {  // into images that were used before, page-locked or not
      Matched result = dice.chance(0.5) ? matcher.make_result() : Matched();
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        matcher.match(pairs[i], result);
        expect_same(result, expected[i], i);
      }
      return;
    }
    case 2: matcher.match(pairs, results); break;
    default: {
      std::vector<Ticket> tickets;
      for (std::size_t i = 0; i < pairs.size(); ++i) tickets.push_back(matcher.enqueue(pairs[i], results[i]));
      while (!tickets.empty()) {
        const auto any = tickets.begin() + dice.below(static_cast<int>(tickets.size()));
        matcher.wait(*any);
        tickets.erase(any);
      }
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) expect_same(results[i], expected[i], i);
}

void run(const Call& call, const Options& options, bool by_command, Counts& counts) {
  std::vector<Matched> expected;
  bool is_refused = false;
  for (std::size_t d = 0; d < options.devices.size(); ++d) {
    const int before = counts.refused;
    std::optional<Plan> plan;
    try {
      plan = plan_of(call, options.devices[d], counts);
      if (d > 0 && is_refused != (counts.refused > before)) fail("it is refused on some devices alone");
      is_refused = counts.refused > before;
      if (!plan) continue;
      for (const Pair& pair : call.pairs)
        if (expected.size() < call.pairs.size()) expected.push_back(reference(call.pipeline, call.problem, pair.views));
      Matcher matcher(*plan);
      match_all(call, options.devices[d], matcher, expected);
      ++counts.matched;
    } catch (const std::exception& error) {
      throw std::runtime_error(text("on ", options.devices[d], ": ", error.what()));
    }
    if (!by_command || !can_go_through_command(call)) continue;
    const std::string difference = through_command(options.command, call, options.devices[d], expected[0]);
    if (difference == refused)
      ++counts.refused_by_command;
    else if (!difference.empty())
      fail("through the command, on " + options.devices[d] + ": " + difference);
    ++counts.by_command;
  }
}

std::vector<std::string> usable_devices() {
  std::vector<std::string> names;
  for (const DeviceDescription& device : devices())
    if (device.usable) names.push_back(device.name);
  return names;
}

Options options_of(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) fail(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--cases")
      o.cases = std::stoi(value);
    else if (name == "--seed")
      o.seed = std::stoull(value);
    else if (name == "--command")
      o.command = value;
    else if (name == "--seconds")
      o.seconds = std::stod(value);
    else if (name == "--device" && value == "all")
      o.devices = usable_devices();
    else if (name == "--device")
      o.devices.push_back(resolve_device(value));
    else
      fail("there is no option " + name);
  }
  if (o.devices.empty()) o.devices = {"cpu"};
  return o;
}

int run_all(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Counts counts;
  int done = 0;
  for (; done < options.cases && seconds() < options.seconds; ++done) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(done);
    std::snprintf(current, sizeof current, "%llu\n", static_cast<unsigned long long>(seed));
    alarm(seconds_per_call);
    std::string said = "while it was made up";
    try {
      const Call call(seed);
      said = call.describe();
      run(call, options, !options.command.empty() && seed % 20 == 0, counts);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n%s\nagain: adversary --cases 1 --seed %s", said.c_str(), error.what(), current);
      return 1;
    }
  }
  alarm(0);
  std::printf(
      "%d calls from seed %llu on %s: %d as the oracles, %d refused, %d beyond their memory limit; through the command "
      "%d, of which it refused %d; %.1f s\n",
      done, static_cast<unsigned long long>(options.seed), join(options.devices, ", ").c_str(), counts.matched,
      counts.refused, counts.short_of_memory, counts.by_command, counts.refused_by_command, seconds());
  // A matcher that rejects every call would never be wrong, so that half of the calls must be served.
  const int tried = done * static_cast<int>(options.devices.size());
  if (tried >= 200 && counts.matched < tried / 2)
    return std::fprintf(stderr, "less than half of the calls were served\n"), 1;
  return 0;
}

}  // namespace
}  // namespace stereopsis::adversary

int main(int argc, char** argv) {
  using namespace stereopsis::adversary;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(number, on_signal);
  try {
    return run_all(options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "adversary: %s\n", error.what());
    return 2;
  }
}
