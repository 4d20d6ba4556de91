// Requests of Python, and the choice of a method and a size within a time.
#include "request.hpp"

#include <algorithm>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "jobs/budget.hpp"

namespace stereopsis::python {
namespace {

using Wanted = std::vector<std::string>;
using Region = std::tuple<int, int, int, int>;
using StripeOf = std::tuple<int, int, bool, bool, std::string>;

std::string all_that_can_be_wanted() {
  std::string names = "times";
  Problem problem;
  for (const Output& output : output_table)
    if (output.flag(problem) != nullptr) names += std::string(", ") + output.name;
  return names;
}

// Requests outputs by their names, and "times".
void want(Problem& p, const Wanted& names) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        output_table, [&](const Output& output) { return output.flag(p) != nullptr && name == output.name; });
    if (found == output_table.end() && name != "times")
      throw Error(ErrorCategory::call, "'" + name + "' is not an output; want may contain " + all_that_can_be_wanted());
    *(name == "times" ? &p.want_times : found->flag(p)) = true;
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

BoundaryStripe::Follow follow(const std::string& name) {
  if (name == "none") return BoundaryStripe::Follow::none;
  if (name == "down") return BoundaryStripe::Follow::down;
  if (name == "up") return BoundaryStripe::Follow::up;
  throw Error(ErrorCategory::call, "follow='" + name + "' is not allowed; it must be 'none', 'down' or 'up'");
}

std::unique_ptr<Request> make_request(std::tuple<int, int, int> shape, const std::string& dtype, int bit_depth,
                                      std::pair<int, int> disparities, const std::optional<std::string>& volume_dtype,
                                      bool without_images, const std::optional<Region>& region,
                                      const std::optional<StripeOf>& stripe, bool refine_only, const Wanted& wanted,
                                      const std::vector<std::pair<int, int>>& probes, const Rig* rig,
                                      const StereoCalibration* calibration, bool rig_moves,
                                      const std::string& frame_name, double disparity_error, bool fill_depth,
                                      const RowAlignment* row_alignment, std::optional<int> black, bool mark_flat,
                                      const std::string& device, int threads, const std::string& implementation_name,
                                      std::size_t memory_limit, int batch, const std::string& colour) {
  const auto [height, width, channels] = shape;
  auto request = std::make_unique<Request>();
  Problem& p = request->problem;
  p.size = {width, height};
  p.pixel_type = pixel_type(dtype);
  p.channels = channels;
  p.bit_depth = bit_depth != 0 ? bit_depth : p.pixel_type == PixelType::u16 ? 16 : 8;
  p.range = {disparities.first, disparities.second - disparities.first};
  p.batch = batch;
  p.format = format_of(colour);
  p.memory_limit = memory_limit;
  if (region) p.region = Rect{std::get<0>(*region), std::get<1>(*region), std::get<2>(*region), std::get<3>(*region)};
  if (stripe)
    p.stripe = BoundaryStripe{std::get<0>(*stripe), std::get<1>(*stripe), std::get<2>(*stripe), std::get<3>(*stripe),
                              follow(std::get<4>(*stripe))};
  p.refine_only = refine_only;
  if (volume_dtype) p.volumes.given = pixel_type(*volume_dtype);
  p.volumes.without_images = without_images;
  for (const auto& [x, y] : probes) p.volumes.probes.push_back({x, y});
  if (rig != nullptr) p.geometry.rig = *rig;
  p.geometry.frame = frame(frame_name);
  p.geometry.disparity_error = disparity_error;
  p.geometry.fill_depth = fill_depth;
  if (row_alignment != nullptr) p.row_alignment = *row_alignment;
  p.constant = {.mask_black = black.has_value(), .black = black.value_or(0), .mark_flat = mark_flat};
  want(p, wanted);
  request->device = {device, threads, implementation(implementation_name)};
  const nb::gil_scoped_release release;
  if (calibration != nullptr) {
    auto maps = std::make_shared<RectificationMaps>(rectification_maps(*calibration));
    if (rig_moves) maps->right_complete = false;  // pairs have maps of their own
    p.geometry.rectification = std::move(maps);
    if (rig == nullptr) p.geometry.rig = calibration->rig;
  }
  return request;
}

// A choice, and what was said while it was made.
struct Chosen {
  jobs::BudgetCandidate candidate;
  jobs::BudgetChoice choice;
  std::vector<std::string> warnings;
};

// The budget of a matcher, and the pipelines that it chooses from.
class BudgetOfMatcher {
 public:
  // `text`: the budget as the user wrote it, with the name of the argument. `given`: a pipeline of which the size is
  // chosen; null for all methods.
  BudgetOfMatcher(const std::string& budget, const std::string& text, const Pipeline* given, bool with_seeds)
      : budget_(jobs::to_budget(budget, text)), candidates_(jobs::candidates_of(budget_, given)) {
    if (with_seeds) jobs::use_seeds(candidates_);
  }

  Chosen choose(const Request& request, const BorrowedPair& lent) const {
    if (lent.is_on_device())
      refuse(budget_.text + " measures pairs in host memory, and left is on a GPU; copy the images to the host");
    const nb::gil_scoped_release release;
    const std::vector<Device> devices = devices_of(request.device);
    if (devices.size() > 1)
      refuse(budget_.text + " measures one device, and device='" + request.device.name + "' names " +
             std::to_string(devices.size()) + "; give one device");
    Problem problem = request.problem;
    problem.want_times = false;
    const std::string limit = problem.memory_limit == 0 ? "" : std::to_string(problem.memory_limit);
    const jobs::MakeMatch make = [&](const Pipeline& pipeline) {
      const auto matcher = std::make_shared<Matcher>(Plan(pipeline, problem, devices.front()));
      return [matcher, result = std::make_shared<Matched>(), &lent] { matcher->match(lent.pair, *result); };
    };
    std::vector<std::string> warnings;
    const jobs::BudgetChoice choice =
        jobs::choose_within(budget_, candidates_, jobs::description_of(problem, lent.pair, limit), devices.front(),
                            make, [&](const std::string& sentence) { warnings.push_back(sentence); });
    return {candidates_[choice.candidate], choice, warnings};
  }

 private:
  jobs::Budget budget_;
  std::vector<jobs::BudgetCandidate> candidates_;
};

}  // namespace

void bind_request(nb::module_& m) {
  nb::class_<Request>(m, "Request")
      .def(nb::new_(&make_request), "shape"_a, "dtype"_a, "bit_depth"_a, "disparities"_a, "volume_dtype"_a.none(),
           "without_images"_a, "region"_a.none(), "stripe"_a.none(), "refine_only"_a, "want"_a, "probes"_a,
           "rig"_a.none(), "calibration"_a.none(), "rig_moves"_a, "frame"_a, "disparity_error"_a, "fill_depth"_a,
           "row_alignment"_a.none(), "black"_a.none(), "mark_flat"_a, "device"_a, "threads"_a, "implementation"_a,
           "memory_limit"_a, "batch"_a, "color"_a);

  nb::class_<Chosen>(m, "Chosen")
      .def_prop_ro("method", [](const Chosen& c) { return c.candidate.method; })
      .def_prop_ro("settings", [](const Chosen& c) { return c.candidate.settings; })
      .def_prop_ro("pipeline", [](const Chosen& c) { return c.candidate.pipeline; })
      .def_prop_ro("ms", [](const Chosen& c) { return c.choice.ms; })
      .def_prop_ro("is_measured", [](const Chosen& c) { return c.choice.is_measured; })
      .def_ro("warnings", &Chosen::warnings);
  nb::class_<BudgetOfMatcher>(m, "Budget")
      .def(nb::init<const std::string&, const std::string&, const Pipeline*, bool>(), "budget"_a, "text"_a,
           "given"_a.none(), "with_seeds"_a)
      .def("choose", &BudgetOfMatcher::choose, "request"_a, "pair"_a);
}

}  // namespace stereopsis::python
