#include "c/structs.hpp"

#include <algorithm>
#include <array>

#include "stereopsis/arguments.hpp"
#include "stereopsis/resources.hpp"

namespace stereopsis::c {

PixelType pixel_type(std::int32_t type, const char* name) {
  if (type < SP_U8 || type > SP_F32)
    refuse(text(name, " has the type ", type, "; it must be SP_U8 (0), SP_U16 (1) or SP_F32 (2)"));
  return static_cast<PixelType>(type);
}
std::optional<PixelFormat> pixel_format(std::int32_t format, const char* name) {
  if (format < SP_FORMAT_RGB || format > SP_FORMAT_BAYER_GBRG)
    refuse(text(name, " has the format ", format, "; it must be one of SP_FORMAT_…, ", SP_FORMAT_RGB, " to ",
                SP_FORMAT_BAYER_GBRG));
  static_assert(SP_FORMAT_BGR == static_cast<int>(PixelFormat::bgr) + 1 &&
                SP_FORMAT_BAYER_GBRG == static_cast<int>(PixelFormat::bayer_gbrg) + 1);
  if (format == SP_FORMAT_RGB) return {};
  return static_cast<PixelFormat>(format - 1);
}
std::int32_t number_of(PixelType type) { return static_cast<std::int32_t>(type); }
std::ptrdiff_t bytes_of(PixelType type) { return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4; }

namespace {

struct Window {
  sp_image image;
  PixelType type;
  std::ptrdiff_t pitch, offset;  // elements
  int bit_depth;
};

Window window_of(const sp_image* given, const char* name, std::int32_t place) {
  Window w{read(given, name), PixelType::u8, 0, 0, 0};
  const sp_image& i = w.image;
  w.type = pixel_type(i.type, name);
  if (i.place != place)
    refuse(text(name, " has the place ", i.place, "; all images of a call must be in the same place, here ", place,
                " (", place == SP_HOST ? "SP_HOST" : "SP_DEVICE", ")"));
  constexpr int most_channels = 1 << 16;
  if (i.width < 1 || i.height < 1 || i.channels < 1 || i.channels > most_channels)
    refuse(text(name, " has ", i.width, "×", i.height, " pixels with ", i.channels,
                " channels; all three must be at least 1, and channels at most ", most_channels));
  const std::int64_t element = bytes_of(w.type), row = std::int64_t{i.width} * i.channels * element;
  const std::int64_t pitch = i.pitch == 0 ? row : i.pitch;
  constexpr std::int64_t most = std::int64_t{1} << 60;  // limit below which addresses are computed without overflow
  if (pitch < row || pitch > most / i.height)
    refuse(text(name, " has a pitch of ", pitch, " bytes; a row of ", i.width, " pixels requires at least ", row,
                ", and all rows together may have at most ", most));
  if (pitch % element != 0 || i.offset % element != 0)
    refuse(text(name, " has a pitch of ", pitch, " and an offset of ", i.offset, " bytes; both must be multiples of ",
                element, ", the size of ", to_string(w.type)));
  if (i.offset < 0 || i.offset > most)
    refuse(text(name, " has an offset of ", i.offset, " bytes; it must be 0 to ", most));
  if (i.format != SP_FORMAT_RGB)
    refuse(text(name, " has the format ", i.format, "; only the two views of a pair may have a format"));
  if (i.data == nullptr)
    refuse(text(name, " has no pixels (data is null); pass an image with pixels, or a null image"));
  w.pitch = pitch / element;
  w.offset = i.offset / element;
  w.bit_depth = i.bit_depth != 0 ? i.bit_depth : w.type == PixelType::u16 ? 16 : 8;
  return w;
}

}  // namespace

GivenView::GivenView(const sp_image* given, const char* name)
    : is_there(given != nullptr),
      image(is_there ? read(given, name) : sp_image{}),
      format(pixel_format(image.format, name)) {
  image.format = SP_FORMAT_RGB;
}

std::optional<PixelFormat> format_of(const GivenView& left, const GivenView& right) {
  if (left.format != right.format)
    refuse("the left and the right image have different formats; pass both in the same format");
  return left.format;
}

AnyOutputView host_output(const sp_image* image, const char* name) {
  AnyOutputView v;
  if (image == nullptr) return v;
  const Window w = window_of(image, name, SP_HOST);
  v.data = static_cast<std::byte*>(w.image.data) + w.image.offset;
  if (reinterpret_cast<std::uintptr_t>(v.data) % static_cast<std::uintptr_t>(bytes_of(w.type)) != 0)
    refuse(text(name, " begins at an address that is not a multiple of ", bytes_of(w.type), ", the size of ",
                to_string(w.type)));
  v.type = w.type;
  v.width = w.image.width;
  v.height = w.image.height;
  v.channels = w.image.channels;
  v.pitch = w.pitch;
  return v;
}

AnyImageView host_image(const sp_image* image, const char* name) {
  AnyImageView v;
  if (image == nullptr) return v;
  const AnyOutputView o = host_output(image, name);
  v.data = o.data;
  v.type = o.type;
  v.width = o.width;
  v.height = o.height;
  v.channels = o.channels;
  v.pitch = o.pitch;
  v.bit_depth = window_of(image, name, SP_HOST).bit_depth;
  return v;
}

DeviceImageView device_image(const sp_image* image, const char* name) {
  if (image == nullptr) return {};
  const Window w = window_of(image, name, SP_DEVICE);
  const sp_image& i = w.image;
  return {
      reinterpret_cast<std::uintptr_t>(i.data), w.offset, w.type, i.width, i.height, i.channels, w.pitch, w.bit_depth};
}

sp_image image_of(const DeviceImageView& v, std::int32_t place) {
  sp_image image{};
  image.struct_size = sizeof image;
  image.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(v.memory));
  image.offset = v.offset * bytes_of(v.type);
  image.pitch = v.pitch * bytes_of(v.type);
  image.width = v.width;
  image.height = v.height;
  image.channels = v.channels;
  image.type = number_of(v.type);
  image.bit_depth = v.bit_depth;
  image.place = place;
  return image;
}

namespace {

CalibratedCamera camera_of(const sp_camera* given, const char* name) {
  const sp_camera c = read(given, name);
  if (c.model != SP_LENS_POLYNOMIAL && c.model != SP_LENS_FISHEYE)
    refuse(text(name, ".model is ", c.model, "; it must be SP_LENS_POLYNOMIAL (0) or SP_LENS_FISHEYE (1)"));
  CalibratedCamera camera;
  camera.lens = {c.fx, c.fy, c.cx, c.cy, static_cast<Lens::Model>(c.model), std::to_array(c.distortion)};
  camera.rectification = std::to_array(c.rectification);
  return camera;
}

bool flag(std::int32_t value, const char* name) {
  if (value != 0 && value != 1) refuse(text("problem.", name, " is ", value, "; it must be 0 or 1"));
  return value == 1;
}

Rig rig_of(const sp_rig* given, Size size) {
  const sp_rig r = read(given, "problem.rig");
  return {r.focal, r.cx_left, r.cx_right, r.cy, r.baseline, {}, size};
}

Geometry geometry_of(const sp_problem& p) {
  Geometry g;
  if (p.rig != nullptr) g.rig = rig_of(p.rig, {p.width, p.height});
  if ((p.left_camera == nullptr) != (p.right_camera == nullptr))
    refuse("one of problem.left_camera and problem.right_camera is null; set both, or neither for a rectified pair");
  if (p.left_camera != nullptr) {
    if (!g.rig) refuse("the cameras are set without problem.rig, which describes the rectified pair; set problem.rig");
    StereoCalibration calibration;
    calibration.size = {p.width, p.height};
    calibration.left = camera_of(p.left_camera, "problem.left_camera");
    calibration.right = camera_of(p.right_camera, "problem.right_camera");
    calibration.rig = *g.rig;
    g.rectification = std::make_shared<const RectificationMaps>(rectification_maps(calibration));
  }
  if (p.frame != SP_FRAME_OPTICAL && p.frame != SP_FRAME_HEAD)
    refuse(text("problem.frame is ", p.frame, "; it must be SP_FRAME_OPTICAL (0) or SP_FRAME_HEAD (1)"));
  g.frame = static_cast<Frame>(p.frame);
  if (p.disparity_error != 0) g.disparity_error = p.disparity_error;
  g.fill_depth = flag(p.fill_depth, "fill_depth");
  return g;
}

void want(std::uint32_t wanted, Problem& problem) {
  problem.want_times = (wanted & SP_WANT_TIMES) != 0;
  wanted &= ~std::uint32_t{SP_WANT_TIMES};
  for (const Output& output : output_table) {
    if (bool* const flag = output.flag(problem)) *flag = (wanted & output.want_bit) != 0;
    wanted &= ~output.want_bit;
  }
  if (wanted != 0)
    refuse(text("problem.want has the bits ", wanted, ", which have no meaning; use only the bits SP_WANT_…"));
}

}  // namespace

std::optional<RowAlignment> row_alignment_of(const sp_row_alignment* given, const char* name) {
  if (given == nullptr) return {};
  const sp_row_alignment a = read(given, name);
  RowAlignment result{a.offset, a.roll, a.zoom, a.keystone, {a.field_columns, a.field_rows}};
  std::ranges::copy(a.knots, result.field.knots.begin());
  return result;
}

Problem problem_of(const sp_problem& p) {
  if (p.reserved != 0) refuse(text("problem.reserved is ", p.reserved, "; it must be 0"));
  Problem problem;
  problem.size = {p.width, p.height};
  problem.pixel_type = pixel_type(p.type, "problem");
  problem.channels = p.channels;
  problem.bit_depth = p.bit_depth != 0 ? p.bit_depth : problem.pixel_type == PixelType::u16 ? 16 : 8;
  problem.range = {p.min_disparity, p.disparities};
  problem.batch = p.batch == 0 ? 1 : p.batch;
  if (p.region.x != 0 || p.region.y != 0 || p.region.width != 0 || p.region.height != 0)
    problem.region = Rect{p.region.x, p.region.y, p.region.width, p.region.height};
  problem.memory_limit = p.memory_limit;
  problem.geometry = geometry_of(p);
  problem.row_alignment = row_alignment_of(p.row_alignment, "problem.row_alignment");
  if (flag(p.given_costs, "given_costs")) problem.volumes.given = pixel_type(p.costs_type, "problem.costs_type");
  problem.volumes.without_images = flag(p.without_images, "without_images");
  want(p.want, problem);
  problem.format = pixel_format(p.format, "problem");
  if (const bool skips = flag(p.skip_constant, "skip_constant"))
    problem.constant = {.mask_black = skips, .black = p.black, .mark_flat = skips};
  else if (p.black != 0)
    refuse(text("problem.black is ", p.black, ", which applies only with problem.skip_constant; set both, or none"));
  return problem;
}

Device device_of(const sp_problem& p) {
  if (p.implementation < SP_FUSED || p.implementation > SP_ORACLE)
    refuse(text("problem.implementation is ", p.implementation,
                "; it must be SP_FUSED (0), SP_PLAIN (1) or SP_ORACLE (2)"));
  static_assert(SP_CALLERS_ARENA == callers_arena);
  if (p.threads < 0 && p.threads != SP_CALLERS_ARENA)
    refuse(text("problem.threads is ", p.threads, "; it must be at least 0, or SP_CALLERS_ARENA (-1)"));
  return {p.device != nullptr ? p.device : "auto", p.threads, static_cast<Implementation>(p.implementation)};
}

}  // namespace stereopsis::c
