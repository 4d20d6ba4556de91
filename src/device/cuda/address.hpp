// Addresses of arrays, images and volumes in CUDA memory, whose handles are addresses, for tuned kernels. The address
// of an absent image is null.
#pragma once

#include "device/gpu/view.hpp"

namespace stereopsis::gpu {

template <class T>
T* address(const Array<T>& array) {
  return array.memory == 0 ? nullptr : reinterpret_cast<T*>(array.memory) + array.offset;
}
template <class T>
T* address(const View<T>& view) {
  return view.empty() ? nullptr : address(Array<T>{view.memory, view.offset});
}
template <class T>
T* address(const Volume<T>& volume) {
  return address(volume.cells);
}

}  // namespace stereopsis::gpu
