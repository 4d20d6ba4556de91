#include "adversary/reference.hpp"

namespace stereopsis::adversary {

Matched reference(const Pipeline& pipeline, const Problem& problem, const StereoPair& pair) {
  Problem alone = problem;
  alone.memory_limit = 0;
  alone.batch = 1;
  Matched result = Matcher(Plan(pipeline, alone, {"cpu", 1, Implementation::oracle})).match(pair);
  result.times.clear();
  return result;
}

}  // namespace stereopsis::adversary
