#include "outputs.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

namespace stereopsis::python {
namespace {

std::string shape_of(const DeviceImageView& v) {
  return "(" + std::to_string(v.height) + ", " + std::to_string(v.width) +
         (v.channels == 1 ? "" : ", " + std::to_string(v.channels)) + ")";
}

}  // namespace

std::vector<Output> outputs_of(const Plan& plan) {
  const Problem& p = plan.problem();
  std::vector<Output> outputs;
  if (p.stripe && p.stripe->follow != Stripe::Follow::none) return outputs;
  const auto add = [&](bool wanted, const char* name, DeviceImageView DeviceMatched::*place, PixelType type, Size size,
                       int channels) {
    if (wanted)
      outputs.push_back({name, place, {0, 0, type, size.width, size.height, channels, size.width * channels, 8}});
  };
  const auto image = [&](bool wanted, const char* name, DeviceImageView DeviceMatched::*place, int channels = 1) {
    add(wanted, name, place, PixelType::f32, plan.output_size(), channels);
  };
  const auto volume = [&](bool wanted, const char* name, DeviceImageView DeviceMatched::*place, CostState state) {
    if (!wanted) return;
    const VolumeShape shape = plan.volume(state);
    add(true, name, place, shape.type, p.region ? p.region->size() : shape.size, shape.disparities);
  };
  using M = DeviceMatched;
  image(true, "disparity", &M::disparity);
  add(true, "validity", &M::validity, PixelType::u8, plan.output_size(), 1);
  image(p.want_right, "right", &M::right);
  image(p.want_confidence, "confidence", &M::confidence);
  image(p.geometry.want_depth, "depth", &M::depth);
  image(p.geometry.want_points, "points", &M::points, 3);
  image(p.geometry.want_uncertainty, "uncertainty", &M::uncertainty);
  add(p.geometry.want_rectified, "rectified", nullptr, p.pixel_type, p.rectified_size(), p.channels);
  volume(p.volumes.want_cost, "cost", &M::cost, CostState::cost);
  volume(p.volumes.want_aggregated, "aggregated", &M::aggregated, CostState::aggregated);
  volume(p.volumes.want_optimised, "optimised", &M::optimised, CostState::optimised);
  return outputs;
}

const Output& output_of(const std::vector<Output>& outputs, const std::string& name) {
  const auto found = std::ranges::find(outputs, name, &Output::name);
  if (found == outputs.end())
    refuse("out has '" + name + "', which is not wanted of this matcher; name it in want too");
  return *found;
}

AnyImageView view_for(const Output& output, const BorrowedArray& lent) {
  const DeviceImageView& shape = output.shape;
  if (lent.read_only()) refuse(lent.name() + " is read-only; give one that can be written to");
  const bool is_volume = shape.channels != 1 && shape.channels != 3;
  const AnyImageView view = is_volume ? lent.volume() : lent.image();
  if (view.size() != shape.size() || view.channels != shape.channels || view.type != shape.type)
    refuse(lent.name() + " has the shape " + lent.shape() + " and the type " + dtype_of(lent.type()) + "; it must be " +
           shape_of(shape) + " and " + dtype_of(shape.type));
  return view;
}

void check_overlaps(const std::vector<NamedView>& outputs, const std::vector<NamedView>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, view] = outputs[i];
    for (const auto& [input, read] : inputs)
      if (overlap(view, read))
        refuse("out['" + name + "'] shares memory with " + input + ", which is read; give an array of its own");
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(view, outputs[j].second))
        refuse("out['" + outputs[j].first + "'] and out['" + name + "'] share memory; give each an array of its own");
  }
}

HostOut::HostOut(const Plan& plan, const nb::dict& out, const std::vector<NamedView>& inputs) {
  if (out.size() == 0) return;
  const std::vector<Output> outputs = outputs_of(plan);
  for (const auto& [key, array] : out) {
    const std::string name = nb::cast<std::string>(key);
    const Output& output = output_of(outputs, name);
    BorrowedArray lent(array, "out['" + name + "']");
    if (!lent.device().empty())
      refuse(lent.name() + " is in memory of " + lent.device() +
             ", but left is in the memory of the host; copy one of them");
    const AnyImageView view = view_for(output, lent);
    taken_.push_back({name, std::move(lent), view});
  }
  std::vector<NamedView> written;
  for (const Taken& taken : taken_) written.emplace_back(taken.name, taken.view);
  check_overlaps(written, inputs);
}

void HostOut::exchange(Matched& result, Matched& kept) const {
  for (const Taken& taken : taken_)
    for_each_image([&](const char* name, auto member) {
      if (taken.name == name) std::swap(result.*member, kept.*member);
    });
}

void HostOut::copy_from(const Matched& result) const {
  const auto copy = [](const AnyImageView& from, const AnyImageView& to) {
    const auto bytes = static_cast<std::size_t>(bytes_of(to.type));
    const std::size_t row = bytes * to.width * to.channels;
    const auto* source = static_cast<const std::byte*>(from.data);
    auto* target = static_cast<std::byte*>(const_cast<void*>(to.data));
    for (int y = 0; y < to.height; ++y)
      std::memcpy(target + y * to.pitch * static_cast<std::ptrdiff_t>(bytes),
                  source + y * from.pitch * static_cast<std::ptrdiff_t>(bytes), row);
  };
  for (const Taken& taken : taken_)
    for_each_image([&](const char* name, auto member) {
      if (taken.name == name) copy(result.*member, taken.view);
    });
}

}  // namespace stereopsis::python
