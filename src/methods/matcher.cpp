#include "stereopsis/matcher.hpp"

#include <algorithm>
#include <atomic>

#include "core/text.hpp"
#include "methods/results.hpp"
#include "program/engine.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

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

// An image with a channel for each disparity; of no size where it is not wanted.
void resize_volume(AnyImage& volume, const VolumeShape& shape, Size size) {
  const AnyImageView before = volume;
  if (shape.disparities == 0) return volume = AnyImage(), void();
  if (before.size() == size && before.type == shape.type && before.channels == shape.disparities) return;
  switch (shape.type) {
    case PixelType::u8: volume = Image<std::uint8_t>(size, shape.disparities); return;
    case PixelType::u16: volume = AnyImage(Image<std::uint16_t>(size, shape.disparities)); return;
    case PixelType::f32: volume = Image<float>(size, shape.disparities);
  }
}
CostState state_of(External e) {
  return static_cast<CostState>(static_cast<int>(e) - static_cast<int>(External::cost));
}

// The size of a result that may not be wanted.
Size size_if(bool wanted, Size size) { return wanted ? size : Size{}; }

// Puts the region of `part`, which shows `shown` of the image, into a full-size image of `outside`.
template <class T>
void place(const Image<T>& part, const Rect& shown, const Rect& region, Size size, T outside, Image<T>& whole) {
  if (part.empty()) return whole = Image<T>(), void();
  const int channels = part.channels();
  resize(whole, size, channels);
  whole.fill(outside);
  const auto wanted = part.view().crop({region.x - shown.x, region.y - shown.y, region.width, region.height});
  for (int y = 0; y < region.height; ++y)
    std::copy_n(wanted.row(y), region.width * channels, whole.row(region.y + y) + region.x * channels);
}

void copy(const AnyImageView& from, AnyImage& to) {
  std::visit([&]<class T>(Image<T>& image) { image.copy_from(from.as<T>()); }, to.pixels);
}

// Of a pair, what a plan's region needs.
StereoPair input_of(const Plan& plan, const StereoPair& pair) {
  if (!plan.problem().region || plan.problem().geometry.rectification) return pair;
  const Rect shown = plan.required_input();
  const auto crop = [&](const ImageView<const std::uint8_t>& mask) { return mask.empty() ? mask : mask.crop(shown); };
  const auto crop_any = [&](const AnyImageView& image) { return image.empty() ? image : image.crop(shown); };
  return {crop_any(pair.left), crop_any(pair.right), crop(pair.mask_left), crop(pair.mask_right), crop_any(pair.costs)};
}

AnyView view_of(const AnyImageView& v) {
  return {reinterpret_cast<std::uint64_t>(v.data), 0, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
AnyView view_of(const DeviceImageView& v) {
  return {v.memory, v.offset, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
// Of a volume.
template <class View>
AnyView volume_of(const View& v) {
  AnyView volume = view_of(v);
  std::swap(volume.disparities, volume.channels);
  volume.channels = 1;
  return volume;
}
AnyView& of(FrameImages& images, External e) { return images[static_cast<std::size_t>(e)]; }

template <class Pair>
FrameImages images_of_pair(const Pair& pair) {
  FrameImages images{};
  of(images, External::left) = view_of(pair.left);
  of(images, External::right) = view_of(pair.right);
  if (!pair.mask_left.empty()) of(images, External::mask_left) = view_of(pair.mask_left);
  if (!pair.mask_right.empty()) of(images, External::mask_right) = view_of(pair.mask_right);
  if (!pair.costs.empty()) of(images, External::costs) = volume_of(pair.costs);
  return images;
}

// The pair, and the result's images, of the right size.
FrameImages images_of(const Plan& plan, const StereoPair& pair, Matched& result) {
  const Problem& p = plan.problem();
  FrameImages images = images_of_pair(input_of(plan, pair));
  const Size input = plan.required_input().size(), size = output_size(plan.pipeline().data(), input);
  for_each_image(result, [&]<class T>(External e, Image<T>& image) {
    resize(image, size_if(is_wanted(p, e), size), channels_of(e));
    of(images, e) = AnyView::of(image.view());
  });
  resize(result.rectified, p, size_if(p.geometry.want_rectified, input));
  of(images, External::rectified) = view_of(result.rectified.view());
  for_each_volume(result, [&](External e, AnyImage& volume) {
    const VolumeShape shape = is_wanted(p, e) ? plan.volume(state_of(e)) : VolumeShape();
    resize_volume(volume, shape, shape.size);
    of(images, e) = volume_of(volume.view());
  });
  return images;
}

// The result of a region in that of the image.
void place_part(const Plan& plan, Matched& part, Matched& result) {
  const Problem& p = plan.problem();
  // In pixels of the output: of the reduced images, if it has their size.
  const Size input = p.rectified_size(), output = plan.output_size();
  const int factor = output_factor(plan.pipeline().data());
  const auto in_output = [&](const Rect& r) {
    const auto up = [&](int at) { return (at + factor - 1) / factor; };
    const int x = r.x / factor, y = r.y / factor;
    return Rect{x, y, up(r.x + r.width) - x, up(r.y + r.height) - y};
  };
  const Rect shown = in_output(plan.required_input()), region = in_output(*p.region);
  for_each_image(result, [&]<class T>(External e, Image<T>& image) {
    for_each_image(part, [&]<class U>(External f, Image<U>& from) {
      if constexpr (std::is_same_v<T, U>)
        if (e == f) place(from, shown, region, output, outside_of<T>(e), image);
    });
  });
  resize(result.rectified, p, size_if(p.geometry.want_rectified, input));
  std::visit(
      [&]<class T>(const Image<T>& from) {
        place(from, plan.required_input(), *p.region, input, T{0}, std::get<Image<T>>(result.rectified.pixels));
      },
      part.rectified.pixels);
  // Of volumes, the region alone.
  const Rect read = plan.required_input();
  for_each_volume(result, [&](External e, AnyImage& volume) {
    if (!is_wanted(p, e)) return volume = AnyImage(), void();
    resize_volume(volume, plan.volume(state_of(e)), p.region->size());
    for_each_volume(part, [&](External f, AnyImage& whole) {
      if (e == f)
        copy(whole.view().crop({p.region->x - read.x, p.region->y - read.y, p.region->width, p.region->height}),
             volume);
    });
  });
  result.times = part.times;
}

}  // namespace

Problem Problem::of(const StereoPair& pair, DisparityRange range) {
  return {.size = pair.left.size(),
          .pixel_type = pair.left.type,
          .channels = pair.left.channels,
          .bit_depth = pair.left.bit_depth,
          .range = range,
          .region = {}};
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
    const MemoryLayout layout{plan.lanes_, plan.lane_bytes_};
    const Device& device = plan.device();
    engine = device.name == "cpu" ? make_host_engine(plan.programs_, plan.problem(), device.threads, layout)
                                  : make_gpu_engine(plan.programs_, plan.problem(), device.name, layout);
  }

  // Throws where the ticket is of another matcher. One of no pair is done.
  void check(Ticket ticket) const {
    if (ticket != Ticket() && (ticket.matcher != number || ticket.number >= next))
      throw Error(ErrorCategory::call, "a ticket is not of this matcher; wait with the matcher that gave it");
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
  state_->engine->begin(i, images_of(plan(), pair, out));
  return state_->begun(i, &result);
}

Ticket Matcher::enqueue(const DevicePair& pair, const DeviceMatched& result, std::optional<std::uint64_t> stream) {
  check_fits(plan(), pair, result);
  const int i = state_->next_frame();
  FrameImages images = images_of_pair(pair);
  for_each_image(result, [&](External e, const DeviceImageView& view) { of(images, e) = view_of(view); });
  for_each_volume(result, [&](External e, const DeviceImageView& view) { of(images, e) = volume_of(view); });
  state_->engine->begin(i, images, true, stream ? &*stream : nullptr);
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
  state_->engine->match(images_of(plan(), pair, result), result.times);
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
  Matched result;
  for_each_image(result, [&]<class T>(External e, Image<T>& image) {
    if (is_wanted(p, e)) image = page_locked_image<T>(device, plan().output_size(), channels_of(e));
  });
  if (p.geometry.want_rectified)
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
