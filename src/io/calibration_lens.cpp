// The names of lens models in calibration files, and their coefficients.
#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace io {
namespace {

struct ModelName {
  const char* name;
  Lens::Model model;
};

// The names of ROS, Kalibr, EuRoC, camodocal, OpenCV, RealSense and COLMAP, in lower case and with underscores.
constexpr ModelName model_names[] = {
    {"radtan", Lens::Model::polynomial},
    {"radial_tangential", Lens::Model::polynomial},
    {"plumb_bob", Lens::Model::polynomial},
    {"rational_polynomial", Lens::Model::polynomial},
    {"brown_conrady", Lens::Model::polynomial},
    {"opencv", Lens::Model::polynomial},
    {"polynomial", Lens::Model::polynomial},
    {"none", Lens::Model::polynomial},
    {"equidistant", Lens::Model::fisheye},
    {"fisheye", Lens::Model::fisheye},
    {"equi", Lens::Model::fisheye},
    {"kannala_brandt", Lens::Model::fisheye},
    {"kannala_brandt4", Lens::Model::fisheye},
    {"kb4", Lens::Model::fisheye},
    {"opencv_fisheye", Lens::Model::fisheye},
};

std::string normalised(std::string name) {
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) name.erase(0, dot + 1);  // distortion.kb4
  for (char& c : name) c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::optional<Lens::Model> known_model(const std::string& name) {
  const std::string wanted = normalised(name);
  for (const ModelName& known : model_names)
    if (wanted == known.name) return known.model;
  return std::nullopt;
}

// Returns whether the name is that of a projection, which does not determine the distortion.
bool is_projection(const std::string& name) { return name.empty() || normalised(name) == "pinhole"; }

const char* name_of(Lens::Model model) { return model == Lens::Model::fisheye ? "equidistant" : "radtan"; }

bool all_zero(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double n) { return n == 0; });
}

}  // namespace

NamedModel model_in(const Document& file, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const std::string model = file.word(key); !model.empty()) return {key, model};
  return {};
}

Lens::Model model_of(const NamedModel& named, const std::vector<double>& coefficients, const std::string& what,
                     const CalibrationOptions& options) {
  if (is_projection(named.model)) {
    if (options.lens) return *options.lens;
    if (coefficients.size() == 4 && !all_zero(coefficients))
      throw Error(ErrorCategory::call,
                  text(what,
                       " has 4 coefficients and the file does not name the lens model; give --lens radtan (OpenCV, "
                       "ROS plumb_bob) or --lens equidistant (fisheye)"));
    return Lens::Model::polynomial;
  }
  const auto model = known_model(named.model);
  if (!model)
    refuse(text(named.key, " is '", Tokens::printable(named.model, 40),
                "', a lens model that is not supported; calibrate with radtan (plumb_bob, rational_polynomial) or "
                "equidistant (fisheye, kannala_brandt)"));
  if (options.lens && *options.lens != *model)
    throw Error(ErrorCategory::call, text("the lens model ", name_of(*options.lens), " is given, but ", named.key,
                                          " is '", Tokens::printable(named.model, 40), "'; leave --lens out"));
  return *model;
}

Lens lens_of(const std::array<double, 4>& k, Lens::Model model, const std::vector<double>& coefficients,
             const std::string& what) {
  Lens lens;
  lens.fx = k[0], lens.fy = k[1], lens.cx = k[2], lens.cy = k[3];
  lens.model = model;
  if (!(lens.fx > 0) || !(lens.fy > 0))
    refuse(text(what, " has the focal lengths ", number_text(lens.fx), " and ", number_text(lens.fy),
                "; both must be positive"));
  const std::size_t most = model == Lens::Model::fisheye ? 4 : 12;
  for (std::size_t i = most; i < coefficients.size(); ++i)
    if (coefficients[i] != 0)
      refuse(model == Lens::Model::fisheye
                 ? text(what, " has ", coefficients.size(), " coefficients; an equidistant lens has at most 4")
                 : text(what, " tilts the sensor (coefficient ", i + 1, " is ", number_text(coefficients[i]),
                        "), which is not supported; calibrate without the tilted model"));
  std::copy_n(coefficients.begin(), std::min(most, coefficients.size()), lens.distortion.begin());
  return lens;
}

}  // namespace io

Lens::Model lens_model(const std::string& name) {
  if (const auto model = io::known_model(name)) return *model;
  throw Error(ErrorCategory::call, text("the lens model '", io::Tokens::printable(name, 40),
                                        "' is not known; it must be radtan (plumb_bob, rational_polynomial) or "
                                        "equidistant (fisheye, kannala_brandt)"));
}

}  // namespace stereopsis
