#include "device/cpu/threads.hpp"
#include "stages/upsample/upsample_rows.hpp"

namespace stereopsis::upsample {

void cpu(const Parameters& p, const Input& in, const Output& out, Threads& threads) {
  threads.rows(out.disparity.height, [&](int first, int last) { upsample_rows(p, in, out, first, last); });
}

}  // namespace stereopsis::upsample
