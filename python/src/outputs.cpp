#include "outputs.hpp"

#include <algorithm>
#include <cstring>

namespace stereopsis::python {
namespace {

std::string shape_of(const DeviceImageView& v) {
  return "(" + std::to_string(v.height) + ", " + std::to_string(v.width) +
         (v.channels == 1 ? "" : ", " + std::to_string(v.channels)) + ")";
}

}  // namespace

std::vector<ResultImage> images_of(const Plan& plan) {
  std::vector<ResultImage> images;
  for_each_image([&](std::size_t row, auto field) {
    const OutputShape shape = output_shape(plan, row);
    if (shape.channels == 0) return;
    ResultImage& image = images.emplace_back();
    image.name = output_table[row].name;
    if constexpr (requires(DeviceMatched & result) { field(result); })
      image.place = [](DeviceMatched& result) -> DeviceImageView& { return decltype(field){}(result); };
    image.shape = {0,
                   0,
                   shape.type,
                   shape.size.width,
                   shape.size.height,
                   shape.channels,
                   std::ptrdiff_t{shape.size.width} * shape.channels,
                   8};
  });
  return images;
}

const ResultImage& image_of(const std::vector<ResultImage>& images, const std::string& name) {
  const auto found = std::ranges::find(images, name, &ResultImage::name);
  if (found == images.end())
    refuse("out= has '" + name + "', which this matcher does not compute; add the name to want=");
  return *found;
}

AnyImageView view_for(const ResultImage& image, const BorrowedArray& lent) {
  const DeviceImageView& shape = image.shape;
  if (lent.read_only()) refuse(lent.name() + " is read-only; pass a writable array");
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
        refuse("out['" + name + "'] shares memory with " + input + ", which is an input; pass a separate array");
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(view, outputs[j].second))
        refuse("out['" + outputs[j].first + "'] and out['" + name + "'] share memory; pass separate arrays");
  }
}

HostOut::HostOut(const Plan& plan, const nb::dict& out, const std::vector<NamedView>& inputs) {
  if (out.size() == 0) return;
  const std::vector<ResultImage> images = images_of(plan);
  for (const auto& [key, array] : out) {
    const std::string name = text_of(key);
    const ResultImage& image = image_of(images, name);
    BorrowedArray lent(array, "out['" + name + "']");
    if (!lent.device().empty())
      refuse(lent.name() + " is in memory of " + lent.device() +
             ", but left is in host memory; copy one of the two arrays");
    const AnyImageView view = view_for(image, lent);
    taken_.push_back({name, std::move(lent), view});
  }
  std::vector<NamedView> written;
  for (const Taken& taken : taken_) written.emplace_back(taken.name, taken.view);
  check_overlaps(written, inputs);
}

void HostOut::exchange(Matched& result, Matched& kept) const {
  for (const Taken& taken : taken_)
    for_each_image([&](std::size_t row, auto field) {
      if (taken.name == output_table[row].name) std::swap(field(result), field(kept));
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
    for_each_image([&](std::size_t row, auto field) {
      if (taken.name == output_table[row].name) copy(field(result), taken.view);
    });
}

}  // namespace stereopsis::python
