#include "methods/workspace.hpp"

#include <gtest/gtest.h>

#include <array>

namespace stereopsis {
namespace {

TEST(Workspace, GivesNothingBehindItsEnd) {
  alignas(64) std::array<std::byte, 256> block;
  Workspace workspace(block);
  EXPECT_EQ(workspace.memory(192).data(), block.data());
  EXPECT_THROW(workspace.memory(65), Error);
  workspace.give_back(192);
  EXPECT_EQ(workspace.memory(64).data(), block.data() + 192);
  EXPECT_THROW(workspace.memory(1), Error);
}

}  // namespace
}  // namespace stereopsis
