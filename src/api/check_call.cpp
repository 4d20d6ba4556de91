// Checks the images of a call against the plan: shapes, memory, and whether an image is expected.
#include <cmath>
#include <limits>

#include "api/call_images.hpp"
#include "api/due_images.hpp"
#include "api/values.hpp"
#include "api/views.hpp"
#include "core/check_costs.hpp"
#include "core/refuse.hpp"
#include "graph/pipeline.hpp"
#include "stereopsis/mask.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/stream_mark.hpp"

namespace stereopsis {
namespace {

// Limit below which addresses are computed without overflow.
constexpr std::int64_t most_elements = std::int64_t{1} << 60;

// In cost volumes and path costs, a channel is a disparity.
std::string shown(const AnyView& v, bool is_volume = false) {
  const char* const channels = is_volume ? " disparities" : v.channels == 1 ? " channel" : " channels";
  return text(shown(v.size()), " pixels, ", to_string(pixel_type_of_element(v.element)), ", ", v.channels, channels);
}

// Returns the name of the format in error messages.
std::string name_of(const std::optional<PixelFormat>& format) { return format ? to_string(*format) : "grey or RGB"; }

bool is_given(const AnyView& v) { return v.memory != 0 || v.width != 0 || v.height != 0; }

bool has_shape(const AnyView& v, const AnyView& due) {
  return v.size() == due.size() && v.channels == due.channels && v.element == due.element;
}

void check_pitch(const std::string& name, const AnyView& v, std::int64_t most) {
  const std::int64_t row = std::int64_t{v.width} * v.channels;
  if (v.pitch < row || v.pitch > most / v.height)
    refuse(text("the pitch of ", name, " is ", v.pitch, " elements; a row requires at least ", row,
                " elements, and all rows together at most ", most,
                ", so set the distance between two rows in elements"));
}

// OpenCL and CUDA kernels count an image's elements in 32 bits.
void check_on_device(const Plan& plan, const std::string& name, const AnyView& v, bool is_volume) {
  const std::int64_t row = std::int64_t{v.width} * v.channels;
  if (is_volume && v.pitch != row)
    refuse(text("the pitch of ", name, " is ", v.pitch,
                " elements; a volume on a device must have rows without padding, so its pitch must be ", row));
  if (!is_volume) check_pitch(name, v, std::numeric_limits<std::int32_t>::max());
  if (v.offset < 0 || v.offset > most_elements)
    refuse(text(name, " begins at element ", v.offset, " of its memory; the offset must be 0 to ", most_elements));
  if (!is_memory_of(plan.device().name, v.memory))
    refuse(text(name, " is not memory of ", plan.device().name,
                "; pass memory that was allocated on this device, or images in host memory"));
}

// Rejects functions that are available only for images in host memory.
void check_device_use(const Problem& p, const std::string& device) {
  if (device == "cpu") refuse("images on a device cannot be matched on the cpu; plan for the device that holds them");
  if (p.stripe) refuse("the path costs of a stripe are in host memory; pass images in host memory");
  if (p.refine_only) refuse("the maps to refine are in host memory; pass images in host memory");
  if (p.region)
    refuse("images on a device cannot be matched in a region; plan without a region, and pass crops of the images");
  if (p.geometry.want_rectified)
    refuse(
        "the rectified image is not available for images on a device; plan without this output, or pass images in host "
        "memory");
  if (!p.volumes.probes.empty())
    refuse("probed costs are not available for images on a device; plan without probes, or pass images in host memory");
}

}  // namespace

void CallImages::check_image(const Plan& plan, const std::string& name, const AnyView& image, const DueImage& due,
                             bool is_volume, const std::string& how_to_plan) const {
  if (due.presence == DueImage::Presence::rejected) {
    if (is_given(image)) refuse(text("the matcher was not planned for ", name, "; ", how_to_plan, "leave it out"));
    return;
  }
  const bool is_empty = image.width == 0 && image.height == 0;  // copies of images without pixels have memory
  if (due.presence == DueImage::Presence::optional && is_empty) return;
  if (image.memory == 0 && (has_shape(image, due.shape) || !is_given(image)))
    refuse(text("no memory was passed for ", name, is_on_device_ ? " (its memory is 0)" : " (its data is null)",
                "; pass an image of ", shown(due.shape, is_volume)));
  if (!has_shape(image, due.shape))
    refuse(text("the shape of ", name, " is ", shown(image, is_volume), ", but the matcher was planned for ",
                shown(due.shape, is_volume), "; pass such an image, or make a new plan"));
  if (is_on_device_) return check_on_device(plan, name, image, is_volume);
  check_pitch(name, image, most_elements);
}

// Checks that both views have the same size and type, with a separate error for each difference.
void CallImages::check_views(const Plan& plan) const {
  const Problem& p = plan.problem();
  const AnyView &left = at(Binding::left), &right = at(Binding::right);
  if (p.volumes.without_images || !is_given(left) || !is_given(right)) return;
  if (format_ != p.format)
    refuse(text("the matcher was planned for images in ", name_of(p.format), ", but this pair is in ", name_of(format_),
                "; pass images in the planned format, or make a new plan"));
  if (left.size() != right.size())
    refuse(text("the left image has ", shown(left.size()), " pixels and the right one ", shown(right.size()),
                "; both must have the same size"));
  if (!has_shape(left, right) || bit_depths_[0] != bit_depths_[1])
    refuse(text("the left image has ", shown(left), ", ", bit_depths_[0], " bits, and the right one ", shown(right),
                ", ", bit_depths_[1], " bits; both must have the same type, channels and bit depth"));
  if (bit_depths_[0] != p.bit_depth)
    refuse(text("the images have ", bit_depths_[0], " bits, but the matcher was planned for ", p.bit_depth,
                " bits; make a new plan for these images"));
}

void CallImages::check_rows(const Plan& plan) const {
  if (!rows_) return;
  if (!plan.problem().row_alignment)
    refuse(
        "the pair has an alignment of rows, but the matcher was not planned for alignments; set Problem::row_alignment "
        "(an alignment of 0 pixels for pairs without one), or leave the alignment of the pair out");
  check_alignment(*rows_);
}

void CallImages::check_maps(const Plan& plan) const {
  if (!maps_) return;
  const RectificationMaps* const planned = plan.problem().geometry.rectification.get();
  if (planned == nullptr)
    refuse(
        "the pair has rectification maps, but the matcher was not planned for rectification; set "
        "Geometry::rectification, or leave the maps of the pair out");
  if (maps_->input != planned->input || maps_->size() != planned->size() || maps_->right.size() != planned->size())
    refuse(text("the rectification maps of the pair are for images of ", shown(maps_->input), " pixels and ",
                shown(maps_->size()), " rectified ones, but the matcher was planned for ", shown(planned->input),
                " and ", shown(planned->size()), "; give maps of these sizes, or make a new plan"));
  if ((planned->left_complete && !maps_->left_complete) || (planned->right_complete && !maps_->right_complete))
    refuse(
        "some pixels have no source in the rectification maps of the pair, but the matcher was planned for maps that "
        "are complete; plan for maps whose left_complete and right_complete are false");
}

void CallImages::check_inputs(const Plan& plan) const {
  if (is_on_device_) check_device_use(plan.problem(), plan.device().name);
  check_views(plan);
  check_rows(plan);
  check_maps(plan);
  for (std::size_t row = 0; row < input_table.size(); ++row) {
    const Input& input = input_table[row];
    const std::string planned_by = input.planned_by;
    check_image(plan, image_name(input_binding(row)), at(input_binding(row)), due_input(plan, row),
                input.kind == InputKind::volume || input.kind == InputKind::path_costs,
                planned_by.empty() ? "" : text("plan for ", planned_by, ", or "));
  }
  if (!is_on_device_) check_values(plan);
}

void CallImages::check_outputs(const Plan& plan) const {
  for (std::size_t row = 0; row < output_table.size(); ++row) {
    const Output& output = output_table[row];
    DueImage due{DueImage::Presence::rejected, output_shape(plan, row, result_sizes(plan))};
    const bool may_be_absent = output_binding(row) == Binding::output_validity && !is_on_device_;
    if (!due.shape.empty()) due.presence = may_be_absent ? DueImage::Presence::optional : DueImage::Presence::required;
    check_image(plan, text("the output '", output.name, "'"), at(output_binding(row)), due,
                output.kind == OutputKind::volume || output.kind == OutputKind::path_costs,
                "request it in the plan, or ");
  }
}

// Rejects infinite seeds, and a trust that is no share.
void CallImages::check_seeds() const {
  const auto check = [&](Binding map, auto&& is_allowed, const char* allowed) {
    const auto values = at(map).on_host<const float>();
    for (int y = 0; at(map).memory != 0 && y < values.height; ++y)
      for (int x = 0; x < values.width; ++x)
        if (!is_allowed(values(x, y)))
          refuse(text(image_name(map), " have the value ", values(x, y), " at x = ", x, ", y = ", y, "; ", allowed));
  };
  check(
      Binding::seeds, [](float s) { return !std::isinf(s); }, "pass finite disparities, and NaN where none is known");
  check(
      Binding::seed_trust, [](float t) { return t >= 0 && t <= 1; }, "pass 0 to 1");
}

void CallImages::check_values(const Plan& plan) const {
  check_seeds();

  for (const Binding view : {Binding::left, Binding::right})
    if (at(view).memory != 0)
      check_intensities(image_name(view), host_image(at(view), bit_depths_[view == Binding::right]));
  for (const Binding mask : {Binding::mask_left, Binding::mask_right})
    check_mask_in_place(at(mask).on_host<const std::uint8_t>());
  const PipelineData& pipeline = plan.pipeline().data();
  if (const AnyView& costs = at(Binding::costs); costs.memory != 0 && may_quantise(pipeline, costs.element))
    check_costs(image_name(Binding::costs), host_image(costs, 0),
                pipeline.cost.facet<Costs>()->units(pipeline.cost.parameters).largest);
  for (const Binding paths : {Binding::paths_above, Binding::paths_below})
    check_path_costs(image_name(paths), at(paths).on_host<const std::uint16_t>());
  if (plan.problem().refine_only)
    check_validity(at(Binding::given_disparity).on_host<const float>(),
                   at(Binding::given_validity).on_host<const std::uint8_t>());
}

}  // namespace stereopsis
