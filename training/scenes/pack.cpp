#include "pack.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::meshes {

std::shared_ptr<const Mesh> Item::mesh() const {
  std::call_once(once_, [&] { mesh_ = std::make_shared<Mesh>(file_); });
  return mesh_;
}

Pack::Pack(const std::filesystem::path& folder) {
  std::ifstream list(folder / "objects.tsv");
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string file, kind;
    Vec3 size;
    if (std::getline(fields, file, '\t') && std::getline(fields, kind, '\t') && fields >> size.x >> size.y >> size.z)
      items_.push_back(std::make_unique<Item>(folder / file, kind, size));
  }
  if (items_.empty())
    throw Error(ErrorCategory::file,
                text("the pack ", folder.string(),
                     " has no objects.tsv that names meshes; make it with training/scenes/fetch.py"));
}

const Item& Pack::draw(synth::Random& random, const std::vector<std::string>& kinds) const {
  const bool any = random.one_in(4);
  for (int attempt = 0; attempt < 50; ++attempt) {
    const Item& item = *items_[random.below(static_cast<int>(items_.size()))];
    if (any || std::find(kinds.begin(), kinds.end(), item.kind) != kinds.end()) return item;
  }
  return *items_[random.below(static_cast<int>(items_.size()))];
}

}  // namespace stereopsis::meshes
