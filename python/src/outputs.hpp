// The outputs of a plan, and the caller's arrays that are written instead of new ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace stereopsis::python {

// An image that a result has: its name, where it goes on a device, and its shape.
struct Output {
  std::string name;
  DeviceImageView DeviceMatched::*place;  // null: no device has it
  DeviceImageView shape;
};
std::vector<Output> outputs_of(const Plan& plan);

// The one of this name. Throws Error(call) where it is not wanted.
const Output& output_of(const std::vector<Output>& outputs, const std::string& name);
// Returns the borrowed array as that output's image. Throws Error(call) if its shape or type differs, or if it is
// read-only.
AnyImageView view_for(const Output& output, const BorrowedArray& lent);

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
