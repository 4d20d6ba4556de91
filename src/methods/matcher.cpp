#include "stereopsis/matcher.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/text.hpp"
#include "methods/engine.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/run.hpp"

namespace stereopsis {
namespace {

constexpr int most_disparities = 16384, most_side = 1 << 28;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

std::string shown(Size size) { return text(size.width, "×", size.height); }

void check(const Geometry& g, Size size) {
  if (g.rectification && g.rectification->input != size)
    refuse(text("the rectification is for images of ", shown(g.rectification->input), " pixels, but these have ",
                shown(size), "; calibrate at the size that is matched"));
  if (g.want_rectified && !g.rectification) refuse("the rectified image is wanted, but no rectification is given");
  if ((g.want_depth || g.want_points || g.want_uncertainty) && !g.rig)
    refuse("depth and points need a rig; give the calibration's");
}

void check(const Problem& p) {
  if (p.size.width < 1 || p.size.height < 1)
    refuse(text("an image of ", shown(p.size), " pixels can't be matched; width and height must be at least 1"));
  if (p.size.width > most_side || p.size.height > most_side)
    refuse(text("an image of ", shown(p.size), " pixels can't be matched; width and height must be at most ", most_side,
                ", so match parts of it"));
  if (p.channels != 1 && p.channels != 3)
    refuse(text("an image of ", p.channels, " channels can't be matched; give a grey (1) or an RGB (3) image"));
  if (p.pixel_type != PixelType::u16 && p.bit_depth != 8)
    refuse(text("a bit depth of ", p.bit_depth, " is not allowed for ", to_string(p.pixel_type),
                " pixels, which are in 8-bit units; it must be 8"));
  if (p.bit_depth < 1 || p.bit_depth > 16)
    refuse(text("a bit depth of ", p.bit_depth, " is not allowed; it must be 1 to 16"));
  if (p.range.count < 1 || p.range.count > most_disparities)
    refuse(
        text("a search range of ", p.range.count, " disparities is not allowed; it must be 1 to ", most_disparities));
  if (std::abs(static_cast<long long>(p.range.min)) > 1'000'000)
    refuse(text("a lowest disparity of ", p.range.min, " is not allowed; it must be -1000000 to 1000000"));
  if (p.batch < 1 || p.batch > 4096)
    refuse(text("a batch of ", p.batch, " pairs is not allowed; it must be 1 to 4096"));
  check(p.geometry, p.size);
  if (!p.region) return;
  const Rect& r = *p.region;
  const Size size = p.rectified_size();
  if (r.empty() || r.x < 0 || r.y < 0 || r.x > size.width - r.width || r.y > size.height - r.height)
    refuse(text("the region ", r.x, ",", r.y, ",", r.width, ",", r.height, " does not lie inside the image of ",
                shown(size), " pixels; give X,Y,WIDTH,HEIGHT with at least one pixel, all of it inside"));
}

// Stages count the elements of an image, whose rows may be padded, and those of a row of costs in 32 bits.
void check_extent(Size size, int channels, int disparities) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(), padding = 1024;
  const std::int64_t elements = (std::int64_t{size.width} + disparities + padding) * channels * size.height,
                     row = std::int64_t{size.width} * disparities;
  if (size.height > most / (std::int64_t{size.width} * channels) || elements > most)
    refuse(text("an image of ", shown(size), " pixels with ", channels, " channels and ", disparities,
                " disparities can't be matched at once: (width + disparities + ", padding,
                ") · channels · height must be at most ", most, "; match regions of it"));
  if (row > most)
    refuse(text(disparities, " disparities can't be searched in rows of ", size.width,
                " pixels: their product must be at most ", most, "; search fewer, or match regions"));
}

// `data` may be null only where the image need not be there.
void check_pixels(const char* name, const void* data, Size size, int channels, std::ptrdiff_t pitch) {
  if (data == nullptr)
    refuse(text("the ", name, " of ", shown(size), " pixels has none in memory (its data is null); give an image"));
  if (pitch < std::int64_t{size.width} * channels)
    refuse(text("the ", name, " has a pitch of ", pitch, " elements; a row of ", size.width, " pixels with ", channels,
                " channels has at least ", std::int64_t{size.width} * channels));
}

void check_fits(const Problem& p, const StereoPair& pair) {
  if (pair.left.size() != pair.right.size())
    refuse(text("the left image has ", shown(pair.left.size()), " pixels and the right one ", shown(pair.right.size()),
                "; a rectified pair has one size"));
  if (pair.left.type != pair.right.type || pair.left.channels != pair.right.channels ||
      pair.left.bit_depth != pair.right.bit_depth)
    refuse(text("the left image is ", to_string(pair.left.type), " with ", pair.left.channels, " channels and ",
                pair.left.bit_depth, " bits, the right one ", to_string(pair.right.type), " with ", pair.right.channels,
                " and ", pair.right.bit_depth, "; both must be of one kind"));
  if (pair.left.size() != p.size || pair.left.type != p.pixel_type || pair.left.channels != p.channels ||
      pair.left.bit_depth != p.bit_depth)
    refuse(text("the matcher was planned for ", shown(p.size), " pixels, ", to_string(p.pixel_type), ", ", p.channels,
                " channels, ", p.bit_depth, " bits; this pair has ", shown(pair.left.size()), " pixels, ",
                to_string(pair.left.type), ", ", pair.left.channels, " channels, ", pair.left.bit_depth,
                " bits: make a new plan"));
  for (const auto* image : {&pair.left, &pair.right})
    check_pixels(image == &pair.left ? "left image" : "right image", image->data, p.size, p.channels, image->pitch);
  for (const auto* mask : {&pair.mask_left, &pair.mask_right}) {
    if (mask->data == nullptr && mask->width == 0 && mask->height == 0) continue;
    if (mask->size() != p.size || mask->channels != 1)
      refuse(text("a mask has ", shown(mask->size()), " pixels and ", mask->channels,
                  " channels; it must have the images' ", shown(p.size), " and one channel"));
    check_pixels("mask", mask->data, p.size, 1, mask->pitch);
  }
}

void check_fits(const Plan& plan, const DevicePair& pair, const DeviceMatched& out) {
  const Problem& p = plan.problem();
  if (p.region) refuse("images on a device are matched whole; plan without a region, and give crops of them");
  const auto check_one = [&](const char* name, const DeviceImageView& v, Size size, PixelType type, int channels,
                             int bit_depth) {
    if (v.empty() || v.size() != size || v.type != type || v.channels != channels || v.bit_depth != bit_depth)
      refuse(text("the device's image for ", name, " has ", shown(v.size()), " pixels, ", to_string(v.type), ", ",
                  v.channels, " channels, ", v.bit_depth, " bits; it must have ", shown(size), " pixels, ",
                  to_string(type), ", ", channels, " channels, ", bit_depth, " bits"));
    if (v.offset < 0 || v.pitch < std::int64_t{size.width} * channels ||
        v.pitch > std::numeric_limits<std::int32_t>::max() / size.height)
      refuse(text("the device's image for ", name, " has a pitch of ", v.pitch, " and begins at ", v.offset,
                  " elements; a row has at least ", std::int64_t{size.width} * channels,
                  ", and all rows together at most 2147483647"));
  };
  check_one("the left view", pair.left, p.size, p.pixel_type, p.channels, p.bit_depth);
  check_one("the right view", pair.right, p.size, p.pixel_type, p.channels, p.bit_depth);
  if (pair.mask_left.memory != 0) check_one("the left mask", pair.mask_left, p.size, PixelType::u8, 1, 8);
  if (pair.mask_right.memory != 0) check_one("the right mask", pair.mask_right, p.size, PixelType::u8, 1, 8);
  const auto check_output = [&](const char* name, const DeviceImageView& v, bool wanted, PixelType type, int channels) {
    if (wanted) return check_one(name, v, plan.output_size(), type, channels, v.bit_depth);
    if (v != DeviceImageView())
      refuse(text("an image for ", name, " is given, which was not planned: ask for it in Problem"));
  };
  const Geometry& g = p.geometry;
  check_output("the disparity", out.disparity, true, PixelType::f32, 1);
  check_output("the validity", out.validity, true, PixelType::u8, 1);
  check_output("the right view's disparity", out.right, p.want_right, PixelType::f32, 1);
  check_output("the confidence", out.confidence, p.want_confidence, PixelType::f32, 1);
  if (g.want_rectified) refuse("the rectified image is delivered to the host alone; plan without it");
  check_output("the depth", out.depth, g.want_depth, PixelType::f32, 1);
  check_output("the points", out.points, g.want_points, PixelType::f32, 3);
  check_output("the uncertainty", out.uncertainty, g.want_uncertainty, PixelType::f32, 1);
}

template <class T>
void resize(Image<T>& image, Size size, int channels = 1) {
  if (image.size() != size || image.channels() != channels) image = Image<T>(size, channels);
}

// Calls f with an image of pixels of the problem's type.
template <class F>
auto with_type(const Problem& p, F&& f) {
  switch (p.pixel_type) {
    case PixelType::u8: return f(Image<std::uint8_t>());
    case PixelType::u16: return f(Image<std::uint16_t>());
    default: return f(Image<float>());
  }
}

void resize(AnyImage& image, const Problem& p, Size size) {
  const AnyImageView before = image;
  if (before.size() == size && before.type == p.pixel_type && before.channels == p.channels) return;
  with_type(p, [&]<class T>(Image<T>) { image.pixels = Image<T>(size, p.channels); });
  image.bit_depth = p.bit_depth;
}

ImageView<std::uint8_t> bytes_of(AnyImage& image) {
  return std::visit(
      []<class T>(Image<T>& pixels) {
        constexpr int size = sizeof(T);
        const ImageView<T> view = pixels;
        return ImageView<std::uint8_t>(reinterpret_cast<std::uint8_t*>(view.data), size * view.width * view.channels,
                                       view.height, 1, size * view.pitch);
      },
      image.pixels);
}

// The size of a result that may not be wanted.
Size size_if(bool wanted, Size size) { return wanted ? size : Size{}; }

}  // namespace

Problem Problem::of(const StereoPair& pair, DisparityRange range) {
  return {.size = pair.left.size(),
          .pixel_type = pair.left.type,
          .channels = pair.left.channels,
          .bit_depth = pair.left.bit_depth,
          .range = range,
          .region = {}};
}

StereoPair shape_of(const Problem& p, Size size) {
  if (p.geometry.rectification) size = p.size;
  AnyImageView view;
  view.type = p.pixel_type;
  view.width = size.width;
  view.height = size.height;
  view.channels = p.channels;
  view.bit_depth = p.bit_depth;
  return {view, view, {}, {}};
}

Outputs shape_of_outputs(const Problem& p, Size result, Size rectified) {
  const auto shape = [](Size size, int channels = 1) {
    return ImageView<float>(nullptr, size.width, size.height, channels, 0);
  };
  const Geometry& g = p.geometry;
  const int pixel_bytes = with_type(p, []<class T>(Image<T>) { return static_cast<int>(sizeof(T)); }) * p.channels;
  const Size bytes = size_if(g.want_rectified, {pixel_bytes * rectified.width, rectified.height});
  return {.disparity = shape(result),
          .validity = {nullptr, result.width, result.height},
          .right = shape(size_if(p.want_right, result)),
          .confidence = shape(size_if(p.want_confidence, result)),
          .depth = shape(size_if(g.want_depth, result)),
          .points = shape(size_if(g.want_points, result), 3),
          .uncertainty = shape(size_if(g.want_uncertainty, result)),
          .rectified = {nullptr, bytes.width, bytes.height}};
}

namespace {

constexpr int most_lanes = 8;  // more pairs side by side fill no device better

bool is_host(const Device& device) { return device.name == "cpu"; }

std::size_t bytes_of_run(const PipelineData& data, const Problem& p, const Device& device, Size size, int stripe_rows) {
  if (is_host(device)) return host_bytes_of_run(data, p, size, device.threads, stripe_rows);
  return gpu_bytes_of_run(data, p, size, device.name, stripe_rows);
}

}  // namespace

Plan::Plan(const Pipeline& pipeline, const Problem& problem, const Device& device)
    : pipeline_(pipeline), problem_(problem), device_(device) {
  check(problem_);
  device_.name = resolve_device(device.name);
  required_input_ = stereopsis::required_input(pipeline_.data(), problem_);
  const Size size = required_input_.size();
  check_extent(size, problem_.channels, problem_.range.count);
  if (problem_.geometry.rectification) check_extent(problem_.size, problem_.channels, 1);
  output_size_ = stereopsis::output_size(pipeline_.data(), problem_.rectified_size());
  const auto bytes_with = [&](int rows) { return bytes_of_run(pipeline_.data(), problem_, device_, size, rows); };
  const std::size_t shared = is_host(device_) ? 0 : gpu_bytes_shared(problem_), whole = bytes_with(0);
  // Without a limit, most of a GPU's memory, and half of the host's: others may use it, too.
  const bool implied = problem_.memory_limit == 0;
  const std::size_t available = is_host(device_) ? host_memory_bytes() / 2 : gpu_memory_bytes(device_.name) / 10 * 9;
  const std::size_t memory = implied ? available : problem_.memory_limit;
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  const std::size_t limit = memory == 0 ? none : std::max(memory, shared + 1) - shared;  // of the runs
  // A run's memory is one buffer.
  const std::size_t most = std::min(limit, is_host(device_) ? none : gpu_largest_buffer(device_.name));
  std::size_t bytes = whole;
  if (bytes > most) {
    // The whole image in as little as that takes; then, as short stripes take much for the kept states, and tall ones for
    // themselves, about the tallest that fit.
    std::size_t least = whole;
    for (int rows = size.height; bytes > most; rows = std::max(8, rows * 3 / 4 / 8 * 8)) {
      bytes = bytes_with(rows);
      least = std::min(least, bytes);
      stripe_rows_ = rows;
      if (rows <= 8) break;
    }
    if (bytes > most)
      throw Error(ErrorCategory::memory,
                  text("matching ", shown(size), " pixels with ", problem_.range.count, " disparities takes ",
                       least + shared, " bytes at the least and ",
                       most < limit ? text("the device '", device_.name, "' gives ", most, " in one piece; ")
                       : implied    ? text("the device '", device_.name, "' has ", memory, " to give; ")
                                    : text("the memory limit is ", memory, "; raise the limit, or "),
                       "search fewer disparities or a region"));
  }
  lanes_ = is_host(device_) ? 1 : std::min(problem_.batch, most_lanes);
  lanes_ = static_cast<int>(std::min<std::size_t>(lanes_, limit / std::max<std::size_t>(bytes, 1)));
  lane_bytes_ = bytes;
  workspace_bytes_ = lanes_ * bytes + shared;
}

struct Matcher::State {
  // A pair in work.
  struct InWork {
    std::uint64_t number = 0;
    bool pending = false;
    Matched* result = nullptr;  // none: on the device
    Matched part;               // of a region: the result on its input
  };

  explicit State(Plan plan_) : plan(std::move(plan_)), frames(plan.problem().batch) {
    const MemoryLayout layout{plan.lanes_, plan.lane_bytes_, plan.stripe_rows()};
    const PipelineData& data = plan.pipeline().data();
    const Device& device = plan.device();
    engine = is_host(device) ? make_host_engine(data, plan.problem(), device.threads, layout)
                             : make_gpu_engine(data, plan.problem(), device.name, layout);
  }

  // Throws where the ticket is of another matcher. One of no pair is done.
  void check(Ticket ticket) const {
    if (ticket != Ticket() && (ticket.matcher != number || ticket.number >= next))
      refuse("a ticket is not of this matcher; wait with the matcher that gave it");
  }
  int frame_of(Ticket ticket) const { return static_cast<int>(ticket.number % frames.size()); }
  bool is_in_work(Ticket ticket) const {
    const InWork& frame = frames[frame_of(ticket)];
    return ticket.matcher == number && frame.pending && frame.number == ticket.number;
  }
  // The frame of the next pair, free to be begun.
  int next_frame() {
    const int i = frame_of({next, number});
    if (frames[i].pending) finish(i);
    return i;
  }
  Ticket begun(int i, Matched* result) {
    frames[i].number = next++;
    frames[i].pending = true;
    frames[i].result = result;
    return {frames[i].number, number};
  }
  void finish(int i);
  bool idle() const {
    return std::none_of(frames.begin(), frames.end(), [](const InWork& frame) { return frame.pending; });
  }

  Plan plan;
  std::vector<InWork> frames;
  std::uint64_t next = 0;
  static inline std::atomic<std::uint64_t> matchers = 0;
  const std::uint64_t number = ++matchers;  // of this one
  std::unique_ptr<Engine> engine;           // done with before what it works on goes
};

Matcher::Matcher(Plan plan) : state_(std::make_unique<State>(std::move(plan))) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

const Plan& Matcher::plan() const { return state_->plan; }

// Puts the region of `part`, which shows `shown` of the image, into a full-size image of `outside`.
template <class T>
static void place(const Image<T>& part, const Rect& shown, const Rect& region, Size size, T outside, Image<T>& whole) {
  if (part.empty()) return whole = Image<T>(), void();
  const int channels = part.channels();
  resize(whole, size, channels);
  whole.fill(outside);
  const auto wanted = part.view().crop({region.x - shown.x, region.y - shown.y, region.width, region.height});
  for (int y = 0; y < region.height; ++y)
    std::copy_n(wanted.row(y), region.width * channels, whole.row(region.y + y) + region.x * channels);
}

// Of a pair, what a plan's region needs.
static StereoPair input_of(const Plan& plan, const StereoPair& pair) {
  if (!plan.problem().region || plan.problem().geometry.rectification) return pair;
  const Rect shown = plan.required_input();
  const auto crop = [&](const ImageView<const std::uint8_t>& mask) { return mask.empty() ? mask : mask.crop(shown); };
  return {pair.left.crop(shown), pair.right.crop(shown), crop(pair.mask_left), crop(pair.mask_right)};
}

// The result's images, of the right size.
static Outputs outputs_of(const Plan& plan, Matched& result) {
  const Problem& p = plan.problem();
  const Geometry& g = p.geometry;
  const Size input = plan.required_input().size(), size = output_size(plan.pipeline().data(), input);
  resize(result.disparity, size);
  resize(result.validity, size);
  resize(result.right, size_if(p.want_right, size));
  resize(result.confidence, size_if(p.want_confidence, size));
  resize(result.depth, size_if(g.want_depth, size));
  resize(result.points, size_if(g.want_points, size), 3);
  resize(result.uncertainty, size_if(g.want_uncertainty, size));
  resize(result.rectified, p, size_if(g.want_rectified, input));
  return {.disparity = result.disparity,
          .validity = result.validity,
          .right = result.right,
          .confidence = result.confidence,
          .depth = result.depth,
          .points = result.points,
          .uncertainty = result.uncertainty,
          .rectified = bytes_of(result.rectified)};
}

static void place_part(const Plan& plan, const Matched& part, Matched& result) {
  const Problem& p = plan.problem();
  // In pixels of the output: of the reduced images, if it has their size.
  const reduce::Parameters reduction = reduction_of(plan.pipeline().data());
  const int factor = reduction.upsample ? 1 : reduction.factor;
  const auto in_output = [&](const Rect& r) {
    const auto up = [&](int at) { return (at + factor - 1) / factor; };
    const int x = r.x / factor, y = r.y / factor;
    return Rect{x, y, up(r.x + r.width) - x, up(r.y + r.height) - y};
  };
  const Rect shown = in_output(plan.required_input()), region = in_output(*p.region);
  const auto place_here = [&]<class T>(const Image<T>& from, T outside, Image<T>& to) {
    place(from, shown, region, plan.output_size(), outside, to);
  };
  place_here(part.disparity, invalid_disparity, result.disparity);
  place_here(part.validity, validity::outside, result.validity);
  place_here(part.right, invalid_disparity, result.right);
  place_here(part.confidence, 0.0f, result.confidence);
  place_here(part.depth, invalid_disparity, result.depth);
  place_here(part.points, invalid_disparity, result.points);
  place_here(part.uncertainty, invalid_disparity, result.uncertainty);
  resize(result.rectified, p, size_if(p.geometry.want_rectified, p.rectified_size()));
  std::visit(
      [&]<class T>(const Image<T>& from) {
        place(from, plan.required_input(), *p.region, p.rectified_size(), T{0},
              std::get<Image<T>>(result.rectified.pixels));
      },
      part.rectified.pixels);
  result.times = part.times;
}

void Matcher::State::finish(int i) {
  InWork& frame = frames[i];
  frame.pending = false;
  std::vector<StageTime> none;
  const bool cropped = plan.problem().region.has_value();
  engine->end(i, frame.result == nullptr ? none : cropped ? frame.part.times : frame.result->times);
  if (frame.result != nullptr && cropped) place_part(plan, frame.part, *frame.result);
}

Ticket Matcher::enqueue(const StereoPair& pair, Matched& result) {
  check_fits(plan().problem(), pair);
  const int i = state_->next_frame();
  Matched& out = plan().problem().region ? state_->frames[i].part : result;
  state_->engine->begin(i, input_of(plan(), pair), outputs_of(plan(), out));
  return state_->begun(i, &result);
}

Ticket Matcher::enqueue(const DevicePair& pair, const DeviceMatched& result, std::optional<std::uint64_t> stream) {
  check_fits(plan(), pair, result);
  const int i = state_->next_frame();
  state_->engine->begin(i, pair, result, stream ? &*stream : nullptr);
  return state_->begun(i, nullptr);
}

void Matcher::wait(Ticket ticket) {
  state_->check(ticket);
  if (state_->is_in_work(ticket)) state_->finish(state_->frame_of(ticket));
}

bool Matcher::is_done(Ticket ticket) const {
  state_->check(ticket);
  return !state_->is_in_work(ticket) || state_->engine->is_done(state_->frame_of(ticket));
}

Matched Matcher::match(const StereoPair& pair) {
  Matched result;
  match(pair, result);
  return result;
}

void Matcher::match(const StereoPair& pair, Matched& result) {
  if (!state_->idle() || plan().problem().region) return wait(enqueue(pair, result));
  check_fits(plan().problem(), pair);
  state_->engine->match(pair, outputs_of(plan(), result), result.times);
}

void Matcher::match(std::span<const StereoPair> pairs, std::span<Matched> results) {
  if (pairs.size() != results.size())
    throw Error(ErrorCategory::call,
                text(pairs.size(), " pairs can't be matched into ", results.size(), " results; give one for each"));
  std::vector<Ticket> tickets;
  tickets.reserve(pairs.size());
  try {
    for (std::size_t i = 0; i < pairs.size(); ++i) tickets.push_back(enqueue(pairs[i], results[i]));
    for (const Ticket ticket : tickets) wait(ticket);
  } catch (...) {
    // Pairs in work still write into the results, which may go away when this is left.
    for (const Ticket ticket : tickets) try {
        wait(ticket);
      } catch (const Error&) {  // the first one is told
      }
    throw;
  }
}

Matched Matcher::make_result() const {
  const Problem& p = plan().problem();
  const std::string& device = plan().device().name;
  const Size size = plan().output_size();
  Matched result;
  result.disparity = page_locked_image<float>(device, size);
  result.validity = page_locked_image<std::uint8_t>(device, size);
  if (p.want_right) result.right = page_locked_image<float>(device, size);
  if (p.want_confidence) result.confidence = page_locked_image<float>(device, size);
  const Geometry& g = p.geometry;
  if (g.want_depth) result.depth = page_locked_image<float>(device, size);
  if (g.want_points) result.points = page_locked_image<float>(device, size, 3);
  if (g.want_uncertainty) result.uncertainty = page_locked_image<float>(device, size);
  if (g.want_rectified)
    with_type(p, [&]<class T>(Image<T>) {
      result.rectified.pixels = page_locked_image<T>(device, p.rectified_size(), p.channels);
    });
  result.rectified.bit_depth = p.bit_depth;
  return result;
}

Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline, const Device& device) {
  return Matcher(Plan(pipeline, Problem::of(pair, range), device)).match(pair);
}

}  // namespace stereopsis
