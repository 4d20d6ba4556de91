#include "adversary/call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace stereopsis::adversary {

int Dice::between_logarithmic(int low, int high) {
  const double v = std::exp(unit() * std::log(high - low + 2.0)) - 1;
  return low + std::min(high - low, static_cast<int>(v));
}

namespace {

// Returns the numbers in a sentence.
std::vector<double> numbers_in(const std::string& sentence) {
  std::vector<double> numbers;
  for (const std::string& word : split(sentence, ' '))
    if (const auto number = parse_number<double>(word)) numbers.push_back(*number);
  return numbers;
}

// Returns an allowed number, sometimes a limit of the range.
std::string any_number(const ParameterInfo& info, Dice& dice) {
  const std::vector<double> limits = numbers_in(info.allowed);
  if (limits.size() != 2) throw Error(ErrorCategory::call, text("nothing here understands '", info.allowed, "'"));
  if (info.allowed.find(" or ") != std::string::npos) return number_text(dice.pick(limits));
  const auto [low, high] = std::array{limits[0], limits[1]};
  if (dice.chance(0.2)) return number_text(low);
  if (dice.chance(0.15)) return number_text(high);
  if (info.type == "integer") {
    int value = static_cast<int>(low) + dice.between_logarithmic(0, static_cast<int>(high - low));
    if (info.allowed.find("odd") != std::string::npos && value % 2 == 0) --value;
    return number_text(value);
  }
  const double value = low + (high - low) * std::pow(dice.unit(), dice.between(1, 8));
  return number_text(std::clamp(dice.chance(0.5) ? value : std::round(value), low, high));
}

std::string any_value(const ParameterInfo& info, Dice& dice) {
  if (info.type == "flag") return dice.chance(0.5) ? "true" : "false";
  if (info.type == "choice") {
    const std::vector<std::string> names = split(info.allowed, ',');
    const std::string& name = dice.pick(names);
    return name.substr(name.find_first_not_of(' '));
  }
  if (info.type == "text") return dice.pick(info.choices);
  if (info.type != "numbers") return any_number(info, dice);
  std::vector<std::string> parts;
  for (std::size_t n = split(info.value, ',').size(); n > 0; --n) parts.push_back(any_number(info, dice));
  // Weights, of which one at least is above 0.
  if (std::ranges::all_of(parts, [](const std::string& part) { return part == "0"; })) parts.front() = "1";
  return join(parts, ",");
}

// Returns a method; some of its slots may come from another method.
Pipeline any_pipeline(Dice& dice, bool& mixed) {
  const std::string name = dice.pick(methods()).name;
  mixed = dice.chance(0.1);
  if (!mixed) return Pipeline(name);
  std::vector<PipelineSlot> slots = Pipeline(name).slots();
  const std::vector<PipelineSlot> others = Pipeline(dice.pick(methods()).name).slots();
  const PipelineSlot& other = dice.pick(others);
  const auto same = std::find_if(slots.begin(), slots.end(), [&](const auto& slot) { return slot.slot == other.slot; });
  if (same != slots.end())
    *same = other;
  else
    slots.push_back(other);
  try {
    return Pipeline::from_slots("mixed", slots);
  } catch (const Error&) {  // a slot that goes with another one
    mixed = false;
    return Pipeline(name);
  }
}

}  // namespace

Settings change_parameters(Pipeline& pipeline, Dice& dice) {
  const double share = dice.pick(std::array{0.0, 0.1, 0.3, 0.6});
  Settings changed;
  for (const ParameterInfo& info : pipeline.parameters()) {
    const bool is_switch = info.name.ends_with(".enabled");
    if (!dice.chance(is_switch ? share / 2 : share)) continue;
    const std::string value = any_value(info, dice);
    if (value == info.value) continue;
    pipeline.set(info.name, value);
    changed.emplace_back(info.name, value);
  }
  return changed;
}

namespace {

// Floats that no camera gives and that images may hold: from black to white, with half a unit of slack, or not finite.
constexpr float special[] = {std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::denorm_min(),
                             -1e-40f,
                             -0.0f,
                             -0.5f,
                             255.5f,
                             0.5f};

// A texture that both views see, shifted against one another, with some noise.
template <class T>
void paint(ImageView<T> left, ImageView<T> right, int bit_depth, Dice& dice) {
  const int look = dice.below(6), shift = dice.between(-2, 8), noise = dice.below(3) * dice.below(8);
  const double white = sizeof(T) == 4 ? 255 : (1 << bit_depth) - 1;
  const std::uint64_t salt = dice.bits();
  const auto texture = [&](int x, int y, int c) -> double {
    std::uint64_t h = salt + 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>((y * 5077 + x) * 3 + c + 100000);
    h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9u;
    const double random = 0x1p-32 * static_cast<double>(h >> 32);
    switch (look) {
      case 0: return random;
      case 1: return 0.5 + 0.5 * std::sin(0.3 * x + 0.2 * y + c);
      case 2: return 0.4;
      case 3: return (x / 5 + y / 4) % 2 == 0 ? 0.1 : 0.9;
      case 4: return random < 0.5 ? 0 : 1;
      default: return 0.7 * (0.5 + 0.5 * std::sin(0.11 * x * y)) + 0.3 * random;
    }
  };
  const auto put = [&](T& pixel, double v) {
    v = v * white + (noise > 0 ? dice.between(-noise, noise) : 0);
    if constexpr (sizeof(T) == 4)
      pixel = static_cast<float>(std::clamp(v, 0.0, white));
    else
      pixel = static_cast<T>(std::clamp(std::round(v), 0.0, white));
  };
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x)
      for (int c = 0; c < left.channels; ++c) {
        put(left(x, y, c), texture(x, y, c));
        put(right(x, y, c), texture(x + shift, y, c));
      }
  // Pixels that nothing around them predicts.
  if (sizeof(T) == 1 || dice.chance(0.5)) return;
  for (int n = dice.between(0, 1 + left.width * left.height / 4); n > 0; --n) {
    const ImageView<T>& image = dice.chance(0.5) ? left : right;
    T& pixel = image(dice.below(image.width), dice.below(image.height), dice.below(image.channels));
    if constexpr (sizeof(T) == 4)
      pixel = dice.pick(special);
    else
      pixel = static_cast<T>(dice.bits() & static_cast<std::uint64_t>(white));
  }
}

// An image in the middle of a larger one whose pixels would change the result.
template <class T>
ImageView<T> framed(Image<T>& image, Size size, int channels, Dice& dice) {
  const int x = dice.below(4), y = dice.below(3);
  image = Image<T>({size.width + x + dice.below(4), size.height + y + dice.below(3)}, channels);
  for (int row = 0; row < image.height(); ++row)
    for (int i = 0; i < image.width() * channels; ++i) image.row(row)[i] = static_cast<T>(dice.below(256));
  return image.view().crop({x, y, size.width, size.height});
}

ImageView<const std::uint8_t> any_mask(Image<std::uint8_t>& image, Size size, Dice& dice) {
  const ImageView<std::uint8_t> mask = framed(image, size, 1, dice);
  const double masked = dice.pick(std::array{0.0, 0.05, 0.3, 0.95, 1.0});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) mask(x, y) = dice.chance(masked) ? 0 : 255;
  return mask;
}

void make_pair_of(const Problem& p, Pair& pair, Dice& dice) {
  const auto make = [&]<class T>(Image<T> left, Image<T> right) {
    const ImageView<T> l = framed(left, p.size, p.channels, dice), r = framed(right, p.size, p.channels, dice);
    paint(l, r, p.bit_depth, dice);
    pair.left.pixels = std::move(left);
    pair.right.pixels = std::move(right);
    pair.views.left = AnyImageView(l, p.bit_depth);
    pair.views.right = AnyImageView(r, p.bit_depth);
  };
  switch (p.pixel_type) {
    case PixelType::u8: make(Image<std::uint8_t>(), Image<std::uint8_t>()); break;
    case PixelType::u16: make(Image<std::uint16_t>(), Image<std::uint16_t>()); break;
    default: make(Image<float>(), Image<float>());
  }
  if (dice.chance(0.25)) pair.views.mask_left = any_mask(pair.mask_left, p.size, dice);
  if (dice.chance(0.25)) pair.views.mask_right = any_mask(pair.mask_right, p.size, dice);
}

Size any_size(Dice& dice) {
  if (dice.chance(0.05)) return {dice.chance(0.5) ? 1 : dice.between(60, 300), dice.between(1, 4)};
  if (dice.chance(0.05)) return {dice.between(1, 4), dice.between(60, 300)};
  return {dice.between_logarithmic(1, 60), dice.between_logarithmic(1, 40)};
}

Geometry any_geometry(Size size, Dice& dice) {
  Geometry g;
  if (dice.chance(0.2)) {
    g.rig =
        Rig{dice.unit() * 900 + 1, dice.unit() * 50, dice.unit() * 50, dice.unit() * 40, dice.unit() + 0.01, "m", {}};
    g.want_depth = dice.chance(0.5), g.want_points = dice.chance(0.5), g.want_uncertainty = dice.chance(0.5);
    g.frame = dice.chance(0.5) ? Frame::optical : Frame::head;
    g.disparity_error = dice.unit() * 3;
    g.fill_depth = dice.chance(0.5);
  }
  if (dice.chance(0.1)) {
    const Size to = any_size(dice);
    RectificationMaps maps{.input = size, .left = Image<std::int32_t>(to, 2), .right = Image<std::int32_t>(to, 2)};
    const int beside = dice.below(2) * 3 * 256;  // all have a source, or some have none
    for (auto* map : {&maps.left, &maps.right})
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) {
          (*map)(x, y, 0) = dice.between(-beside, 256 * (size.width - 1) + beside);
          (*map)(x, y, 1) = dice.between(-beside, 256 * (size.height - 1) + beside);
        }
    maps.left_complete = maps.right_complete = beside == 0 && dice.chance(0.5);
    g.rectification = std::make_shared<const RectificationMaps>(std::move(maps));
    g.want_rectified = dice.chance(0.5);
  }
  return g;
}

// High levels make regions of dark pixels in most images.
ConstantRegions any_constant_regions(Dice& dice) {
  return {.mask_black = dice.chance(0.8), .black = dice.pick(std::array{0, 2, 60, 128}), .mark_flat = dice.chance(0.8)};
}

Problem any_problem(Dice& dice) {
  Problem p;
  p.size = any_size(dice);
  p.pixel_type = dice.pick(std::array{PixelType::u8, PixelType::u8, PixelType::u16, PixelType::f32});
  p.channels = dice.chance(0.4) ? 3 : 1;
  if (p.pixel_type == PixelType::u16) p.bit_depth = dice.chance(0.5) ? 16 : dice.between(1, 16);
  p.range = {dice.chance(0.5) ? 0 : dice.between(-25, 25), dice.between_logarithmic(1, 70)};
  if (dice.chance(0.02)) p.range = {dice.pick(std::array{-1000000, 1000000, 500, -500}), dice.between(1, 4)};
  if (dice.chance(0.02)) p.range.count = dice.between(100, 400);
  p.geometry = any_geometry(p.size, dice);
  p.want_right = dice.chance(0.4);
  p.want_confidence = dice.chance(0.4);
  p.want_times = dice.chance(0.1);
  p.batch = dice.chance(0.7) ? 1 : dice.between(2, 5);
  if (dice.chance(0.3)) {
    const Size size = p.rectified_size();
    const int x = dice.below(size.width), y = dice.below(size.height);
    p.region = Rect{x, y, dice.between(1, size.width - x), dice.between(1, size.height - y)};
  }
  return p;
}

}  // namespace

Call::Call(std::uint64_t seed_) : seed(seed_), pipeline("sgm") {
  Dice dice(seed);
  pipeline = any_pipeline(dice, mixed);
  changed = change_parameters(pipeline, dice);
  problem = any_problem(dice);
  threads = dice.between(1, 4);
  if (dice.chance(0.15)) memory = dice.unit() * 1.1;
  const int count = dice.chance(0.8) ? 1 : dice.between(2, 6);
  for (int i = 0; i < count; ++i) make_pair_of(problem, pairs.emplace_back(), dice);
  if (dice.chance(0.4)) problem.constant = any_constant_regions(dice);
}

std::string Call::describe() const {
  std::string sets;
  for (const auto& [name, value] : changed) sets += text(" --set ", name, "=", value);
  const Problem& p = problem;
  std::string region = "whole";
  if (p.region) region = text("region ", p.region->x, ",", p.region->y, ",", p.region->width, ",", p.region->height);
  std::string more;
  if (p.want_right) more += ", right";
  if (p.want_confidence) more += ", confidence";
  if (p.constant.mask_black) more += text(", black up to ", p.constant.black);
  if (p.constant.mark_flat) more += ", flat pixels";
  if (p.geometry.rig) more += ", rig";
  if (p.geometry.rectification)
    more += text(", rectified to ", p.rectified_size().width, "×", p.rectified_size().height);
  return text(pipeline.method(), sets, "; ", p.size.width, "×", p.size.height, ", ", to_string(p.pixel_type), ", ",
              p.channels, " channels, ", p.bit_depth, " bits, disparities ", p.range.min, "+", p.range.count, ", ",
              region, more, ", ", pairs.size(), " pairs, batch ", p.batch, ", ", threads, " threads, memory ", memory);
}

}  // namespace stereopsis::adversary
