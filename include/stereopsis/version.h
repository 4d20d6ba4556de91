/* The version of the library, which CMakeLists.txt repeats. */
#ifndef STEREOPSIS_VERSION_H
#define STEREOPSIS_VERSION_H

#define STEREOPSIS_VERSION_MAJOR 0
#define STEREOPSIS_VERSION_MINOR 1
#define STEREOPSIS_VERSION_PATCH 0
#define STEREOPSIS_VERSION "0.1.0"

/* Versions compare as numbers. */
#define STEREOPSIS_MAKE_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define STEREOPSIS_VERSION_NUMBER \
  STEREOPSIS_MAKE_VERSION(STEREOPSIS_VERSION_MAJOR, STEREOPSIS_VERSION_MINOR, STEREOPSIS_VERSION_PATCH)

#endif
