// DLPack's binary interface: how arrays go from one framework to another in the memory that they are in.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace stereopsis::python::dlpack {

using Tensor = nanobind::dlpack::dltensor;

// In a capsule "dltensor", which is called "used_dltensor" once somebody has taken it.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

// From version 1 on, in a capsule "dltensor_versioned".
struct VersionedManaged {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedManaged*);
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t read_only = 1;

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

// Streams of CUDA as DLPack and __cuda_array_interface__ number them, and the driver too; others are their handles.
inline constexpr std::uint64_t default_stream = 1;

}  // namespace stereopsis::python::dlpack
