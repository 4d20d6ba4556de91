// Deprecated: include stereopsis/partition_plan.hpp.
#pragma once

#include "stereopsis/partition_plan.hpp"
