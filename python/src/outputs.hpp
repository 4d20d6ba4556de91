// The outputs of a plan, and the caller's arrays that are written instead of new ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace stereopsis::python {

// An image that the results of a plan have.
struct ResultImage {
  std::string name;
  DeviceImageView& (*place)(DeviceMatched&);  // the member of results on a device; null if only the host has the image
  DeviceImageView shape;
};
// Returns the maps, images and volumes that the plan requests.
std::vector<ResultImage> images_of(const Plan& plan);

// Returns the image of this name. Throws Error(call) if it was not requested.
const ResultImage& image_of(const std::vector<ResultImage>& images, const std::string& name);
// Returns the borrowed array as that image. Throws Error(call) if it has another shape or type, or is read-only.
AnyImageView view_for(const ResultImage& image, const BorrowedArray& lent);

using NamedView = std::pair<std::string, AnyImageView>;
// Throws Error(call) where an output shares memory with an input or another output.
void check_overlaps(const std::vector<NamedView>& outputs, const std::vector<NamedView>& inputs);

// Arrays of the host. The library's images have their own memory, which is kept from pair to pair, and goes to the arrays by rows.
class HostOut {
 public:
  HostOut(const Plan& plan, const nb::dict& out, const std::vector<NamedView>& inputs);

  // Puts the kept images into the result, or back.
  void exchange(Matched& result, Matched& kept) const;
  void copy_from(const Matched& result) const;

 private:
  struct Taken {
    std::string name;
    BorrowedArray lent;
    AnyImageView view;
  };
  std::vector<Taken> taken_;
};

}  // namespace stereopsis::python
