// The first difference of two results, in words; empty where they are the same to the bit.
#pragma once

#include <cstring>
#include <string>

#include "core/text.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::adversary {

template <class T>
std::string first_difference(const char* name, const Image<T>& got, const Image<T>& expected) {
  if (got.empty() && expected.empty()) return {};
  if (got.size() != expected.size() || got.channels() != expected.channels())
    return text(name, " has ", got.width(), "×", got.height(), "×", got.channels(), ", not ", expected.width(), "×",
                expected.height(), "×", expected.channels());
  for (int y = 0; y < got.height(); ++y)
    for (int i = 0; i < got.width() * got.channels(); ++i)
      if (std::memcmp(got.row(y) + i, expected.row(y) + i, sizeof(T)) != 0)
        return text(name, " at ", i / got.channels(), ",", y, " is ", +got.row(y)[i], ", not ", +expected.row(y)[i]);
  return {};
}

inline std::string first_difference(const Matched& got, const Matched& expected) {
  std::string said;
  const auto look = [&](const char* name, const auto& a, const auto& b) {
    if (said.empty()) said = first_difference(name, a, b);
  };
  look("disparity", got.disparity, expected.disparity);
  look("validity", got.validity, expected.validity);
  look("right", got.right, expected.right);
  look("confidence", got.confidence, expected.confidence);
  look("depth", got.depth, expected.depth);
  look("points", got.points, expected.points);
  look("uncertainty", got.uncertainty, expected.uncertainty);
  std::visit(
      [&]<class T>(const Image<T>& pixels) {
        if (pixels.empty()) return;
        const auto* same_type = std::get_if<Image<T>>(&got.rectified.pixels);
        if (same_type == nullptr)
          said = "the rectified image is of another type";
        else
          look("rectified", *same_type, pixels);
      },
      expected.rectified.pixels);
  return said;
}

}  // namespace stereopsis::adversary
