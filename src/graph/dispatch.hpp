// Helpers of descriptors: functions for every device from one generic function, and scratch memory by device.
#pragma once

#include "graph/call.hpp"

namespace stereopsis {

#ifdef STEREOPSIS_SIMD
inline constexpr bool has_cpu_kernels = true;
#else
inline constexpr bool has_cpu_kernels = false;
#endif

// Returns functions from one function that is generic in the call. Without CPU kernels, nothing refers to them.
template <class F>
constexpr Functions on_cpu([[maybe_unused]] F f) {
  Functions functions;
  if constexpr (has_cpu_kernels) functions.cpu = f;
  return functions;
}
// Returns functions for an operation that only the stages it replaces define; it has no oracle.
template <class F>
constexpr Functions on_cpu_and_gpu(F f) {
  Functions functions = on_cpu(f);
  functions.gpu = f;
  return functions;
}
// Returns functions for an operation that has an oracle, too.
template <class F>
constexpr Functions on_every_device(F f) {
  Functions functions = on_cpu_and_gpu(f);
  functions.oracle = f;
  return functions;
}

// A generic lambda that calls a stage's function for the call's device: with the threads or the queue, and before them
// with scratch memory if the function takes it.
#define STEREOPSIS_DISPATCH(defines, on_cpu, on_gpu)                                        \
  [](const auto& call, const auto&... arguments) {                                          \
    constexpr On on = device_of<decltype(call)>;                                            \
    if constexpr (on == On::oracle)                                                         \
      defines(arguments...);                                                                \
    else if constexpr (on == On::cpu) {                                                     \
      if constexpr (requires { on_cpu(arguments..., call.scratch(), call.worker()); })      \
        on_cpu(arguments..., call.scratch(), call.worker());                                \
      else                                                                                  \
        on_cpu(arguments..., call.worker());                                                \
    } else if constexpr (requires { on_gpu(arguments..., call.scratch(), call.worker()); }) \
      on_gpu(arguments..., call.scratch(), call.worker());                                  \
    else                                                                                    \
      on_gpu(arguments..., call.worker());                                                  \
  }

// Calls a function for each view in turn. Arguments that are images of both views give those of the view.
template <class F, class C, class... Arguments>
void in_turn(F function, const C& call, const Arguments&... arguments) {
  constexpr auto of_view = []<class T>(const T& argument, std::size_t view) -> decltype(auto) {
    if constexpr (requires { argument.size() == std::tuple_size<T>{}; })
      return argument[view];
    else
      return argument;
  };
  for (const std::size_t view : {0, 1}) function(call, of_view(arguments, view)...);
}

// The bytes of scratch memory that an operation needs on each device, as functions of its shape. Without CPU kernels,
// nothing refers to those of the CPU.
struct Scratch {
  using Bytes = std::size_t (*)(const Shape&);
  class OnCpu {
   public:
    OnCpu() = default;
    template <class F>
    OnCpu([[maybe_unused]] F f) {
      if constexpr (has_cpu_kernels) bytes = f;
    }
    Bytes bytes = nullptr;
  };

  OnCpu cpu = {};
  Bytes gpu = nullptr;

  std::size_t operator()(const Shape& s) const {
    const Bytes bytes = s.target.device == On::gpu ? gpu : s.target.device == On::cpu ? cpu.bytes : nullptr;
    return bytes == nullptr ? 0 : bytes(s);
  }
};

}  // namespace stereopsis
