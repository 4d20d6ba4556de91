#include "mesh.hpp"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include <algorithm>
#include <assimp/Importer.hpp>
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "stereopsis/io.hpp"
#include "synth/random.hpp"

namespace stereopsis::meshes {
namespace {

using synth::cross;
using synth::dot;
using synth::infinity;
using synth::length;
using synth::normalised;

RTCDevice device() {
  static const RTCDevice one = rtcNewDevice("threads=1");
  return one;
}

Vec3 vector_of(const aiVector3D& v) { return {v.x, v.y, v.z}; }

// Replaces half of a picture's rows and columns by means. Transparent pixels do not count.
Image<std::uint8_t> halved(const Image<std::uint8_t>& image) {
  const int channels = image.channels();
  Image<std::uint8_t> half({std::max(1, image.width() / 2), std::max(1, image.height() / 2)}, channels);
  for (int y = 0; y < half.height(); ++y)
    for (int x = 0; x < half.width(); ++x) {
      int sums[4] = {}, weight = 0;
      for (int i = 0; i < 4; ++i) {
        const int px = std::min(2 * x + i % 2, image.width() - 1), py = std::min(2 * y + i / 2, image.height() - 1);
        const int alpha = channels == 4 ? image(px, py, 3) : 255;
        for (int c = 0; c < 3; ++c) sums[c] += alpha * image(px, py, c);
        weight += alpha;
      }
      for (int c = 0; c < 3; ++c) half(x, y, c) = static_cast<std::uint8_t>(weight ? sums[c] / weight : 128);
      if (channels == 4) half(x, y, 3) = static_cast<std::uint8_t>(weight / 4);
    }
  return half;
}

// Returns a picture with 3 channels, or 4 if parts of it are transparent; empty if the file cannot be read.
Image<std::uint8_t> read_picture(const std::filesystem::path& file) try {
  const MaskedImage read = read_masked_image(file);
  const auto* image = std::get_if<Image<std::uint8_t>>(&read.image.pixels);
  if (!image) return {};
  const bool holes = !read.mask.empty() && read.no_data > 0;
  Image<std::uint8_t> picture(image->size(), holes ? 4 : 3);
  for (int y = 0; y < image->height(); ++y)
    for (int x = 0; x < image->width(); ++x) {
      for (int c = 0; c < 3; ++c) picture(x, y, c) = (*image)(x, y, image->channels() == 3 ? c : 0);
      if (holes) picture(x, y, 3) = read.mask(x, y);
    }
  return picture;
} catch (const Error&) {
  return {};
}

// Calls f(x, y, weight) for the four pixels around texture coordinates, which repeat.
template <class F>
void around(const Image<std::uint8_t>& image, double u, double v, F&& f) {
  const double x = (u - std::floor(u)) * image.width() - .5, y = (1 - (v - std::floor(v))) * image.height() - .5;
  const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      const int px = (left + i + image.width()) % image.width(), py = (top + j + image.height()) % image.height();
      f(px, py, std::abs(1 - i - (x - left)) * std::abs(1 - j - (y - top)));
    }
}

RTCRayHit ray_of(const Vec3& o, const Vec3& d, double t_min) {
  RTCRayHit r{};
  r.ray.org_x = static_cast<float>(o.x), r.ray.org_y = static_cast<float>(o.y), r.ray.org_z = static_cast<float>(o.z);
  r.ray.dir_x = static_cast<float>(d.x), r.ray.dir_y = static_cast<float>(d.y), r.ray.dir_z = static_cast<float>(d.z);
  r.ray.tnear = static_cast<float>(std::max(t_min, 0.0)), r.ray.tfar = std::numeric_limits<float>::infinity();
  r.ray.mask = ~0u;
  r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  return r;
}

void trace(RTCScene scene, RTCRayHit& ray) {
#if RTC_VERSION_MAJOR >= 4
  rtcIntersect1(scene, &ray);
#else
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(scene, &context, &ray);
#endif
}

Material read_material(const aiMaterial& from, const std::filesystem::path& folder) {
  Material material;
  aiColor3D colour(.7f, .7f, .7f);
  float opacity = 1;
  from.Get(AI_MATKEY_COLOR_DIFFUSE, colour);
  from.Get(AI_MATKEY_OPACITY, opacity);
  material.colour = {colour.r, colour.g, colour.b};
  if (opacity < .65f) material.colour = {.04, .05, .06};  // a pane is what the cameras see, and it is dark
  aiString name;
  if (from.GetTexture(aiTextureType_DIFFUSE, 0, &name) != aiReturn_SUCCESS) return material;
  if (Image<std::uint8_t> picture = read_picture(folder / name.C_Str()); !picture.empty()) {
    material.picture = Pyramid(std::move(picture));
    material.colour = {1, 1, 1};
  }
  return material;
}

}  // namespace

Pyramid::Pyramid(Image<std::uint8_t> image) {
  levels_.push_back(std::move(image));
  while (levels_.back().width() > 1 || levels_.back().height() > 1) levels_.push_back(halved(levels_.back()));
}

Colour Pyramid::colour(double u, double v, double footprint) const {
  const double pixels = footprint * std::max(levels_[0].width(), levels_[0].height());
  const int level =
      std::clamp(pixels > 1 ? static_cast<int>(std::log2(pixels) + .5) : 0, 0, static_cast<int>(levels_.size()) - 1);
  const Image<std::uint8_t>& image = levels_[level];
  Colour sum{0, 0, 0};
  around(image, u, v, [&](int x, int y, double weight) {
    sum += weight / 255 * Colour{double(image(x, y, 0)), double(image(x, y, 1)), double(image(x, y, 2))};
  });
  return sum;
}

double Pyramid::opacity(double u, double v) const {
  double sum = 0;
  around(levels_[0], u, v, [&](int x, int y, double weight) { sum += weight / 255 * levels_[0](x, y, 3); });
  return sum;
}

Mesh::Mesh(const std::filesystem::path& file) {
  read(file);
  fit();
  build();
  bake();
}

Mesh::~Mesh() { rtcReleaseScene(scene_); }

void Mesh::read(const std::filesystem::path& file) {
  Assimp::Importer importer;
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_LINE | aiPrimitiveType_POINT);
  const aiScene* scene = importer.ReadFile(
      file.string(), aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_GenSmoothNormals |
                         aiProcess_PreTransformVertices | aiProcess_SortByPType | aiProcess_FindDegenerates);
  if (!scene || scene->mNumMeshes == 0)
    throw Error(ErrorCategory::file, text("the mesh ", file.string(), " cannot be read: ", importer.GetErrorString(),
                                          "; remove it from objects.tsv, or fetch the pack again"));
  for (unsigned i = 0; i < scene->mNumMaterials; ++i)
    materials_.push_back(read_material(*scene->mMaterials[i], file.parent_path()));
  for (unsigned i = 0; i < scene->mNumMeshes; ++i) {
    const aiMesh& mesh = *scene->mMeshes[i];
    const auto first = static_cast<std::uint32_t>(points_.size());
    for (unsigned k = 0; k < mesh.mNumVertices; ++k) {
      points_.push_back(vector_of(mesh.mVertices[k]));
      normals_.push_back(mesh.HasNormals() ? vector_of(mesh.mNormals[k]) : Vec3{0, 1, 0});
      coordinates_.push_back(mesh.HasTextureCoords(0) ? vector_of(mesh.mTextureCoords[0][k]) : Vec3{});
    }
    for (unsigned k = 0; k < mesh.mNumFaces; ++k) {
      const aiFace& face = mesh.mFaces[k];
      if (face.mNumIndices != 3) continue;
      triangles_.push_back({{first + face.mIndices[0], first + face.mIndices[1], first + face.mIndices[2]}});
      material_of_.push_back(static_cast<std::uint16_t>(mesh.mMaterialIndex));
    }
  }
}

// Moves and scales the points, so that they fill the box of 1.
void Mesh::fit() {
  Vec3 low{infinity, infinity, infinity}, high = -low;
  for (const Vec3& p : points_) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const auto scaled = [](double value, double least, double most) {
    return most - least > 1e-9 ? (value - least) / (most - least) : .5;
  };
  for (Vec3& p : points_)
    p = {scaled(p.x, low.x, high.x) - .5, scaled(p.y, low.y, high.y), scaled(p.z, low.z, high.z) - .5};
  const Vec3 size = high - low;
  for (Vec3& n : normals_) {
    n = times(n, size + Vec3{1e-9, 1e-9, 1e-9});
    n = dot(n, n) > 0 ? normalised(n) : Vec3{0, 1, 0};
  }
}

void Mesh::build() {
  const RTCGeometry geometry = rtcNewGeometry(device(), RTC_GEOMETRY_TYPE_TRIANGLE);
  auto* points = static_cast<float*>(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                             3 * sizeof(float), points_.size()));
  for (std::size_t i = 0; i < points_.size(); ++i) {
    points[3 * i] = static_cast<float>(points_[i].x);
    points[3 * i + 1] = static_cast<float>(points_[i].y);
    points[3 * i + 2] = static_cast<float>(points_[i].z);
    points_[i] = {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
  }
  void* triangles =
      rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, sizeof(Corners), triangles_.size());
  std::copy(triangles_.begin(), triangles_.end(), static_cast<Corners*>(triangles));
  if (std::any_of(materials_.begin(), materials_.end(), [](const Material& m) { return m.picture.has_holes(); })) {
    rtcSetGeometryUserData(geometry, this);
    rtcSetGeometryIntersectFilterFunction(geometry, filter);
  }
  rtcCommitGeometry(geometry);
  scene_ = rtcNewScene(device());
  rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_ROBUST);
  rtcAttachGeometry(scene_, geometry);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(scene_);
}

// Rejects hits of transparent parts.
void Mesh::filter(const RTCFilterFunctionNArguments* a) {
  const auto& mesh = *static_cast<const Mesh*>(a->geometryUserPtr);
  if (a->valid[0] != -1) return;
  const std::uint32_t triangle = RTCHitN_primID(a->hit, a->N, 0);
  const Pyramid& picture = mesh.materials_[mesh.material_of_[triangle]].picture;
  if (!picture.has_holes()) return;
  const double u = RTCHitN_u(a->hit, a->N, 0), v = RTCHitN_v(a->hit, a->N, 0);
  const Vec3 at = mesh.mean(mesh.coordinates_, {triangle, {1 - u - v, u, v}});
  if (picture.opacity(at.x, at.y) < .5) a->valid[0] = 0;
}

// Estimates, for each point, how much of the surroundings the mesh hides.
void Mesh::bake() {
  constexpr int rays = 12;
  constexpr double reach = .35;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    synth::Random random(i);
    int open = 0;
    for (int k = 0; k < rays; ++k) {
      Vec3 d{random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
      if (dot(d, normals_[i]) < 0) d = -d;
      RTCRayHit ray = ray_of(points_[i] + 2e-3 * normals_[i], normalised(d + .2 * normals_[i]), 0);
      ray.ray.tfar = reach;
      trace(scene_, ray);
      open += ray.hit.geomID == RTC_INVALID_GEOMETRY_ID;
    }
    openness_.push_back(static_cast<float>(open) / rays);
  }
}

Vec3 Mesh::mean(const std::vector<Vec3>& values, const Spot& spot) const {
  const auto& at = triangles_[spot.triangle].at;
  return spot.weights[0] * values[at[0]] + spot.weights[1] * values[at[1]] + spot.weights[2] * values[at[2]];
}

double Mesh::openness(const Spot& spot) const {
  const auto& at = triangles_[spot.triangle].at;
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += spot.weights[i] * openness_[at[i]];
  return sum;
}

// Embree computes with floats. The depth is that of the triangle's plane, with doubles, so that both cameras agree.
double Mesh::hit(const Vec3& o, const Vec3& d, double t_min) const {
  RTCRayHit ray = ray_of(o, d, t_min);
  trace(scene_, ray);
  if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) return infinity;
  const auto& at = triangles_[ray.hit.primID].at;
  const Vec3 normal = cross(points_[at[1]] - points_[at[0]], points_[at[2]] - points_[at[0]]);
  const double along = dot(d, normal);
  const double t = along == 0 ? ray.ray.tfar : dot(points_[at[0]] - o, normal) / along;
  return t >= t_min ? t : infinity;
}

Mesh::Spot Mesh::spot_at(std::uint32_t triangle, const Vec3& p) const {
  const auto& at = triangles_[triangle].at;
  const Vec3 a = points_[at[1]] - points_[at[0]], b = points_[at[2]] - points_[at[0]], c = p - points_[at[0]];
  const double aa = dot(a, a), ab = dot(a, b), bb = dot(b, b), ca = dot(c, a), cb = dot(c, b);
  const double area = aa * bb - ab * ab;
  if (area <= 0) return {triangle, {1, 0, 0}};
  const double v = (bb * ca - ab * cb) / area, w = (aa * cb - ab * ca) / area;
  return {triangle, {1 - v - w, v, w}};
}

// Finds the triangle on which a point lies: the one with the least distance from it.
Mesh::Spot Mesh::nearest(const Vec3& p) const {
  struct Search {
    const Mesh& mesh;
    Vec3 p;
    Spot best;
    double least = infinity;
  } search{*this, p, {}};
  const auto compare = [](RTCPointQueryFunctionArguments* a) {
    auto& s = *static_cast<Search*>(a->userPtr);
    Spot spot = s.mesh.spot_at(a->primID, s.p);
    for (double& weight : spot.weights) weight = std::max(weight, 0.0);
    const double sum = spot.weights[0] + spot.weights[1] + spot.weights[2];
    for (double& weight : spot.weights) weight /= sum;
    const double distance = length(s.mesh.mean(s.mesh.points_, spot) - s.p);
    if (distance >= s.least) return false;
    s.least = distance, s.best = spot;
    a->query->radius = static_cast<float>(distance);
    return true;
  };
  RTCPointQuery query{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z), 0, .01f};
  RTCPointQueryContext context;
  rtcInitPointQueryContext(&context);
  rtcPointQuery(scene_, &query, &context, compare, &search);
  return search.best;
}

Colour Mesh::colour(const Spot& spot, double footprint) const {
  const Material& material = materials_[material_of_[spot.triangle]];
  if (material.picture.empty()) return material.colour;
  const auto& at = triangles_[spot.triangle].at;
  const Vec3 a = points_[at[1]] - points_[at[0]], b = points_[at[2]] - points_[at[0]];
  const Vec3 u = coordinates_[at[1]] - coordinates_[at[0]], v = coordinates_[at[2]] - coordinates_[at[0]];
  const double density = std::sqrt(std::abs(u.x * v.y - u.y * v.x) / std::max(length(cross(a, b)), 1e-12));
  const Vec3 coordinates = mean(coordinates_, spot);
  return times(material.colour, material.picture.colour(coordinates.x, coordinates.y, density * footprint));
}

Placed::Placed(std::shared_ptr<const Mesh> mesh, const Vec3& size, const Colour& tint, double pixel, std::uint32_t seed)
    : mesh_(std::move(mesh)), size_(size), tint_(tint), pixel_(pixel), seed_(seed) {
  synth::Random random(seed);
  cell_ = pixel * random.between(3, 20);
  depth_ = random.one_in(2) ? 0 : random.between(0, .5);
  dirt_ = random.between(0, .35);
}

double Placed::hit(const Vec3& o, const Vec3& d, double t_min) const { return mesh_->hit(inside(o), inside(d), t_min); }

// The normal and the colour are those of the same point: its triangle is found once.
Mesh::Spot Placed::spot_at(const Vec3& p) const {
  thread_local struct {
    const Placed* placed = nullptr;
    Vec3 p;
    Mesh::Spot spot;
  } last;
  if (last.placed != this || last.p.x != p.x || last.p.y != p.y || last.p.z != p.z)
    last = {this, p, mesh_->nearest(inside(p))};
  return last.spot;
}

// The dents are the gradient of noise.
Vec3 Placed::normal(const Vec3& p) const {
  const Vec3 flat = mesh_->normal(spot_at(p));
  const Vec3 n = normalised({flat.x / size_.x, flat.y / size_.y, flat.z / size_.z});
  if (depth_ == 0) return n;
  const auto level = [&](double x, double y, double z) { return synth::noise((1 / cell_) * p + Vec3{x, y, z}, seed_); };
  const double here = level(0, 0, 0);
  const Vec3 slope{level(.2, 0, 0) - here, level(0, .2, 0) - here, level(0, 0, .2) - here};
  return normalised(n - depth_ * slope);
}

Colour Placed::colour(const Vec3& p) const {
  const Mesh::Spot spot = spot_at(p);
  const double footprint = pixel_ / std::max({size_.x, size_.y, size_.z});
  const double spots =
      1 + dirt_ * (synth::noise((1 / cell_) * p, seed_ + 1) + synth::noise((.2 / cell_) * p, seed_ + 2) - 1);
  return spots * (.35 + .65 * mesh_->openness(spot)) * times(tint_, mesh_->colour(spot, footprint));
}

void Placed::bounds(Vec3& low, Vec3& high) const {
  low = {-.5 * size_.x, 0, -.5 * size_.z}, high = {.5 * size_.x, size_.y, .5 * size_.z};
}

}  // namespace stereopsis::meshes
