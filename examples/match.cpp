// The shortest way from two pictures to a disparity map: match LEFT RIGHT OUT
#include <cstdio>

#include "stereopsis/io.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/pair_check.hpp"

int main(int argc, char** argv) try {
  if (argc != 4) return std::fprintf(stderr, "match LEFT RIGHT OUT\n"), 2;
  const stereopsis::AnyImage left = stereopsis::read_image(argv[1]);
  const stereopsis::AnyImage right = stereopsis::read_image(argv[2]);
  const stereopsis::StereoPair pair{left, right};

  stereopsis::Pipeline pipeline("sgm");
  pipeline.set("optimisation.paths", "8");
  const stereopsis::DisparityRange range = stereopsis::estimate_range(left, right);
  const stereopsis::Problem problem = stereopsis::Problem::of(pair, range);
  stereopsis::Matcher matcher(stereopsis::Plan(pipeline, problem));
  // Repeat this call for each pair of a sequence.
  const stereopsis::Matched result = matcher.match(pair);

  stereopsis::write_disparity(argv[3], result.disparity);
} catch (const stereopsis::Error& error) {
  std::fprintf(stderr, "match: %s\n", error.what());
  return 1;
}
