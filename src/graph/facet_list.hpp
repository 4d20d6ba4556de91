// The facets of a stage: any number of values of different types.
#pragma once

#include <any>
#include <concepts>
#include <vector>

namespace stereopsis {

// Holds at most one facet of each type. A facet that another source file defines is held by its address, because that
// file may be initialised later.
class FacetList {
 public:
  FacetList() = default;
  template <class... F>
    requires(sizeof...(F) > 0 && (!std::same_as<F, FacetList> && ...))
  FacetList(F... facets) : facets_{std::any(std::move(facets))...} {}

  // Returns the facet of this type, or null.
  template <class F>
  const F* find() const {
    for (const std::any& facet : facets_) {
      if (const F* own = std::any_cast<F>(&facet)) return own;
      if (const F* const* elsewhere = std::any_cast<const F*>(&facet)) return *elsewhere;
    }
    return nullptr;
  }

 private:
  std::vector<std::any> facets_;
};

}  // namespace stereopsis
