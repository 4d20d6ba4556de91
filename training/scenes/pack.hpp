// The meshes that scenes are furnished with: a folder with objects.tsv, as fetch.py writes it.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mesh.hpp"
#include "synth/random.hpp"

namespace stereopsis::meshes {

// A mesh of the pack, which is read when it is first used.
class Item {
 public:
  Item(std::filesystem::path file, std::string kind_, const Vec3& size_)
      : kind(std::move(kind_)), size(size_), file_(std::move(file)) {}

  const std::string kind;  // furniture, small, vehicle, person, plant or outdoor
  const Vec3 size;         // width, height and depth in metres
  std::shared_ptr<const Mesh> mesh() const;

 private:
  std::filesystem::path file_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Mesh> mesh_;
};

class Pack {
 public:
  // Throws Error(file) if the folder has no objects.tsv, or if this file names no mesh.
  explicit Pack(const std::filesystem::path& folder);

  // Returns a random item, of one of the kinds in most cases.
  const Item& draw(synth::Random& random, const std::vector<std::string>& kinds) const;

 private:
  std::vector<std::unique_ptr<Item>> items_;
};

}  // namespace stereopsis::meshes
