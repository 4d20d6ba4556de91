// Calls of the C interface as nobody should make them: handles of others, destroyed and never made, sizes out of all bounds, null
// where something must be, strings without meaning, in any order. Each must end with a status, and, where it failed, with a
// sentence; nothing may be read or written outside what it was given, which the address sanitizer tells.
// random_calls [--calls N] [--seed S] [--seconds N]
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "stereopsis.h"

namespace {

constexpr int most_side = 48, most_channels = 24;

class Caller {
 public:
  explicit Caller(std::uint64_t seed) : random_(seed) {}

  void call_once();
  long failed(sp_status status) const { return failed_[static_cast<std::size_t>(status)]; }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool once_in(int n) { return pick(n) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[pick(static_cast<int>(list.size()))];
  }
  // Returns `usual` in most cases, otherwise any value.
  std::int32_t number(std::int32_t usual) {
    if (!once_in(12)) return usual;
    return one_of<std::int32_t>(
        {0, 1, -1, 2, 3, 7, 1000, 1 << 20, INT32_MAX, INT32_MIN, static_cast<std::int32_t>(random_())});
  }
  const char* name(std::initializer_list<const char*> usual) {
    if (once_in(20)) return nullptr;
    if (once_in(10))
      return one_of<const char*>({"", "nonsense", ".", "sgm.", "\xFF\xFE", "a.b.c", "=", "-1", "nan", "1e999"});
    return one_of(usual);
  }
  // Returns a valid handle in most cases, otherwise one of another kind, a destroyed one, or a number.
  template <class T>
  T* handle(std::vector<T*>& there) {
    if (!there.empty() && !once_in(8)) return there[static_cast<std::size_t>(pick(static_cast<int>(there.size())))];
    switch (pick(4)) {
      case 0: return nullptr;
      case 1: return reinterpret_cast<T*>(static_cast<std::uintptr_t>(random_()));
      case 2: return reinterpret_cast<T*>(static_cast<std::uintptr_t>(pick(100)));
      default: return old_ == nullptr ? nullptr : reinterpret_cast<T*>(old_);
    }
  }
  // Sets the struct's own size in most cases.
  template <class S>
  S sized(S s) {
    s.struct_size = sizeof s;
    if (once_in(25)) s.struct_size = one_of<std::size_t>({0, 1, 7, 8, sizeof s - 1, sizeof s + 1, 1 << 20, SIZE_MAX});
    return s;
  }
  template <class T>
  T* maybe(T* place) {
    return once_in(25) ? nullptr : place;
  }

  sp_image image(int width, int height, int channels, int type);
  sp_image mask_image(int width, int height);
  sp_problem problem();
  void expect(sp_status status);
  void pipelines();
  void matchers();
  void match();
  void memory();
  void lists();

  std::mt19937_64 random_;
  std::array<long, 8> failed_{};
  std::vector<sp_pipeline*> pipelines_;
  std::vector<sp_matcher*> matchers_;
  std::vector<sp_buffer*> buffers_;
  std::vector<sp_mark*> marks_;
  std::vector<sp_problem> problems_;  // the matchers' problems, in the same order
  void* old_ = nullptr;
  // Pixels, at least as many as any image over them claims. They are never freed while a pair may be in flight.
  std::vector<std::unique_ptr<std::vector<std::byte>>> pixels_;
};

void Caller::expect(sp_status status) {
  if (status < SP_OK || status > SP_ERROR_DEVICE) {
    std::fprintf(stderr, "the status %d (%s): %s\n", status, sp_status_name(status), sp_last_error());
    std::exit(1);
  }
  if (status != SP_OK && std::strlen(sp_last_error()) < 20) {
    std::fprintf(stderr, "%s without a sentence: '%s'\n", sp_status_name(status), sp_last_error());
    std::exit(1);
  }
  ++failed_[static_cast<std::size_t>(status)];
}

// Where its numbers can be believed, the memory is as large as they say.
sp_image Caller::image(int width, int height, int channels, int type) {
  sp_image i{};
  i.width = number(width);
  i.height = number(height);
  i.channels = number(channels);
  i.type = number(type);
  i.bit_depth = number(0);
  i.place = once_in(30) ? SP_DEVICE : number(SP_HOST);
  i.offset = once_in(30) ? one_of<std::int64_t>({-8, 1, 4, 8}) : 0;
  const bool is_small = i.width > 0 && i.height > 0 && i.channels > 0 && i.width <= 4 * most_side &&
                        i.height <= 4 * most_side && i.channels <= most_channels;
  const std::int64_t row = is_small ? std::int64_t{i.width} * i.channels *
                                          (i.type == SP_U8    ? 1
                                           : i.type == SP_U16 ? 2
                                                              : 4)
                                    : 100;
  i.pitch = one_of<std::int64_t>({0, row, row + 8, row + 64});
  if (once_in(30)) i.pitch = one_of<std::int64_t>({-1, 1, row - 1, INT64_MAX, INT64_MIN});
  const bool is_sane = is_small && i.pitch >= 0 && i.pitch < 1 << 20;
  const std::size_t bytes = is_sane ? static_cast<std::size_t>(std::max(i.pitch, row) * i.height + 8) : 8;
  pixels_.push_back(std::make_unique<std::vector<std::byte>>(bytes));
  for (std::byte& b : *pixels_.back()) b = static_cast<std::byte>(random_());
  // The library has to trust an image's size, so that an image that claims too much gets no pixels.
  i.data = is_sane ? maybe(pixels_.back()->data()) : nullptr;
  return sized(i);
}

// Returns a mask whose values are mostly 0 and 255, the allowed ones.
sp_image Caller::mask_image(int width, int height) {
  const sp_image mask = image(width, height, 1, SP_U8);
  if (!once_in(25))
    for (std::byte& b : *pixels_.back()) b = static_cast<std::byte>((random_() & 1) != 0 ? 255 : 0);
  return mask;
}

sp_problem Caller::problem() {
  sp_problem p{};
  p.width = number(1 + pick(most_side));
  p.height = number(1 + pick(most_side));
  p.channels = number(one_of({1, 1, 3}));
  p.type = number(one_of<int>({SP_U8, SP_U8, SP_U16, SP_F32}));
  p.bit_depth = number(0);
  p.min_disparity = number(one_of({0, 0, -3, 5}));
  p.disparities = number(1 + pick(most_channels));
  p.batch = number(one_of({0, 1, 3}));
  if (once_in(6)) p.region = {number(1), number(1), number(5), number(4)};
  p.memory_limit = once_in(6) ? random_() >> (36 + pick(28)) : 1 << 28;
  p.device = once_in(10) ? name({"auto", "cuda", "cuda:7", "opencl:99", "gpu"}) : "cpu";
  p.threads =
      one_of({1, 1, 1, 0, 2, -1, INT32_MIN});  // a thousand would be begun, and the sanitizer has no room for them
  p.implementation = number(one_of<int>({SP_FUSED, SP_PLAIN, SP_ORACLE}));
  p.want = once_in(4) ? static_cast<std::uint32_t>(random_()) & (once_in(8) ? ~0u : 1023u) : 0;
  p.given_costs = number(once_in(10) ? 1 : 0);
  p.costs_type = number(SP_U8);
  p.without_images = number(once_in(12) ? 1 : 0);
  p.disparity_error = once_in(10) ? one_of({-1.0, 0.5, 1e300, std::nan("")}) : 0;
  p.frame = number(0);
  p.fill_depth = number(once_in(4) ? 1 : 0);
  p.skip_constant = number(once_in(4) ? 1 : 0);
  p.black = p.skip_constant == 1 ? number(once_in(4) ? 2 : 0) : 0;
  return p;
}

void Caller::pipelines() {
  sp_pipeline* p = handle(pipelines_);
  char value[64];
  std::size_t length = 0, count = 0;
  sp_parameter parameter = sized(sp_parameter{});
  switch (pick(7)) {
    case 0: {
      sp_pipeline* made = nullptr;
      expect(sp_pipeline_create(name({"sgm", "banz-sgm", "esaw", "census-guided", "prehn-window"}), maybe(&made)));
      if (made != nullptr) pipelines_.push_back(made);
      break;
    }
    case 1: {
      sp_pipeline* made = nullptr;
      expect(sp_pipeline_copy(p, maybe(&made)));
      if (made != nullptr) pipelines_.push_back(made);
      break;
    }
    case 2:
    case 3:
      expect(sp_pipeline_set(p, name({"sgm.p1", "sgm.paths", "cost.stage", "median.enabled", "refinements"}),
                             name({"4", "8", "12", "rank", "census", "true", "left_right,median"})));
      break;
    case 4: {
      const std::size_t capacity = once_in(4) ? 0 : static_cast<std::size_t>(pick(sizeof value + 1));
      expect(sp_pipeline_get(p, name({"sgm.p1", "cost.stage", "refinements"}), maybe(value), capacity, maybe(&length)));
      break;
    }
    case 5:
      expect(sp_pipeline_parameter_count(p, maybe(&count)));
      expect(sp_pipeline_parameter(p, static_cast<std::size_t>(number(pick(40))), maybe(&parameter)));
      break;
    default:
      if (p == nullptr || pipelines_.size() < 4) break;
      expect(sp_pipeline_destroy(p));
      old_ = p;
      std::erase(pipelines_, p);
  }
}

void Caller::matchers() {
  sp_matcher* m = handle(matchers_);
  if (!once_in(3) && matchers_.size() < 4) {
    const sp_problem p = sized(problem());
    sp_rig rig = sized(sp_rig{0, 100, 20, 20, 20, 0.1});
    sp_problem with_rig = p;
    if (once_in(3)) with_rig.rig = &rig;
    sp_matcher* made = nullptr;
    expect(sp_matcher_create(handle(pipelines_), maybe(&with_rig), maybe(&made)));
    if (made == nullptr) return;
    matchers_.push_back(made);
    problems_.push_back(p);
    return;
  }
  sp_plan plan = sized(sp_plan{});
  sp_image shape = sized(sp_image{});
  sp_stage_time time = sized(sp_stage_time{});
  std::size_t count = 0;
  std::int32_t done = 0;
  switch (pick(6)) {
    case 0: expect(sp_matcher_plan(m, maybe(&plan))); break;
    case 1: expect(sp_matcher_volume(m, static_cast<std::uint32_t>(number(SP_WANT_COST)), maybe(&shape))); break;
    case 2:
      expect(sp_matcher_time_count(m, maybe(&count)));
      expect(sp_matcher_time(m, static_cast<std::size_t>(number(pick(12))), maybe(&time)));
      break;
    case 3: expect(sp_matcher_wait(m, once_in(2) ? random_() : 0)); break;
    case 4: expect(sp_matcher_is_done(m, random_() >> pick(64), maybe(&done))); break;
    default: {
      if (matchers_.size() < 3) break;
      const auto at = std::find(matchers_.begin(), matchers_.end(), m);
      expect(sp_matcher_destroy(m));
      if (at == matchers_.end()) break;
      old_ = m;
      problems_.erase(problems_.begin() + (at - matchers_.begin()));
      matchers_.erase(at);
    }
  }
}

void Caller::match() {
  if (matchers_.empty()) return;
  const auto i = static_cast<std::size_t>(pick(static_cast<int>(matchers_.size())));
  const sp_problem& p = problems_[i];
  sp_matcher* m = once_in(20) ? handle(matchers_) : matchers_[i];
  sp_image left = image(p.width, p.height, p.channels, p.type), right = image(p.width, p.height, p.channels, p.type),
           mask = mask_image(p.width, p.height), costs = image(p.width, p.height, p.disparities, p.costs_type),
           disparity = image(p.width, p.height, 1, SP_F32), validity = image(p.width, p.height, 1, SP_U8),
           other = image(p.width, p.height, 1, SP_F32), points = image(p.width, p.height, 3, SP_F32);
  sp_plan plan{};
  plan.struct_size = sizeof plan;
  sp_image shapes[3]{};
  for (int k = 0; k < 3; ++k) {
    shapes[k].struct_size = sizeof shapes[k];
    if (sp_matcher_volume(m, static_cast<std::uint32_t>(SP_WANT_COST << k), &shapes[k]) == SP_OK)
      shapes[k] = image(shapes[k].width, shapes[k].height, shapes[k].channels, shapes[k].type);
  }
  const bool images = p.without_images == 0 || once_in(10), few = once_in(10);
  const sp_pair pair =
      sized(sp_pair{0, images ? maybe(&left) : nullptr, images ? maybe(&right) : nullptr, once_in(4) ? &mask : nullptr,
                    nullptr, p.given_costs != 0 ? maybe(&costs) : nullptr, once_in(10) ? &disparity : nullptr,
                    once_in(10) ? &other : nullptr, nullptr});
  const auto wanted = [&](std::uint32_t bit, sp_image* place) { return (p.want & bit) != 0 && !few ? place : nullptr; };
  const sp_result result = sized(
      sp_result{0, maybe(&disparity), once_in(2) ? &validity : nullptr, wanted(SP_WANT_RIGHT, &other),
                wanted(SP_WANT_CONFIDENCE, &other), wanted(SP_WANT_DEPTH, &other), wanted(SP_WANT_POINTS, &points),
                wanted(SP_WANT_UNCERTAINTY, &other), nullptr, wanted(SP_WANT_COST, &shapes[0]),
                wanted(SP_WANT_AGGREGATED, &shapes[1]), wanted(SP_WANT_OPTIMISED, &shapes[2])});
  sp_ticket ticket = 0;
  std::int32_t done = 0;
  switch (pick(8)) {
    case 0:
      expect(sp_matcher_enqueue(m, maybe(&pair), maybe(&result), maybe(&ticket)));
      expect(sp_matcher_is_done(m, ticket, &done));
      expect(sp_matcher_wait(handle(matchers_), ticket));
      expect(sp_matcher_wait(m, ticket));
      break;
    case 1: expect(sp_matcher_enqueue_in_stream(m, maybe(&pair), maybe(&result), nullptr, maybe(&ticket))); break;
    case 2: {
      std::int32_t min = 0, count = 0;
      expect(sp_estimate_range(maybe(&left), maybe(&right), maybe(&min), maybe(&count)));
      break;
    }
    default: expect(sp_matcher_match(m, maybe(&pair), maybe(&result)));
  }
  pixels_.clear();  // nothing is in work
}

void Caller::memory() {
  sp_buffer* b = handle(buffers_);
  sp_mark* k = handle(marks_);
  sp_image shape = image(1 + pick(most_side), 1 + pick(most_side), 1, SP_U8), told = sized(sp_image{});
  std::int32_t passed = 0;
  switch (pick(10)) {
    case 0: {
      // Requests a size that is rejected, or a small one, because the library allocates what is requested.
      const double size = 1.0 * std::max(shape.width, 0) * std::max(shape.height, 0) * std::max(shape.channels, 0);
      if (size > 1 << 20 && size < 1e13) break;
      sp_buffer* made = nullptr;
      expect(
          sp_buffer_create(name({"cpu", "cpu", "cpu", "cuda", "gpu"}), number(SP_HOST), maybe(&shape), maybe(&made)));
      if (made != nullptr) buffers_.push_back(made);
      break;
    }
    case 1: expect(sp_buffer_image(b, maybe(&told))); break;
    case 2: expect(sp_buffer_upload(b, maybe(&shape))); break;
    case 3: expect(sp_buffer_download(b, maybe(&shape))); break;
    case 4:
      if (buffers_.size() < 3) break;
      expect(sp_buffer_destroy(b));
      old_ = b;
      std::erase(buffers_, b);
      break;
    case 5: {
      sp_mark* made = nullptr;
      expect(sp_mark_create(name({"cpu", "cuda", "gpu"}), maybe(&made)));
      if (made != nullptr) marks_.push_back(made);
      break;
    }
    case 6: expect(sp_mark_take(k, nullptr)); break;
    case 7: expect(sp_mark_is_passed(k, maybe(&passed))); break;
    case 8: {
      // Neither where a device could take it: the cpu has no memory of another's, and nothing is at a context's address.
      const sp_allocator none = sized(sp_allocator{});
      expect(sp_use_allocator(name({"cpu", "cuda:7"}), maybe(&none)));
      expect(sp_use_cuda_context(name({"cpu", "cuda", "gpu"}), nullptr));
      break;
    }
    default: expect(sp_mark_wait(k));
  }
  pixels_.clear();
}

void Caller::lists() {
  sp_method method = sized(sp_method{});
  sp_device device = sized(sp_device{});
  std::size_t count = 0;
  expect(sp_method_count(maybe(&count)));
  expect(sp_method_get(static_cast<std::size_t>(number(pick(20))), maybe(&method)));
  expect(sp_device_get(static_cast<std::size_t>(number(pick(4))), maybe(&device)));
}

void Caller::call_once() {
  switch (pick(10)) {
    case 0:
    case 1:
    case 2: return pipelines();
    case 3:
    case 4: return matchers();
    case 5:
    case 6: return match();
    case 7:
    case 8: return memory();
    default: return lists();
  }
}

}  // namespace

int main(int argc, char** argv) {
  long calls = 10000;
  std::uint64_t seed = 1;
  double seconds = 1e9;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--calls") calls = std::atol(argv[i + 1]);
    if (option == "--seed") seed = static_cast<std::uint64_t>(std::atoll(argv[i + 1]));
    if (option == "--seconds") seconds = std::atof(argv[i + 1]);
  }
  Caller caller(seed);
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  long made = 0;
  while (made < calls && passed() < seconds) {
    caller.call_once();
    made = 0;
    for (sp_status status = SP_OK; status <= SP_ERROR_DEVICE; ++status) made += caller.failed(status);
  }
  std::printf("seed %llu: %ld calls in %.0f s:", static_cast<unsigned long long>(seed), made, passed());
  for (sp_status status = SP_OK; status <= SP_ERROR_DEVICE; ++status)
    std::printf(" %s %ld", sp_status_name(status), caller.failed(status));
  std::printf("\n");
}
