// Lists and sets parameters, puts another stage into a slot, and shows the error for a wrong value.
#include <cstdio>

#include "stereopsis/pipeline.hpp"

int main() try {
  using namespace stereopsis;
  // begin
  Pipeline pipeline("sgm");
  pipeline.set("optimisation.paths", "8");                // slot, then the parameter
  pipeline.set("optimisation.p1", 12);                    // or a bool, a double, numbers
  pipeline.set("cost.stage", "rank");                     // another stage in a slot
  pipeline.set("refinements", "left_right,fill,median");  // three, in this order

  for (const ParameterInfo& p : pipeline.parameters())
    std::printf("%s = %s (%s)\n", p.name.c_str(), p.value.c_str(), p.allowed.c_str());

  try {
    pipeline.set("optimisation.paths", "5");
  } catch (const Error& error) {
    std::printf("%s\n", error.what());  // one sentence, which names the allowed values
  }
  // end
  return pipeline.get<int>("optimisation.paths") == 8 && pipeline.get<bool>("fill.enabled") ? 0 : 1;
} catch (const stereopsis::Error& error) {
  std::fprintf(stderr, "parameters: %s\n", error.what());
  return 1;
}
