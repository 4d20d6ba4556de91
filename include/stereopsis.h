/* The C interface of Stereopsis: for C, and for every language that can call it.
 *
 * Every function returns a status. What went wrong is a sentence: sp_last_error(). Nothing is printed, and nothing ends the process.
 *
 * Every struct begins with its size, which the caller sets (sizeof): later versions append members, so that programs that were
 * built before stay as they are. Members that are 0 have their defaults.
 *
 *   sp_image image = {.struct_size = sizeof image, .data = pixels, .pitch = 640, .width = 640, .height = 480, .channels = 1};
 *
 * Handles are numbers in the clothes of pointers. One that was destroyed, or never was, is refused. A handle may be shared by threads,
 * which take turns; distinct matchers work at the same time. Memory that a call is given (images, results) must be as large as the
 * call says: that can't be checked.
 *
 * Disparities are d = x_left - x_right, float, in pixels; NaN where there is none. The words are those of the C++ interface
 * (stereopsis/matcher.hpp, pipeline.hpp), which says more. This one keeps its binary interface as long as libstereopsis.so keeps its number; the C++
 * interface is promised at source level alone, so that C++ links the static library. */
#ifndef STEREOPSIS_H
#define STEREOPSIS_H

#include <stddef.h>
#include <stdint.h>

#include "stereopsis/version.h"

#if defined(_WIN32) && defined(STEREOPSIS_BUILDS_C)
#define SP_API __declspec(dllexport)
#elif defined(_WIN32)
#define SP_API __declspec(dllimport)
#else
#define SP_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. */
typedef int32_t sp_status;
enum {
  SP_OK = 0,
  SP_ERROR_CALL = 1,        /* the caller asked for something that is not allowed: a parameter, a size, a handle */
  SP_ERROR_FILE = 2,        /* a file can't be opened, read or written */
  SP_ERROR_FORMAT = 3,      /* a text or a file is not what its format requires */
  SP_ERROR_UNSUPPORTED = 4, /* a correct request that this build or this machine can't serve */
  SP_ERROR_MEMORY = 5,      /* not enough memory, on the host or on a device */
  SP_ERROR_DEVICE = 6,      /* a device failed or went away */
  SP_ERROR_INTERNAL = 7     /* a mistake of the library's: please report it */
};

/* One full sentence, in UTF-8, about the last call of this thread that failed: what, which value, what is allowed, what to do. It stays until
 * the next one. */
SP_API const char* sp_last_error(void);
/* "SP_ERROR_CALL"; of no status, "unknown". */
SP_API const char* sp_status_name(sp_status status);
/* Of the library that runs, as STEREOPSIS_VERSION_NUMBER and STEREOPSIS_VERSION are of this header. */
SP_API int32_t sp_version_number(void);
SP_API const char* sp_version(void);

/* Pixel types. */
enum { SP_U8 = 0, SP_U16 = 1, SP_F32 = 2 };
/* Where pixels are. */
enum { SP_HOST = 0, SP_DEVICE = 1 };
/* How the colours of a view's image lie: stereopsis/formats.hpp. They are matched so, without a copy in between. */
enum {
  SP_FORMAT_RGB = 0, /* or grey, by the channels */
  SP_FORMAT_BGR = 1,
  SP_FORMAT_RGBA = 2, /* 4 channels; alpha is dropped */
  SP_FORMAT_BGRA = 3,
  SP_FORMAT_NV12 = 4, /* SP_U8, 1 channel, height * 3 / 2 rows: luma, below it chroma; the grey image is the luma */
  SP_FORMAT_BAYER_RGGB = 5, /* 1 channel */
  SP_FORMAT_BAYER_BGGR = 6,
  SP_FORMAT_BAYER_GRBG = 7,
  SP_FORMAT_BAYER_GBRG = 8
};

/* A window on pixels that somebody else owns. On a device `data` is the address (CUDA) or the cl_mem (OpenCL, of sp_buffer_create).
 * A volume of costs is an image with a channel for each disparity of the range, the lowest first. */
typedef struct sp_image {
  size_t struct_size;
  void* data;
  int64_t offset; /* bytes from `data` to pixel (0, 0) */
  int64_t pitch;  /* bytes from one row to the next, a multiple of the type's; 0: rows without gaps */
  int32_t width;
  int32_t height;
  int32_t channels;  /* interleaved: 1 (grey) or 3 (RGB) of a view, or those of its format */
  int32_t type;      /* SP_U8, SP_U16, SP_F32 (in 8-bit units, 0 to 255) */
  int32_t bit_depth; /* bits that carry the intensity, of SP_U16; 0: all of them */
  int32_t place;     /* SP_HOST, SP_DEVICE */
  int32_t format;    /* SP_FORMAT_…, of both views as sp_problem has it; 0 of all other images */
  int32_t reserved;
} sp_image;

/* Methods and devices. Strings stay as long as the process. */
typedef struct sp_method {
  size_t struct_size;
  const char* name;
  const char* summary;
  const char* paper;
} sp_method;
SP_API sp_status sp_method_count(size_t* count);
SP_API sp_status sp_method_get(size_t index, sp_method* method);

typedef struct sp_device {
  size_t struct_size;
  const char* name;        /* as sp_problem.device takes it */
  const char* description; /* "Intel Xeon, 2 cores, AVX-512" */
  const char* reason;      /* why it can't be used, and what would help; empty where it can */
  int32_t usable;
  int32_t reserved;
} sp_device;
SP_API sp_status sp_device_count(size_t* count);
SP_API sp_status sp_device_get(size_t index, sp_device* device);

/* A pipeline: a method, or what was made of one by its parameters. */
typedef struct sp_pipeline sp_pipeline;
/* A named method with its defaults: "sgm", … */
SP_API sp_status sp_pipeline_create(const char* method, sp_pipeline** pipeline);
SP_API sp_status sp_pipeline_copy(const sp_pipeline* pipeline, sp_pipeline** copy);
/* Null is none, which is no mistake: of every handle. */
SP_API sp_status sp_pipeline_destroy(sp_pipeline* pipeline);
/* One parameter, as `stereopsis match --set NAME=VALUE` takes it: "sgm.p1" to "12", "cost.stage" to "census". */
SP_API sp_status sp_pipeline_set(sp_pipeline* pipeline, const char* name, const char* value);
/* Writes the value and a zero where `capacity` bytes are enough; `length` (may be null) is that of the value, without the zero. Without
 * a place (null and 0) only the length is told. */
SP_API sp_status sp_pipeline_get(const sp_pipeline* pipeline, const char* name, char* value, size_t capacity, size_t* length);

/* A parameter: what `stereopsis methods NAME` prints, and a slider, a list or a switch is made of. */
typedef struct sp_parameter {
  size_t struct_size;
  const char* name;  /* slot.parameter */
  const char* type;  /* "flag", "choice", "integer", "number", "numbers", "text" */
  const char* value; /* as sp_pipeline_set takes it */
  const char* default_value;
  const char* allowed;        /* "an odd integer from 1 to 15" */
  const char* description;    /* with its unit */
  const char* unit;           /* "pixels"; empty: it has none */
  const char* const* choices; /* of a choice; of a text, those that are always there */
  size_t choice_count;
  double minimum; /* NaN: none */
  double maximum;
  double step;        /* from the minimum on; 0: any number between */
  int32_t needs_plan; /* whether another value may take other steps or memory */
  int32_t reserved;
} sp_parameter;
/* Strings stay until the pipeline is set, counted or destroyed. */
SP_API sp_status sp_pipeline_parameter_count(sp_pipeline* pipeline, size_t* count);
SP_API sp_status sp_pipeline_parameter(sp_pipeline* pipeline, size_t index, sp_parameter* parameter);

/* A stage of one's own, in the slot "cost", "plus", "aggregation", "optimisation" or "refinement": stereopsis/user_stage.hpp. */
typedef struct sp_stage_call {
  size_t struct_size;
  /* Null: there is none of it in this slot. On a GPU they are SP_DEVICE. */
  const sp_image* reference;
  const sp_image* other;
  const sp_image* mask_reference;
  const sp_image* mask_other;
  const sp_image* costs;     /* that are filtered */
  const sp_image* made;      /* costs that are to be made */
  const sp_image* disparity; /* read and written: SP_F32, NaN where invalid */
  const sp_image* validity;
  const sp_image* confidence;
  void* stream; /* on a GPU: all work goes there (CUstream, cl_command_queue) */
  /* Candidate k of the pixel (x, y) of the reference is (x - min_disparity - k, y) of the other view. */
  int32_t min_disparity;
  int32_t disparities;
  int32_t from_right; /* whether the right view is the reference */
  int32_t threads;
} sp_stage_call;
typedef struct sp_rect {
  int32_t x, y, width, height;
} sp_rect;
/* 0: done; anything else ends the match with SP_ERROR_CALL. May be called by another thread. It must not use or destroy the matcher that
 * runs it: SP_ERROR_CALL; sp_matcher_plan and sp_matcher_volume are allowed. */
typedef int32_t (*sp_stage_function)(const sp_stage_call* call, void* user);
typedef struct sp_stage {
  size_t struct_size;
  const char* name;      /* in times and sentences */
  sp_stage_function cpu; /* at least one of them */
  sp_stage_function gpu;
  /* The part of the images that a part of the result needs; null: the pixel alone. */
  void (*required_input)(const sp_rect* output, sp_rect* input, void* user);
  void* user;     /* handed to the functions; must stay as long as the pipeline, its copies and their matchers */
  double largest; /* of integer costs that it makes; 0: all that the type has */
  int32_t makes;  /* of costs: SP_U8, SP_U16, SP_F32 */
  int32_t takes;  /* of a volume that it filters; -1: any */
} sp_stage;
SP_API sp_status sp_pipeline_set_stage(sp_pipeline* pipeline, const char* slot, const sp_stage* stage);

/* A calibrated, rectified rig: what turns disparity into depth. */
typedef struct sp_rig {
  size_t struct_size;
  double focal; /* pixels */
  double cx_left;
  double cx_right;
  double cy;
  double baseline; /* positive; its unit is that of depths */
} sp_rig;

/* A lens, with what rectifies its camera: stereopsis/rectification.hpp. */
enum { SP_LENS_POLYNOMIAL = 0, SP_LENS_FISHEYE = 1 };
typedef struct sp_camera {
  size_t struct_size;
  double fx, fy, cx, cy;
  double distortion[12];   /* k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4, or, of fisheye, k1 k2 k3 k4 */
  double rectification[9]; /* row after row, from the camera's frame to the rectified one's */
  int32_t model;           /* SP_LENS_POLYNOMIAL, SP_LENS_FISHEYE */
  int32_t reserved;
} sp_camera;

/* What may be wanted beside disparity and validity. */
enum {
  /* outputs, written by ./dev outputs */
  SP_WANT_RIGHT = 1, /* Disparity of the right view, from the same costs, in pixels; neither checked nor filled. */
  SP_WANT_CONFIDENCE = 2, /* Confidence of the disparity, 0 to 1; 0 where a pixel was not measured. */
  SP_WANT_TIMES = 4, /* Times of stages; the CPU tells them always. */
  SP_WANT_DEPTH = 8, /* Depth Z, in the unit of the rig; NaN where there is none. */
  SP_WANT_POINTS = 16, /* Points x, y, z, in the unit of the rig and in the chosen frame; NaN where there are none. */
  SP_WANT_UNCERTAINTY = 32, /* Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity. */
  SP_WANT_RECTIFIED = 64, /* Rectified left image, in the pixel type of the pair. */
  SP_WANT_COST = 128, /* Volume of matching costs: one channel for each candidate, the lowest disparity first. */
  SP_WANT_AGGREGATED = 256, /* Volume of costs after aggregation: one channel for each candidate. */
  SP_WANT_OPTIMISED = 512 /* Volume of costs after optimisation: one channel for each candidate. */
  /* end of the outputs */
};
/* Where points are: x right, y down, z forward, from the left camera; or x forward, y left, z up, from the middle of the baseline. */
enum { SP_FRAME_OPTICAL = 0, SP_FRAME_HEAD = 1 };
/* What does the stages: several at once where that serves; each by itself; or the scalar definitions. All give the same bits. */
enum { SP_FUSED = 0, SP_PLAIN = 1, SP_ORACLE = 2 };

/* As the threads of the CPU: those of the oneTBB arena that sp_matcher_create is called in, wherever the matcher is called then. */
enum { SP_CALLERS_ARENA = -1 };

/* What a matcher is made for. */
typedef struct sp_problem {
  size_t struct_size;
  int32_t width, height, channels, type, bit_depth; /* of the pictures, as sp_image has them; in another format than RGB, 3 channels */
  int32_t min_disparity;
  int32_t disparities;
  int32_t batch;   /* pairs in work at a time; 0: 1 */
  sp_rect region;  /* only these pixels are wanted; all four members 0: the whole image. An empty region is SP_ERROR_CALL */
  uint64_t memory_limit; /* bytes; 0: half of the host's memory, nine tenths of a GPU's */
  const char* device;    /* "auto" (null), "cpu", "cuda", "cuda:N", "opencl", "opencl:N" */
  int32_t threads;       /* of the CPU; 0: as many as the process may use; SP_CALLERS_ARENA */
  int32_t implementation; /* SP_FUSED, SP_PLAIN, SP_ORACLE */
  uint32_t want;          /* SP_WANT_… */
  int32_t given_costs;    /* whether a volume of costs comes with each pair; the pipeline's cost is the stage `volume` */
  int32_t costs_type;     /* of that volume */
  int32_t without_images; /* only the volume comes */
  const sp_rig* rig;      /* null: none */
  const sp_camera* left_camera; /* both: the pair is not rectified, and is rectified first */
  const sp_camera* right_camera;
  double disparity_error; /* pixels, for the uncertainty; 0: 0.5 */
  int32_t frame;          /* of points: SP_FRAME_OPTICAL, SP_FRAME_HEAD */
  int32_t format;         /* of the views' images: SP_FORMAT_… */
} sp_problem;

/* What matching takes and gives. */
typedef struct sp_plan {
  size_t struct_size;
  const char* device; /* stays as long as the matcher */
  uint64_t workspace_bytes;
  int32_t stripe_rows;                /* of the stripes that it is done in, under a memory limit; 0: whole */
  int32_t output_width, output_height; /* of the result; of volumes, those of sp_matcher_volume */
  int32_t reserved;
  sp_rect required_input; /* the part of the images that is read for the region */
} sp_plan;

/* A pair, and where its result goes. Null: none. All of it in one place, the host or the matcher's device. Images of the result must not
 * share memory with images of the pair, or with one another: SP_ERROR_CALL. Crops of one image may lie side by side. */
typedef struct sp_pair {
  size_t struct_size;
  const sp_image* left;
  const sp_image* right;
  const sp_image* mask_left; /* SP_U8; 255 where a pixel is usable, else 0 */
  const sp_image* mask_right;
  const sp_image* costs;
} sp_pair;
typedef struct sp_result {
  size_t struct_size;
  /* outputs, written by ./dev outputs */
  const sp_image* disparity; /* Disparity of the left view, in pixels; NaN where a pixel is invalid. */
  const sp_image* validity; /* Bits that say why a pixel is invalid, or that it was filled or repaired; 0 where it was measured. */
  const sp_image* right; /* Disparity of the right view, from the same costs, in pixels; neither checked nor filled. */
  const sp_image* confidence; /* Confidence of the disparity, 0 to 1; 0 where a pixel was not measured. */
  const sp_image* depth; /* Depth Z, in the unit of the rig; NaN where there is none. */
  const sp_image* points; /* Points x, y, z, in the unit of the rig and in the chosen frame; NaN where there are none. */
  const sp_image* uncertainty; /* Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity. */
  const sp_image* rectified; /* Rectified left image, in the pixel type of the pair. */
  const sp_image* cost; /* Volume of matching costs: one channel for each candidate, the lowest disparity first. */
  const sp_image* aggregated; /* Volume of costs after aggregation: one channel for each candidate. */
  const sp_image* optimised; /* Volume of costs after optimisation: one channel for each candidate. */
  /* end of the outputs */
} sp_result;

/* Bits of the validity: why a pixel is invalid; and, of the last two, of pixels that are valid without having been measured. */
enum {
  SP_INVALID_NO_CANDIDATE = 1,
  SP_INVALID_LEFT_RIGHT = 2,
  SP_INVALID_AMBIGUOUS = 4,
  SP_INVALID_SPECKLE = 8,
  SP_INVALID_MASKED = 16,
  SP_INVALID_OUTSIDE = 32,
  SP_FILLED = 64,
  SP_REPAIRED = 128
};

/* A matcher: a pipeline made ready for a problem on a device, with its memory. The pipeline is copied. */
typedef struct sp_matcher sp_matcher;
SP_API sp_status sp_matcher_create(const sp_pipeline* pipeline, const sp_problem* problem, sp_matcher** matcher);
/* Waits for the pairs in work. */
SP_API sp_status sp_matcher_destroy(sp_matcher* matcher);
SP_API sp_status sp_matcher_plan(const sp_matcher* matcher, sp_plan* plan);
/* The shape of a volume that is wanted: size, channels, type and pitch. `which` is SP_WANT_COST, _AGGREGATED or _OPTIMISED. */
SP_API sp_status sp_matcher_volume(const sp_matcher* matcher, uint32_t which, sp_image* shape);
/* Returns when the result is there. */
SP_API sp_status sp_matcher_match(sp_matcher* matcher, const sp_pair* pair, const sp_result* result);

/* Begins a pair. The images must stay until it was waited for. A batch of pairs may be in work; one more first waits for the oldest, whose
 * error, if it failed, sp_matcher_wait returns. A ticket of 0 names no pair, and is done; one of another matcher is SP_ERROR_CALL. */
typedef uint64_t sp_ticket;
SP_API sp_status sp_matcher_enqueue(sp_matcher* matcher, const sp_pair* pair, const sp_result* result, sp_ticket* ticket);
/* Of images on the device, in a queue of the caller's (CUstream, cl_command_queue; null is CUDA's default one): behind what that was given
 * before, and before what it is given then. Nothing waits. `ticket` may be null. */
SP_API sp_status sp_matcher_enqueue_in_stream(sp_matcher* matcher, const sp_pair* pair, const sp_result* result, void* stream,
                                              sp_ticket* ticket);
/* Waits until the pair is done. Returns the pair's own error, if it failed. Further calls with the ticket return the same at once (errors
 * of the last 1,024 pairs that failed). */
SP_API sp_status sp_matcher_wait(sp_matcher* matcher, sp_ticket ticket);
SP_API sp_status sp_matcher_is_done(sp_matcher* matcher, sp_ticket ticket, int32_t* done);

/* The time of a stage in the last sp_matcher_match. The name stays until the next one. */
typedef struct sp_stage_time {
  size_t struct_size;
  const char* name;
  double ms;
  double bytes; /* that its definition reads and writes */
} sp_stage_time;
SP_API sp_status sp_matcher_time_count(const sp_matcher* matcher, size_t* count);
SP_API sp_status sp_matcher_time(const sp_matcher* matcher, size_t index, sp_stage_time* time);

/* The range of a rectified pair on the host, estimated from a coarse level. */
SP_API sp_status sp_estimate_range(const sp_image* left, const sp_image* right, int32_t* min_disparity, int32_t* disparities);

/* Memory for an image: on a GPU (SP_DEVICE), or of the host, where the device's copies reach it without a detour (SP_HOST). Of `shape`, size,
 * channels, type and bit depth count. */
typedef struct sp_buffer sp_buffer;
SP_API sp_status sp_buffer_create(const char* device, int32_t place, const sp_image* shape, sp_buffer** buffer);
SP_API sp_status sp_buffer_destroy(sp_buffer* buffer);
SP_API sp_status sp_buffer_image(const sp_buffer* buffer, sp_image* image);
/* From and to an image of the host of the same shape; done when they return. Of SP_DEVICE. */
SP_API sp_status sp_buffer_upload(sp_buffer* buffer, const sp_image* image);
SP_API sp_status sp_buffer_download(const sp_buffer* buffer, const sp_image* image);

/* Memory of a CUDA device from the caller: a framework's pool. Called by any thread that makes or ends a matcher or a buffer, with the
 * device's context current. */
typedef struct sp_allocator {
  size_t struct_size;
  uint64_t (*allocate)(size_t bytes, void* user); /* an address at a multiple of 256 bytes; 0 where no memory is left */
  void (*release)(uint64_t memory, void* user);
  void* user; /* handed to the functions; must stay as long as memory that came from them */
} sp_allocator;
/* From now on the device's memory comes from there; null: from the driver again. What came from an earlier one goes back to it. A device
 * that is not CUDA's is SP_ERROR_UNSUPPORTED. */
SP_API sp_status sp_use_allocator(const char* device, const sp_allocator* allocator);
/* The device is worked on in this context (a CUcontext of that device), and not in its primary one. To be said before the device is first
 * used; the context must stay as long as the process uses the device. */
SP_API sp_status sp_use_cuda_context(const char* device, void* context);

/* A point in a queue of the caller's, for order between queues. */
typedef struct sp_mark sp_mark;
SP_API sp_status sp_mark_create(const char* device, sp_mark** mark);
SP_API sp_status sp_mark_destroy(sp_mark* mark);
SP_API sp_status sp_mark_take(sp_mark* mark, void* stream); /* behind all that the queue was given so far */
SP_API sp_status sp_mark_hold(sp_mark* mark, void* stream); /* what it is given from now on starts when the mark is passed */
SP_API sp_status sp_mark_is_passed(sp_mark* mark, int32_t* passed);
SP_API sp_status sp_mark_wait(sp_mark* mark);

#ifdef __cplusplus
}
#endif

#endif
