/* The C interface of Stereopsis, for C and for every language that can call C functions.
 *
 * Every function returns a status. After an error, sp_last_error() returns one sentence that describes it. The library
 * prints nothing, never ends the process, and reads no image files: the caller passes decoded pixels.
 *
 * Every struct begins with `struct_size`, which the caller sets to the sizeof of the struct. Later versions only append
 * members, so that programs that were built with an older header continue to work. A member that is 0 selects the
 * default value.
 *
 *   sp_image image = {.struct_size = sizeof image, .data = pixels, .pitch = 640, .width = 640, .height = 480, .channels = 1};
 *
 * Handles (sp_pipeline*, sp_matcher*, sp_buffer*, sp_mark*) are opaque, and programs never dereference them. A call
 * with a destroyed or invalid handle returns SP_ERROR_CALL. Threads may share a handle, whose calls then run one after
 * the other. Different matchers run in parallel. Memory that the caller passes (images, results) must be as large as
 * the call states; the library cannot check its size.
 *
 * Disparities are d = x_left - x_right, float, in pixels; NaN where invalid. The terms are those of the C++ interface
 * (stereopsis/matcher.hpp, stereopsis/pipeline.hpp), whose comments have more detail. The binary interface of this
 * header is stable for each version number of libstereopsis.so. The C++ interface is stable only at source level, so
 * link the static library in C++. Programs in C link -lstereopsis: pkg-config's stereopsis-c, or stereopsis::c of
 * CMake's find_package(stereopsis COMPONENTS c). */
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

/* Status of a call. */
typedef int32_t sp_status;
enum {
  SP_OK = 0,
  SP_ERROR_CALL = 1,        /* an argument is not allowed: a parameter, a size or a handle */
  SP_ERROR_FILE = 2,        /* a file cannot be opened, read or written */
  SP_ERROR_FORMAT = 3,      /* the contents of a string or a file violate its format */
  SP_ERROR_UNSUPPORTED = 4, /* the request is valid, but this build or this machine does not support it */
  SP_ERROR_MEMORY = 5,      /* not enough memory, on the host or on a device */
  SP_ERROR_DEVICE = 6,      /* a device failed or was lost */
  SP_ERROR_INTERNAL = 7     /* an error in the library: please report it */
};

/* Returns one sentence, in UTF-8, about the last failed call of the calling thread. The sentence states the fault with
 * its value, the allowed values, and the remedy. The string is valid until the next call of this thread fails. */
SP_API const char* sp_last_error(void);
/* Returns the name of a status, such as "SP_ERROR_CALL"; "unknown" for any other number. */
SP_API const char* sp_status_name(sp_status status);
/* Return the version of the loaded library. STEREOPSIS_VERSION_NUMBER and STEREOPSIS_VERSION are the version of this
 * header. */
SP_API int32_t sp_version_number(void);
SP_API const char* sp_version(void);

/* Pixel types: unsigned 8 and 16 bits, and float. */
enum { SP_U8 = 0, SP_U16 = 1, SP_F32 = 2 };
/* Places of pixels: host memory, or a device. */
enum { SP_HOST = 0, SP_DEVICE = 1 };
/* Layouts of colours in an image of a view (stereopsis/formats.hpp). The library reads each layout directly, without a
 * copy. */
enum {
  SP_FORMAT_RGB = 0, /* 3 channels; grey if the image has 1 channel */
  SP_FORMAT_BGR = 1,
  SP_FORMAT_RGBA = 2, /* 4 channels; alpha is ignored */
  SP_FORMAT_BGRA = 3,
  /* SP_U8, 1 channel, height * 3 / 2 rows: luma, then chroma; the luma serves as the grey image. */
  SP_FORMAT_NV12 = 4,
  SP_FORMAT_BAYER_RGGB = 5, /* mosaics: 1 channel */
  SP_FORMAT_BAYER_BGGR = 6,
  SP_FORMAT_BAYER_GRBG = 7,
  SP_FORMAT_BAYER_GBRG = 8
};

/* A view of pixels, which the caller or a buffer owns. A cost volume is an image with one channel for each candidate,
 * the lowest disparity first. */
typedef struct sp_image {
  size_t struct_size;
  void* data;        /* address in host memory; on a device, the address (CUDA) or the cl_mem of a buffer (OpenCL) */
  int64_t offset;    /* bytes from `data` to pixel (0, 0) [0] */
  int64_t pitch;     /* bytes from one row to the next, a multiple of the element size; 0 means rows without gaps */
  int32_t width;     /* pixels, at least 1 */
  int32_t height;    /* pixels, at least 1 */
  int32_t channels;  /* interleaved elements of a pixel: 1 (grey), 3 (RGB), or as many as the format of a view has */
  int32_t type;      /* SP_U8, SP_U16, or SP_F32 (intensities in 8-bit units, 0 to 255) */
  int32_t bit_depth; /* number of significant low-order bits of SP_U16, 1 to 16; 0 means all bits */
  int32_t place;     /* SP_HOST or SP_DEVICE */
  int32_t format;    /* SP_FORMAT_… for the two views, equal to sp_problem.format; 0 for all other images */
  int32_t reserved;
} sp_image;

/* A method. The strings are valid until the process ends. */
typedef struct sp_method {
  size_t struct_size;
  const char* name;    /* name of the method, for sp_pipeline_create */
  const char* summary; /* one line */
  const char* paper;   /* the paper that describes the method */
} sp_method;
/* Return the number of methods, and the method at `index`, counted from 0. */
SP_API sp_status sp_method_count(size_t* count);
SP_API sp_status sp_method_get(size_t index, sp_method* method);

/* A device. The strings are valid until the process ends. */
typedef struct sp_device {
  size_t struct_size;
  const char* name;        /* name of the device, for sp_problem.device */
  const char* description; /* hardware, such as "Intel Xeon, 2 cores, AVX-512" */
  const char* reason;      /* reason why the device cannot be used, and what to do; empty if it can be used */
  int32_t usable;          /* 1 if matchers can run on the device, else 0 */
  int32_t reserved;
} sp_device;
/* Return the number of devices, and the device at `index`, counted from 0. Devices that cannot be used are included. */
SP_API sp_status sp_device_count(size_t* count);
SP_API sp_status sp_device_get(size_t index, sp_device* device);

/* A pipeline: a method whose stages and parameters can be changed. */
typedef struct sp_pipeline sp_pipeline;
/* Creates a pipeline from a method with its default parameters. `method` is a name such as "sgm". */
SP_API sp_status sp_pipeline_create(const char* method, sp_pipeline** pipeline);
/* Creates an independent copy of a pipeline. */
SP_API sp_status sp_pipeline_copy(const sp_pipeline* pipeline, sp_pipeline** copy);
/* Destroys a pipeline. All sp_…_destroy functions ignore a null handle. */
SP_API sp_status sp_pipeline_destroy(sp_pipeline* pipeline);
/* Sets a parameter to a value, both as in `stereopsis match --set NAME=VALUE`: "optimisation.p1" to "12", "cost.stage"
 * to "census". */
SP_API sp_status sp_pipeline_set(sp_pipeline* pipeline, const char* name, const char* value);
/* Writes the value of a parameter, with a terminating zero, to `value`, which has `capacity` bytes. Returns
 * SP_ERROR_CALL if there are too few bytes. Writes the length of the value, without the zero, to `length`, unless
 * `length` is null. With `value` null and `capacity` 0, only the length is returned. */
SP_API sp_status sp_pipeline_get(const sp_pipeline* pipeline, const char* name, char* value, size_t capacity,
                                 size_t* length);

/* Description of a parameter, from which an interface can make a slider, a list or a switch. */
typedef struct sp_parameter {
  size_t struct_size;
  const char* name;           /* "slot.parameter" */
  const char* type;           /* "flag", "choice", "integer", "number", "numbers", "text" */
  const char* value;          /* current value, as in sp_pipeline_set */
  const char* default_value;  /* default value, in the same notation */
  const char* allowed;        /* allowed values, such as "an odd integer from 1 to 15" */
  const char* description;    /* meaning of the parameter */
  const char* unit;           /* unit, such as "pixels"; empty if there is none */
  const char* const* choices; /* all values of a "choice"; the predefined values of a "text" */
  size_t choice_count;        /* number of strings in `choices` */
  double minimum;             /* smallest value; NaN if there is none */
  double maximum;             /* largest value; NaN if there is none */
  double step;                /* distance between allowed values, from `minimum` on; 0 allows any number in between */
  int32_t needs_plan;         /* 1 if a new value may change the steps or the memory of a plan, else 0 */
  int32_t reserved;
} sp_parameter;
/* Return the number of parameters, and the parameter at `index`, counted from 0. Call sp_pipeline_parameter_count
 * first. Strings are valid until the pipeline is changed, counted again or destroyed. */
SP_API sp_status sp_pipeline_parameter_count(sp_pipeline* pipeline, size_t* count);
SP_API sp_status sp_pipeline_parameter(sp_pipeline* pipeline, size_t index, sp_parameter* parameter);

/* Arguments of a call of a user-defined stage (stereopsis/user_stage.hpp). The arguments are valid only during the
 * call. */
typedef struct sp_stage_call {
  size_t struct_size;
  /* An image is null if the slot of the stage has no such image. On a GPU, all images are SP_DEVICE. */
  const sp_image* reference;      /* input: image of the reference view */
  const sp_image* other;          /* input: image of the other view */
  const sp_image* mask_reference; /* input: SP_U8, 255 = usable pixel */
  const sp_image* mask_other;
  const sp_image* costs;      /* input of an aggregation or optimisation: cost volume */
  const sp_image* made;       /* output: cost volume that the stage must fill */
  const sp_image* disparity;  /* input and output of a refinement: SP_F32, pixels, NaN where invalid */
  /* Input and output of a refinement: SP_U8, bits SP_INVALID_…. After the stage, a disparity that is NaN or infinite
     without a reason gets SP_INVALID_AMBIGUOUS, and a disparity with a reason becomes NaN. */
  const sp_image* validity;
  const sp_image* confidence; /* input of a refinement: SP_F32, 0 to 1 */
  void* stream; /* on a GPU, the queue (CUstream, cl_command_queue) into which the stage must enqueue its work */
  /* Candidate k of pixel (x, y) of the reference view is pixel (x - min_disparity - k, y) of the other view. */
  int32_t min_disparity;
  int32_t disparities; /* number of candidates */
  int32_t from_right;  /* 1 if the right view is the reference view, else 0 */
  int32_t threads;     /* number of CPU threads that the stage may use */
} sp_stage_call;
/* A rectangle of pixels: its first column and row, and its size. */
typedef struct sp_rect {
  int32_t x, y, width, height;
} sp_rect;
/* Runs a user-defined stage. Returns 0 on success. Any other value ends the match with SP_ERROR_CALL. The library may
 * call the function from another thread. The function must not use or destroy the matcher that runs it (SP_ERROR_CALL),
 * but may call sp_matcher_plan and sp_matcher_volume. */
typedef int32_t (*sp_stage_function)(const sp_stage_call* call, void* user);
/* A user-defined stage. */
typedef struct sp_stage {
  size_t struct_size;
  const char* name;      /* name in times and error messages; not empty */
  /* Function that runs the stage on the CPU; null if the CPU is not supported. At least one of `cpu` and `gpu` must
   * be set. */
  sp_stage_function cpu;
  sp_stage_function gpu; /* function that runs the stage on a GPU; null if GPUs are not supported */
  /* Writes to `input` the region of the images that is required to compute the region `output`. Without this function,
   * both regions are equal. */
  void (*required_input)(const sp_rect* output, sp_rect* input, void* user);
  /* Pointer that is passed to the functions, and must outlive the pipeline, its copies and their matchers. */
  void* user;
  /* Largest cost that the stage writes; 0 means the largest value of an integer type, or 1 for SP_F32. */
  double largest;
  int32_t makes;  /* type of the costs that the stage writes: SP_U8, SP_U16 or SP_F32 */
  int32_t takes;  /* type of the cost volume that the stage filters; -1 means any type */
} sp_stage;
/* Sets a user-defined stage as the stage of a slot: "cost", "plus", "aggregation", "optimisation" or "refinement". A
 * stage for "refinement" is appended to the refinements. */
SP_API sp_status sp_pipeline_set_stage(sp_pipeline* pipeline, const char* slot, const sp_stage* stage);

/* A calibrated, rectified rig, which defines the depth of a disparity: Z = focal * baseline / (d + cx_right -
 * cx_left). */
typedef struct sp_rig {
  size_t struct_size;
  double focal;    /* focal length, pixels; > 0 */
  double cx_left;  /* column of the left principal point, pixels */
  double cx_right; /* column of the right principal point, pixels */
  double cy;       /* row of both principal points, pixels */
  double baseline; /* distance between the cameras, > 0; depths have the same unit */
} sp_rig;

enum { SP_ROW_KNOTS = 240 };
/* Alignment of the rows of the right image: row y of the aligned image is row y + v of the given one, where v = offset +
 * roll * s + zoom * t + keystone * s * t + field(s, t), s = (x + 0.5) / width - 0.5, t = (y + 0.5) / height - 0.5. The
 * field is a uniform cubic B-spline over the image. All values are in pixels. */
typedef struct sp_row_alignment {
  size_t struct_size;
  double offset;   /* v in the centre of the image */
  double roll;     /* v at the right border minus v at the left border */
  double zoom;     /* v at the lower border minus v at the upper border */
  double keystone; /* roll at the lower border minus roll at the upper border */
  int32_t field_columns;     /* knots of the field along rows: 1 or at least 4; 0: no field */
  int32_t field_rows;        /* and along columns: at least 4; 0: no field */
  float knots[SP_ROW_KNOTS]; /* coefficients of the field, row by row */
} sp_row_alignment;

/* Lens models (stereopsis/rectification.hpp). */
enum { SP_LENS_POLYNOMIAL = 0, SP_LENS_FISHEYE = 1 };
/* A raw camera: its lens, and the rotation that rectifies it. */
typedef struct sp_camera {
  size_t struct_size;
  double fx, fy, cx, cy;   /* focal lengths (> 0) and principal point, pixels */
  double distortion[12];   /* k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4; for a fisheye lens k1 k2 k3 k4 */
  double rectification[9]; /* rotation from the camera's frame to the rectified frame, row by row */
  int32_t model;           /* SP_LENS_POLYNOMIAL or SP_LENS_FISHEYE */
  int32_t reserved;
} sp_camera;

/* Outputs that can be requested in addition to disparity and validity: bits of sp_problem.want. */
enum {
  /* The next lines are generated by ./dev outputs. */
  SP_WANT_RIGHT = 1, /* Disparity of the right view, from the same costs, in pixels; neither checked nor filled. */
  SP_WANT_CONFIDENCE = 2, /* Probability that the disparity is within 1 pixel of the truth, also for filled pixels; 0 without a disparity. */
  SP_WANT_TIMES = 4, /* Times of the stages; on the CPU, times are always returned. */
  SP_WANT_DEPTH = 8, /* Depth Z, in the unit of the rig; NaN behind the cameras and, unless fill_depth is set, for unmeasured pixels. */
  SP_WANT_POINTS = 16, /* Points x, y, z, in the unit of the rig and in the chosen frame; NaN where the depth is NaN. */
  SP_WANT_UNCERTAINTY = 32, /* Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity. */
  SP_WANT_RECTIFIED = 64, /* Rectified left image, in the pixel type of the pair. */
  SP_WANT_COST = 128, /* Volume of matching costs: one channel for each candidate, the lowest disparity first. */
  SP_WANT_AGGREGATED = 256, /* Volume of costs after aggregation: one channel for each candidate. */
  SP_WANT_OPTIMISED = 512 /* Volume of costs after optimisation: one channel for each candidate. */
  /* End of the generated lines. */
};
/* Coordinate frames of points. Optical: x right, y down, z forward, with the left camera as origin. Head: x forward, y
 * left, z up, with the middle of the baseline as origin. */
enum { SP_FRAME_OPTICAL = 0, SP_FRAME_HEAD = 1 };
/* Implementations. Fused: several stages in one operation where possible. Plain: one stage at a time. Oracle: the
 * scalar definitions (CPU only). All implementations give the same result. */
enum { SP_FUSED = 0, SP_PLAIN = 1, SP_ORACLE = 2 };

/* Value of sp_problem.threads that selects the caller's oneTBB arena: the arena in which sp_matcher_create is called,
 * for all later calls of the matcher. */
enum { SP_CALLERS_ARENA = -1 };

/* The input of a matcher: size and type of the images, search range, device and requested outputs. */
typedef struct sp_problem {
  size_t struct_size;
  int32_t width, height, channels, type, bit_depth; /* both images, as in sp_image; 3 channels if `format` is set */
  int32_t min_disparity;                            /* lowest disparity of the search range, pixels; may be negative */
  int32_t disparities;                              /* number of disparities in the search range, 1 to 16384 */
  int32_t batch;                                    /* number of pairs in flight at a time, 1 to 4096; 0 means 1 */
  sp_rect region;         /* region of interest of the left image; all members 0: the whole image */
  /* Limit of the workspace, bytes; 0 means half of the host's memory, or 9/10 of a GPU's free memory. */
  uint64_t memory_limit;
  const char* device;     /* "auto" (also null), "cpu", "cuda", "cuda:N", "opencl" or "opencl:N" */
  int32_t threads;        /* number of CPU threads, or SP_CALLERS_ARENA; 0 means as many as the process may use */
  int32_t implementation; /* SP_FUSED, SP_PLAIN or SP_ORACLE */
  uint32_t want;          /* requested outputs: a sum of SP_WANT_… */
  int32_t given_costs;    /* 1 if a cost volume comes with each pair; the pipeline must have cost.stage = volume */
  int32_t costs_type;     /* pixel type of the given cost volume */
  int32_t without_images; /* 1 if each pair has only the cost volume, and no images */
  const sp_rig* rig;      /* calibration of the rectified pair, for depth, points and uncertainty; may be null */
  const sp_camera* left_camera; /* cameras of a raw pair, which is rectified first; null for a rectified pair */
  const sp_camera* right_camera;
  /* Disparity error that `uncertainty` assumes, in pixels; 0 means the error that the confidence implies. */
  double disparity_error;
  int32_t frame;          /* coordinate frame of the points: SP_FRAME_OPTICAL or SP_FRAME_HEAD */
  int32_t format;         /* layout of both images: SP_FORMAT_… */
  /* 1 to compute depth, points and uncertainty also for filled and repaired pixels; 0 for measured pixels only. */
  int32_t fill_depth;
  /* 1 to mask black regions at the border, and to mark pixels as filled whose 7×7 window has one value; 0 to measure such
   * regions like all others. */
  int32_t skip_constant;
  int32_t black;          /* with skip_constant: largest value of black, in 8-bit units, 0 to 255; 2 for JPEG and video */
  int32_t reserved;       /* 0 */
  /* Alignment of the rows of the right image, which is resampled before it is matched; of the rectified image if there are
   * cameras. SP_WANT_RIGHT has the rows of the image without the alignment. A pair can have an alignment of its own. An
   * alignment of 0 pixels has the same result as no alignment. Null: the rows of all pairs stay as they are. */
  const sp_row_alignment* row_alignment;
} sp_problem;

/* The plan of a matcher: its memory, and the sizes of its input and output. */
typedef struct sp_plan {
  size_t struct_size;
  const char* device;       /* name of the device; valid as long as the matcher */
  uint64_t workspace_bytes; /* memory of the matcher, bytes */
  /* Height of the stripes in which a matcher works to keep to the memory limit; 0 means the whole image. */
  int32_t stripe_rows;
  int32_t output_width, output_height; /* size of the maps; sp_matcher_volume returns the size of volumes */
  int32_t reserved;
  sp_rect required_input; /* region of the images that the matcher reads */
} sp_plan;

/* The inputs of a match. An image that is not used is null. All images of a pair and of its result must be in the same
 * place: in host memory or on the matcher's device. */
typedef struct sp_pair {
  size_t struct_size;
  /* The next lines are generated by ./dev outputs. */
  const sp_image* left; /* Left image; rectified, unless the problem has rectification maps. */
  const sp_image* right; /* Right image, with the size and type of the left one. */
  const sp_image* mask_left; /* Mask of the left image: 255 = usable pixel, 0 = unusable; without a mask, all pixels are usable. */
  const sp_image* mask_right; /* Mask of the right image. */
  const sp_image* costs; /* Matching costs of the left view, for a plan with given costs: one channel for each candidate. */
  const sp_image* seeds; /* Disparities of the rectified left image that are known beforehand, for a pipeline with seeds; NaN where unknown. */
  const sp_image* seed_trust; /* Trust in each seed, 0 to 1; without it, 1. */
  /* End of the generated lines. */
  /* Alignment of the rows of this pair, read during the call; sp_problem.row_alignment must be set, too. Null: the alignment
   * of the problem. */
  const sp_row_alignment* row_alignment;
} sp_pair;
/* The images into which a match writes its outputs. `disparity` and every output of sp_problem.want must be set.
 * `validity` may be null in host memory. All other outputs must be null. Maps have 1 channel (points: 3), the type
 * SP_F32 (validity: SP_U8), and the size in sp_plan. This size is the size of the input, unless the pipeline returns
 * maps of reduced images.
 *
 * Images of the result must not share memory with images of the pair or with each other (SP_ERROR_CALL); disjoint crops
 * of one image are allowed. */
typedef struct sp_result {
  size_t struct_size;
  /* The next lines are generated by ./dev outputs. */
  const sp_image* disparity; /* Disparity of the left view, in pixels; NaN where a pixel is invalid. */
  const sp_image* validity; /* Bits that state why a pixel is invalid, or that the pixel was filled or repaired; 0 for measured pixels. */
  const sp_image* right; /* Disparity of the right view, from the same costs, in pixels; neither checked nor filled. */
  const sp_image* confidence; /* Probability that the disparity is within 1 pixel of the truth, also for filled pixels; 0 without a disparity. */
  const sp_image* depth; /* Depth Z, in the unit of the rig; NaN behind the cameras and, unless fill_depth is set, for unmeasured pixels. */
  const sp_image* points; /* Points x, y, z, in the unit of the rig and in the chosen frame; NaN where the depth is NaN. */
  const sp_image* uncertainty; /* Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity. */
  const sp_image* rectified; /* Rectified left image, in the pixel type of the pair. */
  const sp_image* cost; /* Volume of matching costs: one channel for each candidate, the lowest disparity first. */
  const sp_image* aggregated; /* Volume of costs after aggregation: one channel for each candidate. */
  const sp_image* optimised; /* Volume of costs after optimisation: one channel for each candidate. */
  /* End of the generated lines. */
} sp_result;

/* Bits of the validity map. The SP_INVALID_… bits are the reasons why a pixel is invalid. SP_FILLED and SP_REPAIRED
 * mark pixels that are valid but were not measured. */
enum {
  SP_INVALID_NO_CANDIDATE = 1, /* no candidate of the search range lies inside the other image */
  SP_INVALID_LEFT_RIGHT = 2,   /* failed the left-right check */
  SP_INVALID_AMBIGUOUS = 4,    /* without texture, or without a unique best candidate */
  SP_INVALID_SPECKLE = 8,      /* in a small isolated region */
  SP_INVALID_MASKED = 16,      /* masked in the input, not finite, or in a black region at the border */
  SP_INVALID_OUTSIDE = 32,     /* outside the region of interest */
  SP_FILLED = 64,              /* valid, but the disparity comes from surrounding pixels, or the pixel has no contrast */
  SP_REPAIRED = 128            /* valid, but the disparity comes from confident neighbours */
};

/* A matcher: a pipeline that is planned for a problem on a device, with all memory that it needs. */
typedef struct sp_matcher sp_matcher;
/* Creates a matcher. The pipeline and the problem are copied. */
SP_API sp_status sp_matcher_create(const sp_pipeline* pipeline, const sp_problem* problem, sp_matcher** matcher);
/* Waits for the pairs in flight, and destroys the matcher. */
SP_API sp_status sp_matcher_destroy(sp_matcher* matcher);
/* Returns the plan of a matcher. */
SP_API sp_status sp_matcher_plan(const sp_matcher* matcher, sp_plan* plan);
/* Returns size, channels, type and pitch of a requested cost volume. `which` is SP_WANT_COST, SP_WANT_AGGREGATED or
 * SP_WANT_OPTIMISED. */
SP_API sp_status sp_matcher_volume(const sp_matcher* matcher, uint32_t which, sp_image* shape);
/* Matches a pair, and returns when its result is complete. */
SP_API sp_status sp_matcher_match(sp_matcher* matcher, const sp_pair* pair, const sp_result* result);

/* Enqueues a pair, and returns its ticket. The images must remain valid until the pair is done. Up to sp_problem.batch
 * pairs are in flight; a further call first waits for the oldest pair. The ticket 0 belongs to no pair and is always
 * done; the ticket of another matcher returns SP_ERROR_CALL. */
typedef uint64_t sp_ticket;
SP_API sp_status sp_matcher_enqueue(sp_matcher* matcher, const sp_pair* pair, const sp_result* result,
                                    sp_ticket* ticket);
/* Enqueues a pair of images on the device into a queue of the caller (CUstream, cl_command_queue; null means CUDA's
 * default stream). The match runs after earlier work and before later work of the queue. The call does not wait.
 * `ticket` may be null. */
SP_API sp_status sp_matcher_enqueue_in_stream(sp_matcher* matcher, const sp_pair* pair, const sp_result* result,
                                              void* stream, sp_ticket* ticket);
/* Waits until a pair is done, and returns the error of the pair if it failed. Further calls with the ticket return the
 * same status at once; the errors of the last 1,024 failed pairs are kept. */
SP_API sp_status sp_matcher_wait(sp_matcher* matcher, sp_ticket ticket);
/* Sets `done` to 1 if a pair is done, else to 0, without waiting. While another thread is in a call with the matcher,
 * `done` may be 0 for a pair that became done since the last call with its ticket. */
SP_API sp_status sp_matcher_is_done(sp_matcher* matcher, sp_ticket ticket, int32_t* done);

/* The time of a stage in the last sp_matcher_match. */
typedef struct sp_stage_time {
  size_t struct_size;
  const char* name; /* valid until the next match */
  double ms;        /* milliseconds */
  double bytes;     /* bytes that the stage reads and writes by definition, without scratch memory */
} sp_stage_time;
/* Return the number of times, and the time at `index`, counted from 0. On a GPU, times require SP_WANT_TIMES. */
SP_API sp_status sp_matcher_time_count(const sp_matcher* matcher, size_t* count);
SP_API sp_status sp_matcher_time(const sp_matcher* matcher, size_t index, sp_stage_time* time);

/* Estimates the search range of a rectified pair in host memory, from reduced images. */
SP_API sp_status sp_estimate_range(const sp_image* left, const sp_image* right, int32_t* min_disparity,
                                   int32_t* disparities);

/* Reasons why an estimate gives no alignment of rows (stereopsis/rows.hpp). Few tracks: fewer than 100 points were found in
 * both images. Uncertain: the standard deviation of the alignment is above 0.05 pixels. One corner: the points lie in one
 * part of the image. Rows agree: the alignment is below 0.08 pixels, so that resampling would cost more. */
enum {
  SP_ROWS_ALIGNED = 0,
  SP_ROWS_FEW_TRACKS = 1,
  SP_ROWS_UNCERTAIN = 2,
  SP_ROWS_ONE_CORNER = 3,
  SP_ROWS_AGREE = 4
};
/* An estimate of the alignment of rows. */
typedef struct sp_row_estimate {
  size_t struct_size;
  sp_row_alignment plane;     /* the estimate, also if `reason` is not SP_ROWS_ALIGNED */
  sp_row_alignment deviation; /* standard deviation of each value, pixels */
  double remaining;           /* standard deviation of the points around the estimate, pixels */
  int32_t tracks;             /* number of points to which the estimate is fitted */
  int32_t reason;             /* SP_ROWS_ALIGNED if the pair should be matched with `plane`; otherwise the reason */
} sp_row_estimate;
/* Estimates the alignment of the rows of a rectified pair in host memory, from the pair alone. */
SP_API sp_status sp_estimate_row_alignment(const sp_image* left, const sp_image* right, sp_row_estimate* estimate);

/* Memory of an image. */
typedef struct sp_buffer sp_buffer;
/* Allocates memory on a GPU (SP_DEVICE), or pinned memory of the host for fast transfers (SP_HOST). Only size,
 * channels, type and bit depth of `shape` are used. */
SP_API sp_status sp_buffer_create(const char* device, int32_t place, const sp_image* shape, sp_buffer** buffer);
/* Releases the memory of the buffer. */
SP_API sp_status sp_buffer_destroy(sp_buffer* buffer);
/* Returns a view of the buffer's pixels, which is valid as long as the buffer. */
SP_API sp_status sp_buffer_image(const sp_buffer* buffer, sp_image* image);
/* Copy a host image of the same shape to or from a buffer on a device (SP_DEVICE), and return when the copy is
 * complete. */
SP_API sp_status sp_buffer_upload(sp_buffer* buffer, const sp_image* image);
SP_API sp_status sp_buffer_download(const sp_buffer* buffer, const sp_image* image);

/* An allocator of the caller for the memory of a CUDA device, such as the pool of a framework. The functions are called
 * from any thread that creates or destroys a matcher or a buffer, with the context of the device current. */
typedef struct sp_allocator {
  size_t struct_size;
  uint64_t (*allocate)(size_t bytes,
                       void* user); /* returns an address that is a multiple of 256 bytes, or 0 if no memory is left */
  void (*release)(uint64_t memory, void* user);
  /* Pointer that is passed to the functions, and must remain valid while memory from `allocate` is in use. */
  void* user;
} sp_allocator;
/* Makes the library allocate the device's memory with this allocator from now on. A null allocator selects the
 * allocator of the driver. Memory from an earlier allocator is released with that allocator. A device other than CUDA
 * returns SP_ERROR_UNSUPPORTED. */
SP_API sp_status sp_use_allocator(const char* device, const sp_allocator* allocator);
/* Uses this CUcontext of the device instead of the primary context. Call this function before the device is first used.
 * The context must remain valid as long as the process uses the device. */
SP_API sp_status sp_use_cuda_context(const char* device, void* context);

/* A point in a queue of the caller, for ordering work between queues. */
typedef struct sp_mark sp_mark;
/* Create and destroy a mark for the queues of a device. */
SP_API sp_status sp_mark_create(const char* device, sp_mark** mark);
SP_API sp_status sp_mark_destroy(sp_mark* mark);
SP_API sp_status sp_mark_take(sp_mark* mark, void* stream); /* sets the mark after all work that the queue has so far */
SP_API sp_status sp_mark_hold(sp_mark* mark, void* stream); /* lets later work of the queue wait for the mark */
/* Sets `passed` to 1 if all work before the mark is complete, else to 0, without waiting. */
SP_API sp_status sp_mark_is_passed(sp_mark* mark, int32_t* passed);
/* Waits until all work before the mark is complete. */
SP_API sp_status sp_mark_wait(sp_mark* mark);

#ifdef __cplusplus
}
#endif

#endif
