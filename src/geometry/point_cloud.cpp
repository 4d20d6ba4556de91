#include "stereopsis/point_cloud.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <span>

#include "core/text.hpp"
#include "geometry/rotations.hpp"
#include "geometry/row_threads.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using Point = std::array<float, 3>;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

Point at(ImageView<const float> points, int x, int y) { return {points(x, y, 0), points(x, y, 1), points(x, y, 2)}; }
bool is_valid(const Point& p) { return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]); }
double distance_of(const Point& p) { return length({p[0], p[1], p[2]}); }

Vector3 difference(const Point& a, const Point& b) {
  return {static_cast<double>(a[0]) - b[0], static_cast<double>(a[1]) - b[1], static_cast<double>(a[2]) - b[2]};
}

void check_points(ImageView<const float> points) {
  if (points.empty() || points.channels != 3)
    throw Error(ErrorCategory::call, text("the points have ", points.channels, " channels and ", points.width, "×",
                                          points.height, " pixels; they must have 3 channels and at least one pixel"));
}

// Tells which pixels of organised points lie on one surface.
class Surface {
 public:
  Surface(ImageView<const float> points, double step) : points_(points), step_(step) { check_points(points); }

  bool joins(int x0, int y0, int x1, int y1) const {
    const Point a = at(points_, x0, y0), b = at(points_, x1, y1);
    if (!is_valid(a) || !is_valid(b)) return false;
    const double da = distance_of(a), db = distance_of(b);
    return std::abs(da - db) <= step_ * std::min(da, db);
  }

  // Returns the difference of the neighbours of a pixel along an axis, on the pixel's surface; zero if there is none.
  Vector3 slope(int x, int y, int dx, int dy) const {
    const bool before = x >= dx && y >= dy && joins(x, y, x - dx, y - dy),
               after = x + dx < points_.width && y + dy < points_.height && joins(x, y, x + dx, y + dy);
    if (!before && !after) return {};
    return difference(after ? at(points_, x + dx, y + dy) : at(points_, x, y),
                      before ? at(points_, x - dx, y - dy) : at(points_, x, y));
  }

 private:
  ImageView<const float> points_;
  double step_;
};

// Appends point i of `from`, with its properties.
void append(PointCloud& to, const PointCloud& from, std::size_t i) {
  to.points.push_back(from.points[i]);
  if (!from.normals.empty()) to.normals.push_back(from.normals[i]);
  if (!from.colors.empty()) to.colors.push_back(from.colors[i]);
  if (!from.confidence.empty()) to.confidence.push_back(from.confidence[i]);
}

// A k-d tree over the points, as a permutation of them: the median of a range splits it.
class Tree {
 public:
  explicit Tree(const std::vector<Point>& points) : points_(points), order_(points.size()) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    split(0, order_.size(), 0);
  }

  // Returns the mean distance from a point to its nearest neighbours.
  double mean_distance(std::size_t i, std::size_t neighbours) const {
    std::priority_queue<double> nearest;                               // squared distances, the largest on top
    search(points_[i], 0, order_.size(), 0, neighbours + 1, nearest);  // the point itself is the nearest
    double sum = 0;
    const auto found = static_cast<double>(nearest.size() - 1);
    for (; !nearest.empty(); nearest.pop()) sum += std::sqrt(nearest.top());
    return found > 0 ? sum / found : 0;
  }

 private:
  void split(std::size_t first, std::size_t last, std::size_t axis) {
    if (last - first < 2) return;
    const std::size_t middle = first + (last - first) / 2;
    const auto begin = order_.begin();
    std::nth_element(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(middle),
                     begin + static_cast<std::ptrdiff_t>(last),
                     [&](auto a, auto b) { return points_[a][axis] < points_[b][axis]; });
    split(first, middle, (axis + 1) % 3);
    split(middle + 1, last, (axis + 1) % 3);
  }

  void search(const Point& p, std::size_t first, std::size_t last, std::size_t axis, std::size_t count,
              std::priority_queue<double>& nearest) const {
    if (first == last) return;
    const std::size_t middle = first + (last - first) / 2;
    const Point& pivot = points_[order_[middle]];
    const Vector3 to = difference(p, pivot);
    nearest.push(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
    if (nearest.size() > count) nearest.pop();
    const bool left_first = to[axis] < 0;
    const auto visit = [&](bool left) {
      search(p, left ? first : middle + 1, left ? middle : last, (axis + 1) % 3, count, nearest);
    };
    visit(left_first);
    if (nearest.size() < count || to[axis] * to[axis] <= nearest.top()) visit(!left_first);
  }

  const std::vector<Point>& points_;
  std::vector<std::uint32_t> order_;
};

// The sums of the points in one cube.
struct Cube {
  Vector3 point = {}, normal = {}, color = {};
  double confidence = 0;
  std::size_t count = 0, normals = 0;
};

// Returns the numbers of the cube along each axis. They are integers, but may be too large for an integer type.
Vector3 cube_of(const Point& p, double size) {
  return {std::floor(p[0] / size), std::floor(p[1] / size), std::floor(p[2] / size)};
}

Cube sum_of(const PointCloud& cloud, std::span<const std::uint32_t> members) {
  Cube sum;
  for (const std::uint32_t i : members) {
    ++sum.count;
    const bool has_normal = !cloud.normals.empty() && is_valid(cloud.normals[i]);
    sum.normals += has_normal;
    for (std::size_t c = 0; c < 3; ++c) {
      sum.point[c] += cloud.points[i][c];
      if (has_normal) sum.normal[c] += cloud.normals[i][c];
      if (!cloud.colors.empty()) sum.color[c] += cloud.colors[i][c];
    }
    if (!cloud.confidence.empty()) sum.confidence += cloud.confidence[i];
  }
  return sum;
}

void append_mean(PointCloud& to, const PointCloud& from, const Cube& sum) {
  const auto count = static_cast<double>(sum.count);
  const auto mean = [](const Vector3& v, double divisor) {
    return Point{static_cast<float>(v[0] / divisor), static_cast<float>(v[1] / divisor),
                 static_cast<float>(v[2] / divisor)};
  };
  to.points.push_back(mean(sum.point, count));
  if (!from.normals.empty()) {
    const double norm = length(sum.normal);
    to.normals.push_back(norm > 0 ? mean(sum.normal, norm) : Point{unknown, unknown, unknown});
  }
  if (!from.colors.empty()) {
    std::array<std::uint8_t, 3> color{};
    for (std::size_t c = 0; c < 3; ++c) color[c] = static_cast<std::uint8_t>(sum.color[c] / count + 0.5);
    to.colors.push_back(color);
  }
  if (!from.confidence.empty()) to.confidence.push_back(static_cast<float>(sum.confidence / count));
}

}  // namespace

Image<float> surface_normals(ImageView<const float> points, double step) {
  const Surface surface(points, step);
  Image<float> normals(points.size(), 3, unknown);
  for (int y = 0; y < points.height; ++y)
    for (int x = 0; x < points.width; ++x) {
      const Point p = at(points, x, y);
      if (!is_valid(p)) continue;
      Vector3 normal = cross(surface.slope(x, y, 1, 0), surface.slope(x, y, 0, 1));
      const double norm = length(normal);
      if (!(norm > 0)) continue;
      // The camera is at the origin.
      const double away = normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2];
      for (int c = 0; c < 3; ++c)
        normals(x, y, c) = static_cast<float>(normal[static_cast<std::size_t>(c)] / (away > 0 ? -norm : norm));
    }
  return normals;
}

PointCloud point_cloud(ImageView<const float> points, ImageView<const std::uint8_t> colour,
                       ImageView<const float> confidence, ImageView<const float> normals, bool organised) {
  check_points(points);
  const auto check_size = [&](const char* what, const auto& image, bool channels_fit) {
    if (!image.empty() && (image.size() != points.size() || !channels_fit))
      throw Error(ErrorCategory::call,
                  text("the ", what, " of the cloud is ", image.width, "×", image.height, " with ", image.channels,
                       " channels, which does not match the size of the points, ", points.width, "×", points.height));
  };
  check_size("colour", colour, colour.channels == 1 || colour.channels == 3);
  check_size("confidence", confidence, confidence.channels == 1);
  check_size("normals", normals, normals.channels == 3);
  PointCloud cloud;
  for (int y = 0; y < points.height; ++y)
    for (int x = 0; x < points.width; ++x) {
      const Point p = at(points, x, y);
      if (!organised && !is_valid(p)) continue;
      cloud.points.push_back(is_valid(p) ? p : Point{unknown, unknown, unknown});
      if (!normals.empty()) cloud.normals.push_back(at(normals, x, y));
      const int last = colour.channels == 3 ? 2 : 0;
      if (!colour.empty()) cloud.colors.push_back({colour(x, y, 0), colour(x, y, last / 2), colour(x, y, last)});
      if (!confidence.empty()) cloud.confidence.push_back(confidence(x, y));
    }
  return cloud;
}

PointCloud voxel_means(const PointCloud& cloud, double size) {
  if (!(size > 0) || !std::isfinite(size))
    throw Error(ErrorCategory::call,
                text("a voxel size of ", number_text(size), " is not allowed; it must be above 0"));
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < cloud.points.size(); ++i)
    if (is_valid(cloud.points[i])) order.push_back(i);
  // Points of one cube remain in their order, so that the sums do not depend on the sorting.
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return cube_of(cloud.points[i], size); });
  PointCloud means;
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    const auto cube = cube_of(cloud.points[order[first]], size);
    while (last < order.size() && cube_of(cloud.points[order[last]], size) == cube) ++last;
    append_mean(means, cloud, sum_of(cloud, {order.data() + first, last - first}));
  }
  return means;
}

PointCloud without_outliers(const PointCloud& cloud, int neighbours, double deviations, int threads) {
  if (neighbours < 1 || !(deviations >= 0))
    throw Error(ErrorCategory::call, text("outliers by ", neighbours, " neighbours and ", number_text(deviations),
                                          " standard deviations are not allowed; at least 1 and 0 are required"));
  PointCloud valid;
  for (std::size_t i = 0; i < cloud.points.size(); ++i)
    if (is_valid(cloud.points[i])) append(valid, cloud, i);
  const Tree tree(valid.points);
  std::vector<double> distances(valid.points.size());
  RowThreads(threads).rows(static_cast<int>(distances.size()), [&](int first, int last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
      distances[i] = tree.mean_distance(i, static_cast<std::size_t>(neighbours));
  });
  double mean = 0, variance = 0;
  const auto count = static_cast<double>(distances.size());
  for (const double distance : distances) mean += distance / count;
  for (const double distance : distances) variance += (distance - mean) * (distance - mean) / count;
  const double most = mean + deviations * std::sqrt(variance);
  PointCloud kept;
  for (std::size_t i = 0; i < distances.size(); ++i)
    if (distances[i] <= most) append(kept, valid, i);
  return kept;
}

Mesh surface_mesh(ImageView<const float> points, ImageView<const std::uint8_t> colour,
                  ImageView<const float> confidence, double step) {
  const Surface surface(points, step);
  const PointCloud all = point_cloud(points, colour, confidence, {}, true);
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> index(all.points.size(), none);  // index of the vertex of each pixel
  Mesh mesh;
  const auto vertex = [&](int x, int y) {
    const auto pixel =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(points.width) + static_cast<std::size_t>(x);
    if (index[pixel] == none) {
      index[pixel] = static_cast<std::uint32_t>(mesh.vertices.points.size());
      append(mesh.vertices, all, pixel);
    }
    return index[pixel];
  };
  using Corner = std::array<int, 2>;
  const auto add = [&](Corner a, Corner b, Corner c) {
    const auto joined = [&](Corner p, Corner q) { return surface.joins(p[0], p[1], q[0], q[1]); };
    if (!joined(a, b) || !joined(b, c) || !joined(c, a)) return false;
    mesh.triangles.push_back({vertex(a[0], a[1]), vertex(b[0], b[1]), vertex(c[0], c[1])});
    return true;
  };
  for (int y = 0; y + 1 < points.height; ++y)
    for (int x = 0; x + 1 < points.width; ++x) {
      const Corner a{x, y}, b{x + 1, y}, c{x, y + 1}, d{x + 1, y + 1};
      const bool upper = add(a, c, b), lower = add(b, c, d);
      if (upper || lower) continue;
      add(a, d, b);  // the other diagonal
      add(a, c, d);
    }
  return mesh;
}

}  // namespace stereopsis
