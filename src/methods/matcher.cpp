#include "stereopsis/matcher.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "methods/engine.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/run.hpp"

namespace stereopsis {
namespace {

constexpr int most_disparities = 16384;

std::string shown(Size size) { return text(size.width, "×", size.height); }

void check(const Problem& p) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (p.size.width < 1 || p.size.height < 1)
    refuse(text("an image of ", shown(p.size), " pixels can't be matched; width and height must be at least 1"));
  if (p.channels != 1 && p.channels != 3)
    refuse(text("an image of ", p.channels, " channels can't be matched; give a grey (1) or an RGB (3) image"));
  if (p.bit_depth < 1 || p.bit_depth > 16)
    refuse(text("a bit depth of ", p.bit_depth, " is not allowed; it must be 1 to 16"));
  if (p.range.count < 1 || p.range.count > most_disparities)
    refuse(text("a search range of ", p.range.count, " disparities is not allowed; it must be 1 to ", most_disparities));
  if (std::abs(static_cast<long long>(p.range.min)) > 1'000'000)
    refuse(text("a lowest disparity of ", p.range.min, " is not allowed; it must be -1000000 to 1000000"));
  if (p.batch < 1 || p.batch > 4096) refuse(text("a batch of ", p.batch, " pairs is not allowed; it must be 1 to 4096"));
  if (!p.region) return;
  const Rect& r = *p.region;
  if (r.empty() || r.x < 0 || r.y < 0 || r.x > p.size.width - r.width || r.y > p.size.height - r.height)
    refuse(text("the region ", r.x, ",", r.y, ",", r.width, ",", r.height, " does not lie inside the image of ", shown(p.size),
                " pixels; give X,Y,WIDTH,HEIGHT with at least one pixel, all of it inside"));
}

// What semi-global matching is given for a region: its margin around, and the columns that its candidates lie in.
Rect input_of_region(const PipelineData& data, const Problem& p) {
  const Rect all{0, 0, p.size.width, p.size.height};
  if (!p.region) return all;
  Rect r = intersect(grow(*p.region, data.region.margin, data.region.margin), all);
  const int left = std::max(0, p.range.max()), right = std::max(0, -p.range.min);
  return intersect({r.x - left, r.y, r.width + left + right, r.height}, all);
}

void check_fits(const Problem& p, const StereoPair& pair) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (pair.left.size() != pair.right.size())
    refuse(text("the left image has ", shown(pair.left.size()), " pixels and the right one ", shown(pair.right.size()),
                "; a rectified pair has one size"));
  if (pair.left.type != pair.right.type || pair.left.channels != pair.right.channels || pair.left.bit_depth != pair.right.bit_depth)
    refuse(text("the left image is ", to_string(pair.left.type), " with ", pair.left.channels, " channels and ", pair.left.bit_depth,
                " bits, the right one ", to_string(pair.right.type), " with ", pair.right.channels, " and ", pair.right.bit_depth,
                "; both must be of one kind"));
  if (pair.left.size() != p.size || pair.left.type != p.pixel_type || pair.left.channels != p.channels || pair.left.bit_depth != p.bit_depth)
    refuse(text("the matcher was planned for ", shown(p.size), " pixels, ", to_string(p.pixel_type), ", ", p.channels,
                " channels; this pair has ", shown(pair.left.size()), " pixels, ", to_string(pair.left.type), ", ", pair.left.channels,
                " channels: make a new plan"));
  for (const auto* mask : {&pair.mask_left, &pair.mask_right})
    if (mask->data != nullptr && (mask->size() != p.size || mask->channels != 1))
      refuse(text("a mask has ", shown(mask->size()), " pixels and ", mask->channels, " channels; it must have the images' ",
                  shown(p.size), " and one channel"));
}

void check_fits(const Plan& plan, const DevicePair& pair, const DeviceMatched& out) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  const Problem& p = plan.problem();
  if (p.region) refuse("images on a device are matched whole; plan without a region, and give crops of them");
  const auto check_one = [&](const char* name, const DeviceImageView& v, Size size, PixelType type, int channels, int bit_depth) {
    if (v.empty() || v.size() != size || v.type != type || v.channels != channels || v.bit_depth != bit_depth)
      refuse(text("the device's image for ", name, " has ", shown(v.size()), " pixels, ", to_string(v.type), ", ", v.channels,
                  " channels, ", v.bit_depth, " bits; it must have ", shown(size), " pixels, ", to_string(type), ", ", channels,
                  " channels, ", bit_depth, " bits"));
  };
  check_one("the left view", pair.left, p.size, p.pixel_type, p.channels, p.bit_depth);
  check_one("the right view", pair.right, p.size, p.pixel_type, p.channels, p.bit_depth);
  if (pair.mask_left.memory != 0) check_one("the left mask", pair.mask_left, p.size, PixelType::u8, 1, 8);
  if (pair.mask_right.memory != 0) check_one("the right mask", pair.mask_right, p.size, PixelType::u8, 1, 8);
  check_one("the disparity", out.disparity, plan.output_size(), PixelType::f32, 1, out.disparity.bit_depth);
  check_one("the validity", out.validity, plan.output_size(), PixelType::u8, 1, out.validity.bit_depth);
  if (p.want_right) check_one("the right view's disparity", out.right, plan.output_size(), PixelType::f32, 1, out.right.bit_depth);
  if (p.want_confidence) check_one("the confidence", out.confidence, plan.output_size(), PixelType::f32, 1, out.confidence.bit_depth);
}

template <class T>
void resize(Image<T>& image, Size size) {
  if (image.size() != size) image = Image<T>(size);
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

StereoPair shape_of(const Problem& p, Size size) {
  AnyImageView view;
  view.type = p.pixel_type;
  view.width = size.width;
  view.height = size.height;
  view.channels = p.channels;
  view.bit_depth = p.bit_depth;
  return {view, view, {}, {}};
}

Outputs shape_of_outputs(const Problem& p, Size size) {
  const ImageView<float> none;
  const ImageView<float> some(nullptr, size.width, size.height);
  return {some, {nullptr, size.width, size.height}, p.want_right ? some : none, p.want_confidence ? some : none};
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
  required_input_ = input_of_region(pipeline_.data(), problem_);
  const Size size = required_input_.size();
  output_size_ = stereopsis::output_size(pipeline_.data(), problem_.size);
  const auto bytes_with = [&](int rows) { return bytes_of_run(pipeline_.data(), problem_, device_, size, rows); };
  const std::size_t whole = bytes_with(0), limit = problem_.memory_limit;
  std::size_t bytes = whole;
  if (limit > 0 && bytes > limit) {
    // Short bands take much for the kept states, tall ones for themselves: the tallest that fits.
    for (int rows = size.height; rows > 8 && bytes > limit;) {
      rows = std::max(8, rows / 16 * 8);
      bytes = bytes_with(rows);
      stripe_rows_ = rows;
    }
    if (bytes > limit)
      throw Error(ErrorCategory::memory, text("matching ", shown(size), " pixels with ", problem_.range.count, " disparities takes ",
                                              whole, " bytes and the memory limit is ", limit,
                                              "; raise the limit, or search fewer disparities or a region"));
  }
  lanes_ = is_host(device_) ? 1 : std::min(problem_.batch, most_lanes);
  if (limit > 0) lanes_ = static_cast<int>(std::min<std::size_t>(lanes_, limit / std::max<std::size_t>(bytes, 1)));
  workspace_bytes_ = lanes_ * bytes;
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
    const MemoryLayout layout{plan.lanes_, plan.workspace_bytes() / plan.lanes_, plan.stripe_rows()};
    const PipelineData& data = plan.pipeline().data();
    const Device& device = plan.device();
    engine = is_host(device) ? make_host_engine(data, plan.problem(), device.threads, layout)
                             : make_gpu_engine(data, plan.problem(), device.name, layout);
  }

  int frame_of(Ticket ticket) const { return static_cast<int>(ticket.number % frames.size()); }
  bool is_in_work(Ticket ticket) const {
    const InWork& frame = frames[frame_of(ticket)];
    return frame.pending && frame.number == ticket.number;
  }
  // The frame of the next pair, free to be begun.
  int next_frame() {
    const int i = frame_of({next});
    if (frames[i].pending) finish(i);
    return i;
  }
  Ticket begun(int i, Matched* result) {
    frames[i].number = next++;
    frames[i].pending = true;
    frames[i].result = result;
    return {frames[i].number};
  }
  void finish(int i);
  bool idle() const {
    return std::none_of(frames.begin(), frames.end(), [](const InWork& frame) { return frame.pending; });
  }

  Plan plan;
  std::vector<InWork> frames;
  std::uint64_t next = 0;
  std::unique_ptr<Engine> engine;  // done with before what it works on goes
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
  resize(whole, size);
  whole.fill(outside);
  const auto wanted = part.view().crop({region.x - shown.x, region.y - shown.y, region.width, region.height});
  for (int y = 0; y < region.height; ++y) std::copy_n(wanted.row(y), region.width, whole.row(region.y + y) + region.x);
}

// Of a pair, what a plan's region needs.
static StereoPair input_of(const Plan& plan, const StereoPair& pair) {
  if (!plan.problem().region) return pair;
  const Rect shown = plan.required_input();
  const auto crop = [&](const ImageView<const std::uint8_t>& mask) { return mask.empty() ? mask : mask.crop(shown); };
  return {pair.left.crop(shown), pair.right.crop(shown), crop(pair.mask_left), crop(pair.mask_right)};
}

// The result's images, of the right size.
static Outputs outputs_of(const Plan& plan, Matched& result) {
  const Problem& p = plan.problem();
  const Size size = output_size(plan.pipeline().data(), plan.required_input().size());
  resize(result.disparity, size);
  resize(result.validity, size);
  resize(result.right, p.want_right ? size : Size{});
  resize(result.confidence, p.want_confidence ? size : Size{});
  return {result.disparity, result.validity, result.right, result.confidence};
}

static void place_part(const Plan& plan, const Matched& part, Matched& result) {
  const Problem& p = plan.problem();
  const Rect shown = plan.required_input();
  place(part.disparity, shown, *p.region, p.size, invalid_disparity, result.disparity);
  place(part.validity, shown, *p.region, p.size, validity::outside, result.validity);
  place(part.right, shown, *p.region, p.size, invalid_disparity, result.right);
  place(part.confidence, shown, *p.region, p.size, 0.0f, result.confidence);
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
  if (state_->is_in_work(ticket)) state_->finish(state_->frame_of(ticket));
}

bool Matcher::is_done(Ticket ticket) const {
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
    throw Error(ErrorCategory::call, text(pairs.size(), " pairs can't be matched into ", results.size(), " results; give one for each"));
  std::vector<Ticket> tickets;
  for (std::size_t i = 0; i < pairs.size(); ++i) tickets.push_back(enqueue(pairs[i], results[i]));
  for (const Ticket ticket : tickets) wait(ticket);
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
  return result;
}

Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline, const Device& device) {
  return Matcher(Plan(pipeline, Problem::of(pair, range), device)).match(pair);
}

}  // namespace stereopsis
