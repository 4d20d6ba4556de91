#include "messages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace stereopsis_ros {
namespace {

using namespace stereopsis;
namespace msg = sensor_msgs::msg;

constexpr bool is_bigendian = std::endian::native == std::endian::big;
constexpr float subpixel = 1.0F / 256;  // the step of KITTI's files, because floats have none

// Makes an image of values of type T, each of which is `f` of a pixel.
template <class T, class F>
void fill(msg::Image& image, const char* encoding, ImageView<const float> pixels, F f) {
  image.width = static_cast<std::uint32_t>(pixels.width), image.height = static_cast<std::uint32_t>(pixels.height);
  image.encoding = encoding, image.is_bigendian = is_bigendian;
  image.step = image.width * static_cast<std::uint32_t>(sizeof(T));
  image.data.resize(std::size_t{image.step} * image.height);
  std::uint8_t* to = image.data.data();
  for (int y = 0; y < pixels.height; ++y)
    for (int x = 0; x < pixels.width; ++x, to += sizeof(T)) {
      const T value = f(pixels(x, y));
      std::memcpy(to, &value, sizeof value);
    }
}

bool computes_subpixels(const Pipeline& pipeline) {
  const auto slots = pipeline.slots();
  return std::any_of(slots.begin(), slots.end(), [](const auto& s) { return s.enabled && s.computes_subpixels; });
}

// Returns whether pixels get a disparity that have no candidate in the right image.
bool fills_borders(const Pipeline& pipeline) {
  const auto slots = pipeline.slots();
  const auto parameters = pipeline.parameters();
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const auto& p) { return p.name == "select.border_candidates" && p.value == "true"; }) ||
         std::any_of(slots.begin(), slots.end(),
                     [](const auto& s) { return s.is_refinement && s.enabled && !s.keeps_invalid; });
}

// Sets the rectangle of the pixels with a candidate inside the right image.
void set_window(msg::RegionOfInterest& window, Size size, DisparityRange range) {
  const int begin = std::max(0, range.min), end = std::min(size.width, size.width + range.max());
  if (begin >= end) return;
  window.x_offset = static_cast<std::uint32_t>(begin), window.width = static_cast<std::uint32_t>(end - begin);
  window.height = static_cast<std::uint32_t>(size.height);
}

std::uint32_t eight_bits(std::uint8_t value) { return value; }
std::uint32_t eight_bits(std::uint16_t value) { return value >> 8; }
std::uint32_t eight_bits(float value) { return static_cast<std::uint32_t>(value > 0 ? std::min(value, 255.0F) : 0); }

// Returns 0x00RRGGBB, as PCL packs colours.
std::uint32_t packed(const AnyImageView& colour, int x, int y) {
  return with_pixels(colour, [&](const auto& pixels) {
    const int green = colour.channels == 3 ? 1 : 0, blue = colour.channels == 3 ? 2 : 0;
    return eight_bits(pixels(x, y, 0)) << 16 | eight_bits(pixels(x, y, green)) << 8 | eight_bits(pixels(x, y, blue));
  });
}

}  // namespace

std::unique_ptr<msg::Image> image_message(const Header& header, ImageView<const float> pixels) {
  auto made = std::make_unique<msg::Image>();
  made->header = header;
  fill<float>(*made, "32FC1", pixels, [](float value) { return value; });
  return made;
}

std::unique_ptr<msg::Image> millimetres(const Header& header, ImageView<const float> depth) {
  auto made = std::make_unique<msg::Image>();
  made->header = header;
  fill<std::uint16_t>(*made, "16UC1", depth, [](float z) {
    const float scaled = std::nearbyint(z * 1000);
    return static_cast<std::uint16_t>(scaled >= 1 && scaled <= 65535 ? scaled : 0);
  });
  return made;
}

std::unique_ptr<stereo_msgs::msg::DisparityImage> disparity_message(const Header& header,
                                                                    ImageView<const float> disparity,
                                                                    DisparityRange range, const Pipeline& pipeline,
                                                                    const Rig* rig, bool invalid_is_nan) {
  auto made = std::make_unique<stereo_msgs::msg::DisparityImage>();
  const double shift = rig ? rig->cx_left - rig->cx_right : 0;
  made->header = made->image.header = header;
  made->f = static_cast<float>(rig ? rig->focal : 0), made->t = static_cast<float>(rig ? rig->baseline : 0);
  made->min_disparity = static_cast<float>(range.min - shift),
  made->max_disparity = static_cast<float>(range.max() - shift);
  made->delta_d = computes_subpixels(pipeline) ? subpixel : 1;
  if (fills_borders(pipeline))
    made->valid_window.width = static_cast<std::uint32_t>(disparity.width),
    made->valid_window.height = static_cast<std::uint32_t>(disparity.height);
  else
    set_window(made->valid_window, disparity.size(), range);
  const float invalid = invalid_is_nan ? invalid_disparity : static_cast<float>(range.min - shift - 1);
  fill<float>(made->image, "32FC1", disparity,
              [=, by = static_cast<float>(shift)](float d) { return std::isnan(d) ? invalid : d - by; });
  return made;
}

std::unique_ptr<msg::PointCloud2> cloud_message(const Header& header, ImageView<const float> points,
                                                const AnyImageView& colour, bool is_organised) {
  auto made = std::make_unique<msg::PointCloud2>();
  made->header = header, made->is_bigendian = is_bigendian, made->is_dense = true;
  for (const char* name : {"x", "y", "z", "rgb"}) {
    if (colour.empty() && made->fields.size() == 3) break;
    auto& field = made->fields.emplace_back();
    field.offset = made->point_step;
    field.name = name, field.datatype = msg::PointField::FLOAT32, field.count = 1;
    made->point_step += sizeof(float);
  }
  made->data.resize(static_cast<std::size_t>(points.width) * static_cast<std::size_t>(points.height) *
                    made->point_step);
  std::uint8_t* to = made->data.data();
  for (int y = 0; y < points.height; ++y)
    for (int x = 0; x < points.width; ++x) {
      const float* point = &points(x, y);
      std::array<float, 3> xyz = {point[0], point[1], point[2]};
      if (!std::all_of(xyz.begin(), xyz.end(), [](float one) { return std::isfinite(one); })) {
        if (!is_organised) continue;
        xyz.fill(invalid_disparity), made->is_dense = false;
      }
      std::memcpy(to, xyz.data(), sizeof xyz);
      if (!colour.empty()) {
        const std::uint32_t rgb = packed(colour, x, y);
        std::memcpy(to + sizeof xyz, &rgb, sizeof rgb);
      }
      to += made->point_step;
    }
  made->data.resize(static_cast<std::size_t>(to - made->data.data()));
  made->height = is_organised ? static_cast<std::uint32_t>(points.height) : 1;
  made->width = static_cast<std::uint32_t>(made->data.size() / made->point_step / std::max(1U, made->height));
  made->row_step = made->point_step * made->width;
  return made;
}

}  // namespace stereopsis_ros
