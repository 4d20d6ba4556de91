// DLPack's binary interface: how arrays go from one framework to another in the memory that they are in.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace stereopsis::python::dlpack {

using Tensor = nanobind::dlpack::dltensor;

// The contents of a capsule "dltensor", which a consumer renames to "used_dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

// The contents of a capsule "dltensor_versioned", from version 1 on.
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
