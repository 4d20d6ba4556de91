// The headers that most tests include, compiled once.
#pragma once

#include <gtest/gtest.h>

#include "stereopsis/calibration.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/map_test.hpp"
#include "support/stage_test.hpp"
#ifdef STEREOPSIS_SIMD
#include "support/devices.hpp"
#include "support/selected.hpp"
#include "support/targets.hpp"
#include "support/volumes.hpp"
#endif
