// Helpers for descriptors, which make the functions for all devices from one generic function, and the scratch memory
// for each device.
#pragma once

#include "graph/call.hpp"

namespace stereopsis {

#ifdef STEREOPSIS_SIMD
inline constexpr bool has_cpu_kernels = true;
#else
inline constexpr bool has_cpu_kernels = false;
#endif

// Makes the functions of an operation that runs only on the CPU, from one generic function. In a build without CPU
// kernels, nothing refers to these functions.
template <class F>
constexpr Functions on_cpu([[maybe_unused]] F f) {
  Functions functions;
  if constexpr (has_cpu_kernels) functions.cpu = f;
  return functions;
}
// Makes the functions of an operation without an oracle: its definition is the composition of the stages that it
// replaces.
template <class F>
constexpr Functions on_cpu_and_gpu(F f) {
  Functions functions = on_cpu(f);
  functions.gpu = f;
  return functions;
}
// Makes the functions of an operation that has an oracle and runs on the CPU and on GPUs.
template <class F>
constexpr Functions on_every_device(F f) {
  Functions functions = on_cpu_and_gpu(f);
  functions.oracle = f;
  return functions;
}

// Defines a generic lambda that calls the function of a stage for the device of the call. The last argument of the
// function is the threads or the queue, preceded by scratch memory if the function takes it.
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

// Calls a function for each view in turn. For arguments that are images of both views, the image of the current view is
// passed.
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

// The size, in bytes, of the scratch memory that an operation needs on each device, as functions of its shape. In a
// build without CPU kernels, nothing refers to the functions for the CPU.
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
