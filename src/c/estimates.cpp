// Functions of the C interface that estimate properties of a pair.
#include <algorithm>
#include <array>

#include "c/structs.hpp"
#include "stereopsis/formats.hpp"
#include "stereopsis/pair_check.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::c {
namespace {

// A pair of images in host memory, in RGB if they have another format.
class RgbPair {
 public:
  RgbPair(const sp_image* left, const sp_image* right) {
    if (left == nullptr || right == nullptr) refuse("left or right is null; pass both images");
    left_ = in_rgb({left, "left"}, "left", rgb_[0]);
    right_ = in_rgb({right, "right"}, "right", rgb_[1]);
  }

  const AnyImageView& left() const { return left_; }
  const AnyImageView& right() const { return right_; }

 private:
  static AnyImageView in_rgb(const GivenView& view, const char* name, AnyImage& rgb) {
    if (!view.format) return host_image(view, name);
    to_rgb(host_image(view, name), *view.format, rgb);
    return rgb;
  }

  std::array<AnyImage, 2> rgb_;
  AnyImageView left_, right_;
};

sp_row_alignment in_c(const RowAlignment& a) {
  static_assert(SP_ROW_KNOTS == RowField::most_knots);
  sp_row_alignment c = {sizeof(sp_row_alignment), a.offset,     a.roll, a.zoom, a.keystone,
                        a.field.columns,          a.field.rows, {}};
  std::ranges::copy(a.field.knots, c.knots);
  return c;
}

}  // namespace

}  // namespace stereopsis::c

using namespace stereopsis;
using namespace stereopsis::c;

sp_status sp_estimate_range(const sp_image* left, const sp_image* right, int32_t* min_disparity, int32_t* disparities) {
  return guarded([&] {
    std::int32_t &min = given(min_disparity, "min_disparity"), &count = given(disparities, "disparities");
    const RgbPair pair(left, right);
    const DisparityRange range = estimate_range(pair.left(), pair.right());
    min = range.min;
    count = range.count;
  });
}

sp_status sp_estimate_row_alignment(const sp_image* left, const sp_image* right, sp_row_estimate* estimate) {
  return guarded([&] {
    size_of(estimate, "estimate");
    const RgbPair pair(left, right);
    const RowEstimate e = estimate_row_alignment(pair.left(), pair.right());
    static_assert(SP_ROWS_AGREE == static_cast<int>(NoAlignment::rows_agree));
    write({0, in_c(e.plane), in_c(e.deviation), e.remaining, e.tracks, static_cast<std::int32_t>(e.reason)}, estimate,
          "estimate");
  });
}
