#include "stereopsis/matcher.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <set>

#include "c/handles.hpp"
#include "c/pipeline.hpp"
#include "c/structs.hpp"
#include "stereopsis/arguments.hpp"

namespace stereopsis::c {
namespace {

[[noreturn]] void refuse_ticket() {
  refuse("the ticket belongs to another matcher; wait with the matcher that returned the ticket");
}

// The pairs of a matcher that are not known to be done, for a thread that asks while another thread has its turn.
class Progress {
 public:
  void begin(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    matcher_ = ticket.matcher;
    next_ = ticket.number + 1;
    in_work_.insert(ticket.number);
  }
  void end(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    if (ticket.matcher == matcher_) in_work_.erase(ticket.number);
  }
  // Forgets the pairs that are done and that nobody asked for.
  void sweep(const Matcher& matcher) {
    const std::lock_guard lock(mutex_);
    if (in_work_.size() < 1024) return;
    std::erase_if(in_work_, [&](std::uint64_t number) { return matcher.is_done({number, matcher_}); });
  }
  bool is_done(const Ticket& ticket) const {
    const std::lock_guard lock(mutex_);
    if (ticket == Ticket()) return true;
    if (ticket.matcher != matcher_ || ticket.number >= next_) refuse_ticket();
    return !in_work_.contains(ticket.number);
  }
  // The number of the matcher in its tickets; 0 before the first one.
  std::uint64_t matcher() const {
    const std::lock_guard lock(mutex_);
    return matcher_;
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t matcher_ = 0, next_ = 0;
  std::set<std::uint64_t> in_work_;
};

struct MatcherObject {
  explicit MatcherObject(Plan plan) : matcher(std::move(plan)) {}

  Matcher matcher;
  std::vector<StageTime> times;  // times of the last match
  std::mutex mutex;              // held by the thread whose turn it is, also while that thread waits for a pair
  Progress progress;
};

auto& matchers() { return handles<sp_matcher, MatcherObject>(); }
std::shared_ptr<MatcherObject> at(const sp_matcher* handle) { return matchers().at(handle, "matcher"); }

// Locks a matcher, so that threads take turns. Throws an Error inside a stage of the matcher, where waiting for the
// lock would never end.
class InTurn {
 public:
  explicit InTurn(const sp_matcher* handle) : object_(outside(handle)), lock_(object_->mutex) {}
  MatcherObject* operator->() const { return object_.get(); }
  MatcherObject& operator*() const { return *object_; }

  static std::shared_ptr<MatcherObject> outside(const sp_matcher* handle) {
    auto object = at(handle);
    if (object->matcher.is_in_own_stage())
      refuse(
          "the matcher was called inside a stage that it runs; use another matcher in the stage, or use this one after "
          "the "
          "stage has returned");
    return object;
  }

 private:
  const std::shared_ptr<MatcherObject> object_;
  const std::lock_guard<std::mutex> lock_;
};

// A ticket consists of the lower bits of the matcher's number and of the number of the pair, which counts from 1. The
// numbers last for 500 years at 60 pairs per second.
constexpr int bits_of_pair = 40;
constexpr std::uint64_t pairs = std::uint64_t{1} << bits_of_pair;
sp_ticket number_of(const Ticket& ticket) {
  return ticket.matcher << bits_of_pair | ((ticket.number + 1) & (pairs - 1));
}
Ticket ticket_of(sp_ticket number, const MatcherObject& object) {
  if (number == 0) return {};
  // A matcher that has enqueued nothing has issued no ticket. This number, which no matcher has, stands for another
  // matcher.
  constexpr auto another = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t of = number >> bits_of_pair, matcher = object.progress.matcher(),
                      own = (matcher << bits_of_pair) >> bits_of_pair;
  return {(number - 1) & (pairs - 1), matcher != 0 && of == own ? matcher : another};
}

// Converts an image of a C struct to the type of the C++ member.
void assign(AnyImageView& to, const sp_image* image, const std::string& name) { to = host_image(image, name.c_str()); }
void assign(AnyOutputView& to, const sp_image* image, const std::string& name) {
  to = host_output(image, name.c_str());
}
void assign(DeviceImageView& to, const sp_image* image, const std::string& name) {
  to = device_image(image, name.c_str());
}
template <class T>
void assign(ImageView<T>& to, const sp_image* image, const std::string& name) {
  to = typed<std::remove_const_t<T>>(host_output(image, name.c_str()), name.c_str());
}

// Only the two views may have a pixel format.
template <class Pair>
Pair pair_of(const sp_pair& p) {
  sp_pair plain = p;
  const GivenView left(p.left, "pair.left"), right(p.right, "pair.right");
  plain.left = left;
  plain.right = right;
  Pair pair;
  for_each_input([&](std::size_t row, auto field) {
    if constexpr (requires { field(plain), field(pair); })
      assign(field(pair), field(plain), text("pair.", input_table[row].name));
  });
  pair.format = format_of(left, right);
  pair.row_alignment = row_alignment_of(p.row_alignment, "pair.row_alignment");
  return pair;
}

template <class Result>
Result result_of(const sp_result& r) {
  Result result;
  for_each_output([&](std::size_t row, auto field) {
    if constexpr (requires { field(r), field(result); })
      assign(field(result), field(r), text("result.", output_table[row].name));
  });
  return result;
}

DeviceMatched device_result(const sp_result& r) {
  if (r.rectified != nullptr)
    refuse("result.rectified must be in host memory, but the result is on a device; leave result.rectified null");
  return result_of<DeviceMatched>(r);
}

// Returns whether the images are on a device. Only the image that every pair has is examined.
bool is_on_device(const sp_pair& p) {
  const sp_image* first = p.left != nullptr ? p.left : p.costs;
  if (first == nullptr) refuse("pair.left and pair.costs are both null; pass a left image or a cost volume");
  return read(first, p.left != nullptr ? "pair.left" : "pair.costs").place == SP_DEVICE;
}

sp_ticket enqueue(MatcherObject& object, const sp_pair* pair, const sp_result* result,
                  std::optional<std::uint64_t> stream) {
  const sp_pair p = read(pair, "pair");
  const sp_result r = read(result, "result");
  const bool on_device = is_on_device(p);
  if (stream && !on_device)
    refuse("images in host memory cannot be matched in a stream of the caller; pass images on the device");
  const Ticket ticket = on_device ? object.matcher.enqueue(pair_of<DevicePair>(p), device_result(r), stream)
                                  : object.matcher.enqueue(pair_of<StereoPair>(p), result_of<MatchedViews>(r));
  object.progress.begin(ticket);
  object.progress.sweep(object.matcher);
  return number_of(ticket);
}

void match(MatcherObject& object, const sp_pair* pair, const sp_result* result) {
  const sp_pair p = read(pair, "pair");
  const sp_result r = read(result, "result");
  object.times.clear();
  if (is_on_device(p) && object.matcher.plan().problem().want_times)
    refuse(
        "SP_WANT_TIMES requires images in host memory, but the images are on a device; leave SP_WANT_TIMES out, or "
        "pass images in host memory");
  if (is_on_device(p)) return object.matcher.wait(object.matcher.enqueue(pair_of<DevicePair>(p), device_result(r)));
  MatchedViews views = result_of<MatchedViews>(r);
  views.times = &object.times;
  object.matcher.match(pair_of<StereoPair>(p), views);
}

sp_image shape_of(const Plan& plan, std::uint32_t which) {
  const auto found = std::ranges::find_if(output_table, [&](const Output& output) {
    return output.kind == OutputKind::volume && output.want_bit == which;
  });
  if (found == output_table.end())
    refuse(text("there is no volume ", which, "; it must be SP_WANT_COST, SP_WANT_AGGREGATED or SP_WANT_OPTIMISED"));
  const OutputShape shape = output_shape(plan, static_cast<std::size_t>(found - output_table.begin()));
  if (shape.channels == 0)
    refuse(text("the volume ", which, " is not an output of this matcher; request it in problem.want"));
  return image_of({0, 0, shape.type, shape.size.width, shape.size.height, shape.channels,
                   std::ptrdiff_t{shape.size.width} * shape.channels, shape.type == PixelType::u16 ? 16 : 8},
                  SP_HOST);
}

}  // namespace
}  // namespace stereopsis::c

using namespace stereopsis;
using namespace stereopsis::c;

sp_status sp_matcher_create(const sp_pipeline* pipeline, const sp_problem* problem, sp_matcher** matcher) {
  return guarded([&] {
    given(matcher, "matcher") = nullptr;
    const sp_problem p = read(problem, "problem");
    *matcher =
        matchers().add(std::make_unique<MatcherObject>(Plan(pipeline_of(pipeline), problem_of(p), device_of(p))));
  });
}

sp_status sp_matcher_destroy(sp_matcher* matcher) {
  return guarded([&] {
    if (matcher != nullptr) InTurn::outside(matcher);
    matchers().remove(matcher, "matcher");
  });
}

sp_status sp_matcher_plan(const sp_matcher* matcher, sp_plan* plan) {
  return guarded([&] {
    const auto object = at(matcher);
    const Plan& p = object->matcher.plan();
    const Rect read = p.required_input();
    write({0,
           p.device().name.c_str(),
           p.workspace_bytes(),
           p.stripe_rows(),
           p.output_size().width,
           p.output_size().height,
           0,
           {read.x, read.y, read.width, read.height}},
          plan, "plan");
  });
}

sp_status sp_matcher_volume(const sp_matcher* matcher, uint32_t which, sp_image* shape) {
  return guarded([&] { write(shape_of(at(matcher)->matcher.plan(), which), shape, "shape"); });
}

sp_status sp_matcher_match(sp_matcher* matcher, const sp_pair* pair, const sp_result* result) {
  return guarded([&] {
    const InTurn object(matcher);
    match(*object, pair, result);
  });
}

sp_status sp_matcher_enqueue(sp_matcher* matcher, const sp_pair* pair, const sp_result* result, sp_ticket* ticket) {
  return guarded([&] {
    const InTurn object(matcher);
    sp_ticket& place = given(ticket, "ticket");
    place = enqueue(*object, pair, result, {});
  });
}

sp_status sp_matcher_enqueue_in_stream(sp_matcher* matcher, const sp_pair* pair, const sp_result* result, void* stream,
                                       sp_ticket* ticket) {
  return guarded([&] {
    const InTurn object(matcher);
    const sp_ticket begun = enqueue(*object, pair, result, reinterpret_cast<std::uintptr_t>(stream));
    if (ticket != nullptr) *ticket = begun;
  });
}

sp_status sp_matcher_wait(sp_matcher* matcher, sp_ticket ticket) {
  return guarded([&] {
    const InTurn object(matcher);
    const Ticket waited = ticket_of(ticket, *object);
    try {
      object->matcher.wait(waited);
    } catch (...) {
      object->progress.end(waited);
      throw;
    }
    object->progress.end(waited);
  });
}

sp_status sp_matcher_is_done(sp_matcher* matcher, sp_ticket ticket, int32_t* done) {
  return guarded([&] {
    const auto object = InTurn::outside(matcher);
    int32_t& answer = given(done, "done");
    const Ticket asked = ticket_of(ticket, *object);
    const std::unique_lock turn(object->mutex, std::try_to_lock);
    if (turn && object->matcher.is_done(asked)) object->progress.end(asked);
    answer = object->progress.is_done(asked);
  });
}

sp_status sp_matcher_time_count(const sp_matcher* matcher, size_t* count) {
  return guarded([&] {
    const InTurn object(matcher);
    given(count, "count") = object->times.size();
  });
}

sp_status sp_matcher_time(const sp_matcher* matcher, size_t index, sp_stage_time* time) {
  return guarded([&] {
    const InTurn object(matcher);
    if (index >= object->times.size())
      refuse(text("there is no time ", index, "; the number of times of the last match is ", object->times.size()));
    const StageTime& t = object->times[index];
    write({0, t.name.c_str(), t.ms, t.bytes}, time, "time");
  });
}
