"""Stand-ins for the arrays of frameworks on a GPU, with addresses that nobody reads, for machines without a GPU."""

import ctypes

import numpy as np

CUDA = 2


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]


lent = {}  # by number: what was lent and not given back, as a framework keeps it
done = []  # given back, by a call that may still run


class OnGpu:
    """An array that says it is on a GPU, as PyTorch's do: by DLPack of before version 1."""

    codes = {"u": 1, "f": 2, "i": 0, "b": 6}

    def __init__(self, array, device=0, kind=CUDA, in_order=True):
        self.array, self.device, self.kind, self.in_order = array, device, kind, in_order
        self.asked, self.given_back, self.shape = [], 0, array.shape

    def __dlpack_device__(self):
        return self.kind, self.device

    def __dlpack__(self, *, stream=None):
        self.asked.append(stream)
        a = self.array
        shape = (ctypes.c_int64 * a.ndim)(*a.shape)
        strides = (ctypes.c_int64 * a.ndim)(*(s // a.itemsize for s in a.strides))
        code = self.codes[a.dtype.kind]
        tensor = Tensor(
            a.ctypes.data, self.kind, self.device, a.ndim, code, 8 * a.itemsize, 1, shape, strides if self.in_order else None, 0
        )

        number = OnGpu.number = OnGpu.number + 1

        def give_back(_):
            self.given_back += 1
            done.append(lent.pop(number))

        done.clear()
        managed = Managed(tensor, None, Deleter(give_back))
        lent[number] = self, managed, shape, strides
        return new_capsule(ctypes.addressof(managed), b"dltensor", None)

    number = 0


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("older", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("tensor_of", ctypes.c_void_p),
        ("object_of", ctypes.c_void_p),
        ("view_of", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    ]


class VersionedManaged(ctypes.Structure):
    pass


VersionedDeleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(VersionedManaged))
VersionedManaged._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", VersionedDeleter),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
]


class Exchanging(OnGpu):
    """An array whose type has the functions of DLPack 1.3, as PyTorch's has. `work_stream` is the stream that they report."""

    work_stream, fails = 0, False

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
    def tensor_of(self, to):
        if self.fails:
            return -1
        capsule = OnGpu.__dlpack__(self)
        self.asked.pop()
        number = OnGpu.number
        _, managed, shape, strides = lent[number]
        rename(capsule, b"used_dltensor")

        def give_back(_):
            managed.deleter(ctypes.pointer(managed))

        versioned = VersionedManaged(1, 3, None, VersionedDeleter(give_back), 0, managed.tensor)
        lent[number] = self, managed, shape, strides, versioned
        to[0] = ctypes.addressof(versioned)
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    def current_stream(kind, device, to):
        to[0] = Exchanging.work_stream
        return 0

    api = ExchangeApi(
        1, 3, None, None, ctypes.cast(tensor_of, ctypes.c_void_p), None, None, ctypes.cast(current_stream, ctypes.c_void_p)
    )
    name = b"dlpack_exchange_api"  # the capsule keeps only its address
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(api), name, None)


class Interface:
    """An array that is exported by __cuda_array_interface__, as Numba's are."""

    def __init__(self, array, stream=None, **more):
        self.array, self.shape = array, array.shape
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None if array.flags.c_contiguous else array.strides,
            "stream": stream,
            **more,
        }


class Lender:
    """An array of the host that has DLPack alone, as PyTorch's and JAX's have."""

    def __init__(self, array, versioned=True):
        self.array, self.versioned, self.shape = np.asarray(array), versioned, array.shape

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **how):
        assert how.pop("stream", None) is None
        if not self.versioned and "max_version" in how:
            raise TypeError("got an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**how)
