#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stereopsis/matcher.hpp"

using namespace nanobind::literals;

namespace stereopsis::python {
namespace {

using Names = std::vector<std::string>;
using Region = std::tuple<int, int, int, int>;

// What is wanted beside disparity and validity.
void want(Problem& p, const Names& names) {
  const std::pair<const char*, bool*> known[] = {{"right", &p.want_right},
                                                 {"confidence", &p.want_confidence},
                                                 {"times", &p.want_times},
                                                 {"depth", &p.geometry.want_depth},
                                                 {"points", &p.geometry.want_points},
                                                 {"uncertainty", &p.geometry.want_uncertainty},
                                                 {"rectified", &p.geometry.want_rectified},
                                                 {"cost", &p.volumes.want_cost},
                                                 {"aggregated", &p.volumes.want_aggregated},
                                                 {"optimised", &p.volumes.want_optimised}};
  for (const std::string& name : names) {
    const auto found = std::find_if(std::begin(known), std::end(known), [&](const auto& k) { return name == k.first; });
    if (found == std::end(known)) {
      std::string all;
      for (const auto& [one, flag] : known) all += std::string(all.empty() ? "" : ", ") + one;
      throw Error(ErrorCategory::call, "'" + name + "' can't be wanted; want may list " + all);
    }
    *found->second = true;
  }
}

Implementation implementation(const std::string& name) {
  if (name == "fused") return Implementation::fused;
  if (name == "plain") return Implementation::plain;
  if (name == "oracle") return Implementation::oracle;
  throw Error(ErrorCategory::call,
              "implementation='" + name + "' is not allowed; it must be 'fused', 'plain' or 'oracle'");
}

Frame frame(const std::string& name) {
  if (name == "optical") return Frame::optical;
  if (name == "head") return Frame::head;
  throw Error(ErrorCategory::call, "frame='" + name + "' is not allowed; it must be 'optical' or 'head'");
}

// A matcher that Python's threads may share: they take turns.
class SharedMatcher {
 public:
  explicit SharedMatcher(Plan plan) : matcher_(std::move(plan)) {}

  const Plan& plan() const { return matcher_.plan(); }
  void match(const StereoPair& pair, Matched& result) {
    const std::lock_guard lock(mutex_);
    matcher_.match(pair, result);
  }
  Ticket enqueue(const StereoPair& pair, Matched& result) {
    const std::lock_guard lock(mutex_);
    return matcher_.enqueue(pair, result);
  }
  void wait(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    matcher_.wait(ticket);
  }

 private:
  std::mutex mutex_;
  Matcher matcher_;
};

// A pair in work: keeps its images until it is done, whatever becomes of it.
class Pending {
 public:
  Pending(std::shared_ptr<SharedMatcher> matcher, LentPair lent)
      : matcher_(std::move(matcher)), lent_(std::move(lent)), result_(std::make_shared<Matched>()) {
    const nb::gil_scoped_release release;
    ticket_ = matcher_->enqueue(lent_.pair, *result_);
  }
  ~Pending() {
    const nb::gil_scoped_release release;
    try {
      matcher_->wait(ticket_);
    } catch (const std::exception&) {  // of a pair that nobody waits for
    }
  }
  nb::dict wait() {
    {
      const nb::gil_scoped_release release;
      matcher_->wait(ticket_);
    }
    return arrays_of(result_);
  }

 private:
  std::shared_ptr<SharedMatcher> matcher_;
  LentPair lent_;
  std::shared_ptr<Matched> result_;
  Ticket ticket_;
};

std::shared_ptr<SharedMatcher> make_matcher(const Pipeline& pipeline, std::tuple<int, int, int> shape,
                                            const std::string& dtype, int bit_depth, std::pair<int, int> disparities,
                                            const std::optional<std::string>& volume_dtype, bool without_images,
                                            const std::optional<Region>& region, const Names& wanted, const Rig* rig,
                                            const StereoCalibration* calibration, const std::string& frame_name,
                                            double disparity_error, const std::string& device, int threads,
                                            const std::string& implementation_name, std::size_t memory_limit,
                                            int batch) {
  const auto [height, width, channels] = shape;
  Problem p;
  p.size = {width, height};
  p.pixel_type = pixel_type(dtype);
  p.channels = channels;
  p.bit_depth = bit_depth != 0 ? bit_depth : p.pixel_type == PixelType::u16 ? 16 : 8;
  p.range = {disparities.first, disparities.second - disparities.first};
  p.batch = batch;
  p.memory_limit = memory_limit;
  if (region) p.region = Rect{std::get<0>(*region), std::get<1>(*region), std::get<2>(*region), std::get<3>(*region)};
  if (volume_dtype) p.volumes.given = pixel_type(*volume_dtype);
  p.volumes.without_images = without_images;
  if (rig != nullptr) p.geometry.rig = *rig;
  p.geometry.frame = frame(frame_name);
  p.geometry.disparity_error = disparity_error;
  want(p, wanted);
  const Device on{device, threads, implementation(implementation_name)};
  const nb::gil_scoped_release release;
  if (calibration != nullptr) {
    p.geometry.rectification = std::make_shared<const RectificationMaps>(rectification_maps(*calibration));
    if (rig == nullptr) p.geometry.rig = calibration->rig;
  }
  return std::make_shared<SharedMatcher>(Plan(pipeline, p, on));
}

nb::dict match(SharedMatcher& matcher, nb::handle left, nb::handle right, nb::handle mask_left, nb::handle mask_right,
               nb::handle volume, int bit_depth, bool bgr) {
  const LentPair lent(left, right, mask_left, mask_right, volume, bit_depth, bgr);
  const auto result = std::make_shared<Matched>();
  {
    const nb::gil_scoped_release release;
    matcher.match(lent.pair, *result);
  }
  return arrays_of(result);
}

std::unique_ptr<Pending> enqueue(const std::shared_ptr<SharedMatcher>& matcher, nb::handle left, nb::handle right,
                                 nb::handle mask_left, nb::handle mask_right, nb::handle volume, int bit_depth,
                                 bool bgr) {
  return std::make_unique<Pending>(matcher, LentPair(left, right, mask_left, mask_right, volume, bit_depth, bgr));
}

}  // namespace

void bind_matcher(nb::module_& m) {
  nb::class_<DeviceDescription>(m, "Device", "A device that was looked for, usable or not.")
      .def_ro("name", &DeviceDescription::name, "As `device=` takes it.")
      .def_ro("description", &DeviceDescription::description)
      .def_ro("usable", &DeviceDescription::usable)
      .def_ro("reason", &DeviceDescription::reason, "Why it can't be used, and what would help; else empty.")
      .def_prop_ro("properties",
                   [](const DeviceDescription& d) {
                     return std::map<std::string, std::string>(d.properties.begin(), d.properties.end());
                   })
      .def("__repr__", [](const DeviceDescription& d) {
        return "<device " + d.name + ": " + (d.usable ? d.description : d.reason) + ">";
      });
  m.def(
      "devices", [] { return devices(); }, nb::call_guard<nb::gil_scoped_release>(),
      "All devices that were looked for, usable or not.");

  nb::class_<PlanStep>(m, "Step", "A step of a plan.")
      .def_prop_ro(
          "name", [](const PlanStep& s) { return s.work.name; }, "What is done.")
      .def_ro("stage", &PlanStep::stage, "What does it: \"rank\", \"sgm_wta_cuda\".")
      .def_ro("fused", &PlanStep::fused, "Several stages at once.")
      .def_ro("scratch_bytes", &PlanStep::scratch_bytes, "Memory that it alone takes.")
      .def_prop_ro(
          "bytes", [](const PlanStep& s) { return s.work.bytes; }, "Read and written, by definition.")
      .def_ro("note", &PlanStep::note, "Why nothing fused, or nothing faster, does it.")
      .def("__repr__", [](const PlanStep& s) { return "<" + s.work.name + ": by " + s.stage + ">"; });

  nb::class_<Pending>(m, "Pending").def("wait", &Pending::wait);

  nb::class_<SharedMatcher>(m, "Matcher")
      .def(nb::new_(&make_matcher), "pipeline"_a, "shape"_a, "dtype"_a, "bit_depth"_a, "disparities"_a,
           "volume_dtype"_a.none(), "without_images"_a, "region"_a.none(), "want"_a, "rig"_a.none(),
           "calibration"_a.none(), "frame"_a, "disparity_error"_a, "device"_a, "threads"_a, "implementation"_a,
           "memory_limit"_a, "batch"_a)
      .def("match", &match, "left"_a.none(), "right"_a.none(), "mask_left"_a.none(), "mask_right"_a.none(),
           "volume"_a.none(), "bit_depth"_a, "bgr"_a)
      .def("enqueue", &enqueue, "left"_a.none(), "right"_a.none(), "mask_left"_a.none(), "mask_right"_a.none(),
           "volume"_a.none(), "bit_depth"_a, "bgr"_a)
      .def_prop_ro("device", [](const SharedMatcher& s) { return s.plan().device().name; })
      .def_prop_ro("workspace_bytes", [](const SharedMatcher& s) { return s.plan().workspace_bytes(); })
      .def_prop_ro("steps", [](const SharedMatcher& s) { return s.plan().steps(); });

  m.def("kind_of", &kind_of, "array"_a, "name"_a, "volume"_a = false);
}

}  // namespace stereopsis::python
