#include "stereopsis/matcher.hpp"

#include <algorithm>

#include "methods/cpu_backend.hpp"
#include "methods/gpu_backend.hpp"

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

// A pair without pixels, of the shape of the problem: enough to count what a run takes.
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

namespace {

bool is_host(const Device& device) { return device.name == "cpu"; }

// What a matcher works with on the CPU: memory and threads.
class HostEngine {
 public:
  explicit HostEngine(const Plan& plan)
      : bytes_(plan.workspace_bytes()), memory_(static_cast<std::byte*>(detail::allocate_aligned(bytes_)))
#ifdef STEREOPSIS_SIMD
        ,
        threads_(plan.device().threads)
#endif
  {
  }

#ifdef STEREOPSIS_SIMD
  CpuBackend backend() { return {Workspace({memory_.get(), bytes_}), threads_}; }
#else
  OracleBackend backend() { return OracleBackend(Workspace({memory_.get(), bytes_})); }
#endif

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, detail::AlignedDelete> memory_;
#ifdef STEREOPSIS_SIMD
  Threads threads_;
#endif
};

// And on a GPU: its memory and a queue, which is done with before the memory goes.
class GpuEngine {
 public:
  explicit GpuEngine(const Plan& plan) : GpuEngine(gpu::device(plan.device().name), plan.workspace_bytes()) {}

  GpuBackend backend() { return GpuBackend(memory_.span(), *queue_); }

 private:
  GpuEngine(gpu::Device& device, std::size_t bytes) : memory_(device, bytes), queue_(device.make_queue()) {}

  gpu::Buffer memory_;
  std::unique_ptr<gpu::Queue> queue_;
};

// The bytes that a run takes: a run without memory.
std::size_t bytes_of_run(const PipelineData& data, const Problem& p, const Device& device, Size size) {
  const auto count = [&](auto&& counting) {
    run(data, p, shape_of(p, size), shape_of_outputs(p, output_size(data, size)), counting);
    return counting.bytes();
  };
  if (!is_host(device)) return count(GpuBackend());
#ifdef STEREOPSIS_SIMD
  Threads threads(device.threads);
  return count(CpuBackend(Workspace(), threads));
#else
  return count(OracleBackend{Workspace()});
#endif
}

}  // namespace

struct Matcher::State {
  explicit State(Plan plan_) : plan(std::move(plan_)) {
    if (is_host(plan.device())) host = std::make_unique<HostEngine>(plan);
    else device = std::make_unique<GpuEngine>(plan);
  }

  Plan plan;
  std::unique_ptr<HostEngine> host;  // one of the two
  std::unique_ptr<GpuEngine> device;
  Matched part;  // of a region: the result on its input
};

Plan::Plan(const Pipeline& pipeline, const Problem& problem, const Device& device)
    : pipeline_(pipeline), problem_(problem), device_(device) {
  check(problem_);
  device_.name = resolve_device(device.name);
  required_input_ = input_of_region(pipeline_.data(), problem_);
  const Size size = required_input_.size();
  output_size_ = stereopsis::output_size(pipeline_.data(), problem_.size);
  workspace_bytes_ = bytes_of_run(pipeline_.data(), problem_, device_, size);
  if (problem_.memory_limit > 0 && workspace_bytes_ > problem_.memory_limit)
    throw Error(ErrorCategory::memory, text("matching ", shown(size), " pixels with ", problem_.range.count, " disparities takes ",
                                            workspace_bytes_, " bytes and the memory limit is ", problem_.memory_limit,
                                            "; raise the limit, or search fewer disparities or a region"));
}

Matcher::Matcher(Plan plan) : state_(std::make_unique<State>(std::move(plan))) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

const Plan& Matcher::plan() const { return state_->plan; }

Matched Matcher::match(const StereoPair& pair) {
  Matched result;
  match(pair, result);
  return result;
}

static void match_all(const Plan& plan, const StereoPair& pair, Matched& result, auto&& backend) {
  const Problem& p = plan.problem();
  const Size size = output_size(plan.pipeline().data(), pair.left.size());
  resize(result.disparity, size);
  resize(result.validity, size);
  resize(result.right, p.want_right ? size : Size{});
  resize(result.confidence, p.want_confidence ? size : Size{});
  const Outputs out{result.disparity, result.validity, result.right, result.confidence};
  run(plan.pipeline().data(), p, pair, out, backend);
  result.times = std::move(backend.times);
}

// Puts the region of `part`, which shows `shown` of the image, into a full-size image of `outside`.
template <class T>
static void place(const Image<T>& part, const Rect& shown, const Rect& region, Size size, T outside, Image<T>& whole) {
  if (part.empty()) return whole = Image<T>(), void();
  resize(whole, size);
  whole.fill(outside);
  const auto wanted = part.view().crop({region.x - shown.x, region.y - shown.y, region.width, region.height});
  for (int y = 0; y < region.height; ++y) std::copy_n(wanted.row(y), region.width, whole.row(region.y + y) + region.x);
}

void Matcher::match(const StereoPair& pair, Matched& result) {
  const Problem& p = plan().problem();
  check_fits(p, pair);
  const auto match_here = [&](const StereoPair& input, Matched& output) {
    if (state_->host) match_all(plan(), input, output, state_->host->backend());
    else match_all(plan(), input, output, state_->device->backend());
  };
  if (!p.region) return match_here(pair, result);

  const Rect shown = plan().required_input();
  const auto crop = [&](const ImageView<const std::uint8_t>& mask) { return mask.empty() ? mask : mask.crop(shown); };
  Matched& part = state_->part;
  match_here({pair.left.crop(shown), pair.right.crop(shown), crop(pair.mask_left), crop(pair.mask_right)}, part);
  place(part.disparity, shown, *p.region, p.size, invalid_disparity, result.disparity);
  place(part.validity, shown, *p.region, p.size, validity::outside, result.validity);
  place(part.right, shown, *p.region, p.size, invalid_disparity, result.right);
  place(part.confidence, shown, *p.region, p.size, 0.0f, result.confidence);
  result.times = part.times;
}

Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline, const Device& device) {
  return Matcher(Plan(pipeline, Problem::of(pair, range), device)).match(pair);
}

}  // namespace stereopsis
