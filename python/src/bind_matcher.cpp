#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "jobs/pair_fault.hpp"
#include "outputs.hpp"
#include "request.hpp"
#include "stereopsis/simd.hpp"
#include "user_stage.hpp"

namespace stereopsis::python {
namespace {

using Names = std::vector<std::string>;

// A matcher, or one on each of several devices, that Python's threads may share: they take turns.
class SharedMatcher {
 public:
  using PairMemory = std::array<std::vector<std::byte>, 2>;

  SharedMatcher(const Pipeline& pipeline, const Problem& problem, const std::vector<Device>& devices) {
    if (devices.size() > 1)
      group_.emplace(pipeline, problem, devices);
    else
      matcher_.emplace(Plan(pipeline, problem, devices.front()));
  }

  const Plan& plan() const { return group_ ? group_->plan() : matcher_->plan(); }
  std::size_t workspace_bytes() const { return group_ ? group_->workspace_bytes() : plan().workspace_bytes(); }
  Names devices() const { return group_ ? group_->devices() : Names{plan().device().name}; }
  std::vector<LostDevice> lost() const { return group_ ? group_->lost() : std::vector<LostDevice>(); }
  void match(const StereoPair& pair, Matched& result, const HostOut& out) {
    const std::lock_guard lock(mutex_);
    device_of_call() = plan().device().name;
    out.exchange(result, kept_);
    if (group_)
      group_->wait(group_->enqueue(pair, result));
    else
      matcher_->match(pair, result);
    out.copy_from(result);
    out.exchange(result, kept_);
  }
  Ticket enqueue(const StereoPair& pair, Matched& result) {
    const std::lock_guard lock(mutex_);
    device_of_call() = plan().device().name;
    return group_ ? group_->enqueue(pair, result) : matcher_->enqueue(pair, result);
  }
  void wait(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    group_ ? group_->wait(ticket) : matcher_->wait(ticket);
  }
  // Memory for copies of a pair, which is recycled from pair to pair. Both functions run under the GIL.
  PairMemory take_memory() {
    if (spare_.empty()) return {};
    PairMemory memory = std::move(spare_.back());
    spare_.pop_back();
    return memory;
  }
  void give_memory(PairMemory memory) { spare_.push_back(std::move(memory)); }
  // Behind what the pair's stream was given before, and before what it is given from then on: nobody waits. `out` has arrays of the caller's
  // by the names of what they take. All of it under the GIL.
  nb::dict match_on_device(BorrowedPair pair, const nb::dict& out);

 private:
  // The caller's arrays that a pair on a GPU reads and writes, kept until the pair is done.
  struct Work {
    std::shared_ptr<StreamMark> done;
    BorrowedPair pair;
    std::vector<BorrowedArray> out;
  };

  void prepare_for_device();
  void check_device(const BorrowedArray& lent) const;
  void order_before(const BorrowedArray& lent, std::uint64_t stream);
  DeviceImageView take_output(const ResultImage& output, nb::handle array, std::uint64_t stream,
                              std::vector<BorrowedArray>& kept);

  std::deque<Work> works_;  // outlives the matcher, which ends them
  std::shared_ptr<OutputBuffers> buffers_;
  std::vector<ResultImage> outputs_;
  std::mutex mutex_;
  std::vector<PairMemory> spare_;
  Matched kept_;                    // images of results that went to arrays of the caller's
  std::optional<Matcher> matcher_;  // or, on several devices,
  std::optional<MatcherGroup> group_;
};

void SharedMatcher::prepare_for_device() {
  if (buffers_) return;
  if (group_) refuse("arrays on a GPU can only be matched on that GPU; give one device, not several");
  if (plan().problem().geometry.want_rectified)
    refuse("the output 'rectified' is not available for arrays on a GPU; leave it out of want");
  if (!plan().problem().volumes.probes.empty())
    refuse(
        "probes are not available for arrays on a GPU; request the volume and index it, or copy the pair to the host");
  outputs_ = images_of(plan());
  std::vector<DeviceImageView> shapes;
  for (const ResultImage& output : outputs_) shapes.push_back(output.shape);
  buffers_ = std::make_shared<OutputBuffers>(plan().device().name, std::move(shapes));
}

void SharedMatcher::check_device(const BorrowedArray& lent) const {
  const std::string& own = plan().device().name;
  const bool here = lent.device() == own || (lent.device() == unknown_gpu && is_memory_of(own, lent.address()));
  if (!here)
    refuse(lent.name() + " is in " + (lent.device().empty() ? "the memory of the host" : "memory of " + lent.device()) +
           ", but the matcher runs on " + own +
           "; copy the array to the device of the matcher, or use the device of the array");
}

void SharedMatcher::order_before(const BorrowedArray& lent, std::uint64_t stream) {
  if (!lent.producer() || *lent.producer() == stream) return;
  const auto mark = buffers_->take_mark();
  mark->take(*lent.producer());
  mark->hold(stream);
}

DeviceImageView SharedMatcher::take_output(const ResultImage& output, nb::handle array, std::uint64_t stream,
                                           std::vector<BorrowedArray>& kept) {
  const BorrowedArray& lent = kept.emplace_back(array, "out['" + output.name + "']", stream);
  check_device(lent);
  const DeviceImageView view = on_device(view_for(output, lent));
  order_before(lent, stream);
  return view;
}

nb::dict SharedMatcher::match_on_device(BorrowedPair pair, const nb::dict& out) {
  prepare_for_device();
  while (!works_.empty() && works_.front().done->is_passed()) works_.pop_front();
  for (const BorrowedArray& array : pair.lent) {
    check_device(array);
    order_before(array, pair.stream);
  }
  for (const auto& [name, array] : out) image_of(outputs_, text_of(name));
  Work work{buffers_->take_mark(), std::move(pair), {}};
  const auto buffer = buffers_->take(work.pair.stream);
  nb::dict arrays;
  DeviceMatched result;
  std::vector<NamedView> written;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ResultImage& output = outputs_[i];
    const char* name = output.name.c_str();
    if (out.contains(name)) {
      arrays[name] = out[name];
      output.place(result) = take_output(output, out[name], work.pair.stream, work.out);
      written.emplace_back(output.name, view_for(output, work.out.back()));
    } else {
      output.place(result) = buffers_->image(*buffer, i);
      arrays[name] = DeviceArray(buffers_, buffer, output.place(result));
    }
  }
  check_overlaps(written, work.pair.inputs());
  const DevicePair images = work.pair.device_pair();
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    device_of_call() = plan().device().name;
    matcher_->enqueue(images, result, work.pair.stream);
    work.done->take(work.pair.stream);
  }
  buffer->done = work.done;
  works_.push_back(std::move(work));
  arrays["times"] = nb::list();
  return arrays;
}

// A pair in flight: keeps its images, or copies of them, until it is done, whatever becomes of it.
class Pending {
 public:
  Pending(std::shared_ptr<SharedMatcher> matcher, BorrowedPair lent, bool copies)
      : matcher_(std::move(matcher)), origin_(matcher_), lent_(std::move(lent)), result_(std::make_shared<Matched>()) {
    if (copies) lent_.copy_images(memory_.emplace(matcher_->take_memory()));
    const nb::gil_scoped_release release;
    ticket_ = matcher_->enqueue(lent_.pair, *result_);
  }
  ~Pending() {
    if (matcher_) try {
        const nb::gil_scoped_release release;
        matcher_->wait(ticket_);
      } catch (const std::exception&) {  // nobody waits for this pair
      }
    if (const auto origin = origin_.lock(); origin && memory_) origin->give_memory(std::move(*memory_));
  }
  bool overlaps(const BorrowedPair& other) const {
    for (const AnyImageView& own : {lent_.pair.left, lent_.pair.right})
      for (const AnyImageView& given : {other.pair.left, other.pair.right})
        if (overlap(own, given)) return true;
    return false;
  }
  const BorrowedPair& pair() const { return lent_; }
  nb::dict wait() {
    if (matcher_) {
      const nb::gil_scoped_release release;
      matcher_->wait(ticket_);
    }
    matcher_.reset();  // its workspace may be freed although the images are still there
    return arrays_of(result_);
  }

 private:
  std::shared_ptr<SharedMatcher> matcher_;  // null once the pair is done
  std::weak_ptr<SharedMatcher> origin_;
  BorrowedPair lent_;
  std::optional<SharedMatcher::PairMemory> memory_;
  std::shared_ptr<Matched> result_;
  Ticket ticket_;
};

std::shared_ptr<SharedMatcher> make_matcher(const Pipeline& pipeline, const Request& request) {
  const nb::gil_scoped_release release;
  const std::vector<Device> devices = request.devices();
  if (devices.size() > 1)
    for (const PipelineSlot& slot : pipeline.slots())
      if (slot.is_function) refuse("a stage in Python runs only on one device; give one device");
  return std::make_shared<SharedMatcher>(pipeline, request.problem, devices);
}

nb::dict match(SharedMatcher& matcher, BorrowedPair& pair, const nb::dict& out) {
  if (pair.is_on_device()) return matcher.match_on_device(std::move(pair), out);
  const HostOut taken(matcher.plan(), out, pair.inputs());
  const auto result = std::make_shared<Matched>();
  {
    const nb::gil_scoped_release release;
    matcher.match(pair.pair, *result, taken);
  }
  nb::dict arrays = arrays_of(result);
  for (const auto& [name, array] : out) arrays[name] = array;
  return arrays;
}

// Returns f(left, right) of the images as they are matched, or nothing if they cannot be compared: then the matcher says
// what is wrong with them.
template <class F>
auto rows_by(F&& f, const BorrowedPair& lent, const RectificationMaps* maps) {
  using Rows = decltype(f(lent.pair.left, lent.pair.right));
  const nb::gil_scoped_release release;
  try {
    return std::optional<Rows>(jobs::with_matched(lent.pair, maps, f));
  } catch (const Error& error) {
    if (error.category() != ErrorCategory::call) throw;
    return std::optional<Rows>();
  }
}

std::unique_ptr<Pending> enqueue(const std::shared_ptr<SharedMatcher>& matcher, BorrowedPair& pair, bool copies) {
  return std::make_unique<Pending>(matcher, std::move(pair), copies);
}

}  // namespace

void bind_matcher(nb::module_& m) {
  nb::class_<DeviceDescription>(m, "Device", "A device that the library has looked for, usable or not.")
      .def_ro("name", &DeviceDescription::name, "Name of the device, for `device=`, such as \"cpu\" or \"cuda:0\".")
      .def_ro("description", &DeviceDescription::description, "Hardware, such as \"Intel Xeon, 2 cores, AVX-512\".")
      .def_ro("usable", &DeviceDescription::usable, "True if matchers can run on the device.")
      .def_ro("reason", &DeviceDescription::reason,
              "Reason why the device cannot be used, and what to do; empty if it can be used.")
      .def_prop_ro(
          "properties",
          [](const DeviceDescription& d) {
            return std::map<std::string, std::string>(d.properties.begin(), d.properties.end());
          },
          "Further properties by their names.")
      .def("__repr__", [](const DeviceDescription& d) {
        return "<device " + d.name + ": " + (d.usable ? d.description : d.reason) + ">";
      });
  m.def(
      "devices", [] { return devices(); }, nb::call_guard<nb::gil_scoped_release>(),
      "Returns all devices that the library has looked for, usable or not.");
  m.def("simd_targets", &simd_targets,
        "Returns the SIMD targets that this CPU and this build of the package support, the best one first.");
  m.def(
      "use_simd", [](const std::string& target) { use_simd(target); }, "target"_a,
      "Makes all matchers of the process use a SIMD target of the CPU. Results do not depend on the target. Call this "
      "function before matchers are made. Raises CallError for an unknown name, and UnsupportedError for a target that "
      "this CPU or this build lacks.\n\n"
      "`target`: one of simd_targets(), or \"auto\" for the best one.");

  nb::class_<PlanStep>(m, "Step", "A step of a plan.")
      .def_prop_ro(
          "name", [](const PlanStep& s) { return s.work.name; }, "Name of the operation.")
      .def_ro("stage", &PlanStep::stage, "Name of the implementation, such as \"rank\" or \"sgm_wta_cuda\".")
      .def_ro("fused", &PlanStep::fused, "True if the step computes several stages at once.")
      .def_ro("scratch_bytes", &PlanStep::scratch_bytes,
              "Memory that the step needs in addition to its inputs and outputs, in bytes.")
      .def_prop_ro(
          "bytes", [](const PlanStep& s) { return s.work.bytes; },
          "Number of bytes that the step reads and writes by definition, without scratch memory.")
      .def_ro("note", &PlanStep::note, "Reason why no fused or faster implementation is used; empty if there is none.")
      .def("__repr__", [](const PlanStep& s) { return "<" + s.work.name + ": by " + s.stage + ">"; });

  // BorrowedArray for one match, of a matcher of their kind.
  nb::class_<BorrowedPair>(m, "Pair")
      .def(nb::init<const nb::dict&, int, const std::string&, nb::handle>(), "inputs"_a, "bit_depth"_a, "color"_a,
           "stream"_a.none())
      .def_prop_ro("kind", &BorrowedPair::kind,
                   "(height, width, channels, dtype) of the images, the same tuple for the costs, and the device.")
      .def_ro("stream", &BorrowedPair::stream)
      .def(
          "align_rows", [](BorrowedPair& lent, const RowAlignment& rows) { lent.pair.row_alignment = rows; }, "rows"_a)
      .def(
          "rectify_by",
          [](BorrowedPair& lent, std::shared_ptr<RectificationMaps> maps) {
            lent.pair.rectification = std::move(maps);
          },
          "maps"_a)
      .def(
          "estimated_rows",
          [](const BorrowedPair& lent, const RectificationMaps* maps) {
            return rows_by(estimate_row_alignment, lent, maps);
          },
          "rectification"_a.none(), "RowEstimate of a pair on the host; None if its images cannot be compared.")
      .def(
          "measured_rows",
          [](const BorrowedPair& lent, const RectificationMaps* maps) { return rows_by(measure_rows, lent, maps); },
          "rectification"_a.none(), "RowMeasurement of a pair on the host; None if its images cannot be compared.")
      .def("float_limits", &BorrowedPair::float_limits,
           "Least and greatest value of a left float32 image in host memory; None for other images.")
      .def(
          "fault",
          [](const BorrowedPair& lent, const BorrowedPair* before, const RectificationMaps* maps, bool negative) {
            const nb::gil_scoped_release release;
            return jobs::gravest_fault(lent.pair, before == nullptr ? nullptr : &before->pair, maps, negative);
          },
          "before"_a.none(), "rectification"_a.none(), "expects_negative"_a,
          "Returns the gravest fault of a pair on the host, after the pair `before`; None if it fits, or is too small "
          "to "
          "be judged.");

  nb::class_<Pending>(m, "Pending")
      .def("wait", &Pending::wait)
      .def("overlaps", &Pending::overlaps, "pair"_a)
      .def_prop_ro("pair", &Pending::pair, nb::rv_policy::reference_internal);

  nb::class_<SharedMatcher>(m, "Matcher")
      .def(nb::new_(&make_matcher), "pipeline"_a, "request"_a)
      .def("match", &match, "pair"_a, "out"_a)
      .def("enqueue", &enqueue, "pair"_a, "copies"_a)
      .def_prop_ro("device", [](const SharedMatcher& s) { return s.plan().device().name; })
      .def_prop_ro("devices", &SharedMatcher::devices)
      .def_prop_ro("lost",
                   [](const SharedMatcher& s) {
                     std::vector<std::pair<std::string, std::string>> lost;
                     for (const LostDevice& device : s.lost()) lost.emplace_back(device.name, device.why);
                     return lost;
                   })
      .def_prop_ro("workspace_bytes", &SharedMatcher::workspace_bytes)
      .def_prop_ro("required_input",
                   [](const SharedMatcher& s) {
                     const Rect r = s.plan().required_input();
                     return std::tuple{r.x, r.y, r.width, r.height};
                   })
      .def_prop_ro("steps", [](const SharedMatcher& s) { return s.plan().steps(); });
}

}  // namespace stereopsis::python
