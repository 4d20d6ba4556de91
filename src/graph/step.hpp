// The steps of a plan: operations on values of the plan, which are found by the names of ports.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "device/gpu/properties.hpp"
#include "graph/ports.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis {

struct StageDescriptor;

// Returns the range of the candidates if the right view is the reference view (−d), or the given range.
constexpr DisparityRange seen_from(const DisparityRange& range, bool from_right) {
  return from_right ? DisparityRange{-range.max(), range.count} : range;
}

// Context passed to an operation in addition to its parameters and images.
struct StepContext {
  DisparityRange range = {};  // range of the candidates; if the right view is the reference view, range of −d
  bool from_right = false;
  Element element = Element::u8;  // element type of the pair's pixels
  int bit_depth = 8;
  int channels = 1;     // channels of the pair
  Rows rows = {};       // rows to compute, counted within the rows of the input
  int stripe_rows = 0;  // number of rows of a stripe; 0 lets the step decide
};

enum class On { oracle, cpu, gpu };

// The device on which a plan runs. The GPU properties are set only for a GPU.
struct Target : gpu::Properties {
  Target() = default;
  Target(On where, int thread_count) : device(where), threads(thread_count) {}
  explicit Target(const gpu::Properties& gpu) : gpu::Properties(gpu), device(On::gpu) {}

  On device = On::cpu;
  int threads = 1;
};

// A value that a step reads or writes, and the port to which it belongs.
struct Operand {
  int value = -1;         // index of the value; −1 if absent
  Rows rows = {};         // rows of the value; an empty range means all rows
  const char* name = "";  // name of the port
  Side view = Side::reference;
  Port::Use use = Port::Use::in;
};

inline Operand named(Operand operand, const Port& port, Side view) {
  operand.name = port.name;
  operand.view = view;
  operand.use = port.use;
  return operand;
}

// Selects among operands of the same name, because a stage may read one map and write another map of the same name.
enum class Access { either, input, output };

// Returns the index of the first operand of a port, or −1.
inline int find_operand(std::span<const Operand> operands, const char* name, Side view, Access access) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    if (o.view != view || (o.name != name && std::strcmp(o.name, name) != 0)) continue;
    if (access == Access::either || (access == Access::input ? reads(o.use) : writes(o.use)))
      return static_cast<int>(i);
  }
  return -1;
}

// A step of a plan: an operation on values of the plan.
struct Step {
  const StageDescriptor* entry = nullptr;
  StageParameters parameters = {};
  StepContext context = {};
  std::vector<Operand> operands = {};
  std::string title = {};
  std::string note = {};  // reason why no rule replaced the step

  // Return the operand of this name that the step reads, or writes. If the operand is absent, its value is −1.
  Operand input(const char* name, Side view = Side::reference) const { return find(name, view, Access::input); }
  Operand output(const char* name, Side view = Side::reference) const { return find(name, view, Access::output); }

 private:
  Operand find(const char* name, Side view, Access access) const {
    const int i = find_operand(operands, name, view, access);
    return i < 0 ? Operand{} : operands[static_cast<std::size_t>(i)];
  }
};

// Returns the given rows of an image; an empty range means all rows.
inline AnyView part_of(const AnyView& whole, Rows rows) {
  return rows.count() > 0 && !whole.empty() ? whole.rows(rows.first, rows.count()) : whole;
}

}  // namespace stereopsis
