#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/checks.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis {
namespace {

constexpr int steps = 100;

struct ScoredPixel {
  float confidence;
  double wrong;  // 0 or 1 at first, and later the share of errors among the pixels of equal confidence
};

void share_among_equals(std::vector<ScoredPixel>& sorted) {
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last =
        std::find_if(first, sorted.end(), [&](const ScoredPixel& p) { return p.confidence != first->confidence; });
    double errors = 0;
    for (auto p = first; p != last; ++p) errors += p->wrong;
    for (auto p = first; p != last; ++p) p->wrong = errors / static_cast<double>(last - first);
    first = last;
  }
}

// Fills `curve` with the percentage of errors that remain after removing the first pixels of `wrong`. Returns the mean
// percentage over all numbers of removed pixels.
double remove_in_order(const std::vector<double>& wrong, std::vector<double>& curve) {
  const std::size_t count = wrong.size();
  std::vector<double> left(count + 1, 0);
  for (std::size_t i = count; i > 0; --i) left[i - 1] = left[i] + wrong[i - 1];
  const auto share = [&](std::size_t gone) { return 100 * left[gone] / static_cast<double>(count - gone); };
  for (int i = 0; i < steps; ++i) curve.push_back(share(count * static_cast<std::size_t>(i) / steps));
  double sum = 0;
  for (std::size_t gone = 0; gone < count; ++gone) sum += share(gone);
  return sum / static_cast<double>(count);
}

std::string polyline(const std::vector<double>& curve, double top, const char* style) {
  std::string points;
  for (std::size_t i = 0; i < curve.size(); ++i)
    points += text(i == 0 ? "" : " ", number_text(60 + 5.0 * static_cast<double>(i)), ',',
                   number_text(std::round(10 * (320 - 300 * curve[i] / top)) / 10));
  return text("<polyline points=\"", points, "\" fill=\"none\" ", style, "/>\n");
}

}  // namespace

Sparsification sparsification(ImageView<const float> disparity, ImageView<const float> confidence,
                              ImageView<const float> truth, ImageView<const std::uint8_t> mask, double threshold) {
  check_threshold(threshold);
  check_plane("disparity", disparity);
  check_plane("confidence", confidence, disparity.size());
  check_plane("truth", truth, disparity.size());
  check_mask_of(disparity.size(), mask);
  std::vector<ScoredPixel> pixels;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) {
      if (!std::isfinite(truth(x, y)) || !counts(mask, x, y)) continue;
      const double error = std::abs(static_cast<double>(disparity(x, y)) - static_cast<double>(truth(x, y)));
      const float c = confidence(x, y);
      pixels.push_back({std::isfinite(c) ? c : std::numeric_limits<float>::lowest(), error <= threshold ? 0.0 : 1.0});
    }
  if (pixels.empty())
    throw Error(ErrorCategory::call,
                "no pixel inside the mask has a ground truth, so no pixel counts; check the ground truth and the mask");

  std::ranges::sort(pixels, {}, &ScoredPixel::confidence);
  std::vector<double> best;
  for (const ScoredPixel& pixel : pixels) best.push_back(pixel.wrong);
  std::ranges::sort(best, std::greater<>());
  share_among_equals(pixels);
  std::vector<double> wrong;
  for (const ScoredPixel& pixel : pixels) wrong.push_back(pixel.wrong);

  Sparsification result;
  result.auc = remove_in_order(wrong, result.curve);
  result.auc_optimum = remove_in_order(best, result.optimum);
  return result;
}

std::string to_svg(const Sparsification& s) {
  const double top = std::max({1.0, *std::max_element(s.curve.begin(), s.curve.end()), s.curve.front()});
  const auto rounded = [](double v) { return number_text(std::round(100 * v) / 100); };
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 370\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"600\" height=\"370\" fill=\"white\"/>\n"
      "<path d=\"M60 20V320H560\" fill=\"none\" stroke=\"black\"/>\n";
  for (int i = 0; i <= 4; ++i) {
    svg += text("<text x=\"", 60 + 125 * i, "\" y=\"338\" text-anchor=\"middle\">", 25 * i, " %</text>\n");
    svg += text("<text x=\"54\" y=\"", 324 - 75 * i, "\" text-anchor=\"end\">", rounded(top * i / 4), "</text>\n");
  }
  svg += "<text x=\"310\" y=\"360\" text-anchor=\"middle\">pixels removed, the least confident first</text>\n";
  svg += "<text x=\"64\" y=\"14\">errors among the remaining pixels, %</text>\n";
  svg +=
      polyline(std::vector<double>(s.curve.size(), s.curve.front()), top, "stroke=\"#999\" stroke-dasharray=\"2 4\"");
  svg += polyline(s.optimum, top, "stroke=\"#2a7\" stroke-dasharray=\"6 3\"");
  svg += polyline(s.curve, top, "stroke=\"#c33\" stroke-width=\"2\"");
  svg += text("<text x=\"555\" y=\"40\" text-anchor=\"end\" fill=\"#c33\">confidence, AUC ", rounded(s.auc),
              " %</text>\n");
  svg += text("<text x=\"555\" y=\"58\" text-anchor=\"end\" fill=\"#2a7\">optimum, AUC ", rounded(s.auc_optimum),
              " %</text>\n</svg>\n");
  return svg;
}

}  // namespace stereopsis
