// Pairs in flight: while one is matched, the next is made and the one before is used.
#include <array>
#include <cstdio>
#include <vector>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"

namespace {

using namespace stereopsis;

constexpr int frames = 5;

struct Camera {
  std::vector<Scene> scenes;
  StereoPair pair(int frame) const { return {.left = scenes[frame].left, .right = scenes[frame].right}; }
};

int used = 0;
void use(const Matched& result) { used += !result.disparity.empty(); }

}  // namespace

int main() try {
  Camera camera;
  for (int i = 0; i < frames; ++i)
    camera.scenes.push_back(make_scene({.size = {160, 120}, .disparities = 32, .seed = static_cast<std::uint64_t>(i)}));

  // begin
  constexpr int in_flight = 3;
  Problem problem = Problem::of(camera.pair(0), {.min = 0, .count = 32});
  problem.batch = in_flight;
  Matcher matcher(Plan(Pipeline("sgm"), problem));

  std::vector<Matched> results;
  for (int i = 0; i < in_flight; ++i) results.push_back(matcher.make_result());
  std::array<Ticket, in_flight> tickets;
  for (int i = 0; i < frames + in_flight; ++i) {
    const int slot = i % in_flight;
    matcher.wait(tickets[slot]);
    if (i >= in_flight) use(results[slot]);
    if (i < frames) tickets[slot] = matcher.enqueue(camera.pair(i), results[slot]);
  }
  // end

  std::printf("%d frames\n", used);
  return used == frames ? 0 : 1;
} catch (const stereopsis::Error& error) {
  std::fprintf(stderr, "sequence: %s\n", error.what());
  return 1;
}
