#include "device/system/control_group.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace stereopsis::control_group_test {
namespace {

using system::group_limits;
using system::GroupLimits;

// A system with control groups as files below a temporary folder.
class ControlGroups : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::filesystem::path& file, const std::string& contents) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << contents << "\n";
  }
  void mount(const std::string& lines) { write("proc/self/mountinfo", lines); }
  void expect(std::size_t memory, double cores) {
    const GroupLimits found = group_limits(root);
    EXPECT_EQ(found.memory, memory);
    EXPECT_EQ(found.cores, cores);
  }

  const GroupLimits none;
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("control_groups." + std::to_string(getpid()));
};

TEST_F(ControlGroups, OfVersion2ApplyAtEachLevel) {
  mount("24 1 0:5 / /proc rw - proc proc rw\n30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw");
  write("proc/self/cgroup", "0::/slurm/job_7/step_0");
  expect(none.memory, none.cores);  // no files
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max");
  write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000");
  expect(none.memory, none.cores);
  write("sys/fs/cgroup/slurm/job_7/memory.max", "4000000000");
  write("sys/fs/cgroup/slurm/cpu.max", "250000 100000");
  write("sys/fs/cgroup/other/memory.max", "1000");
  expect(4000000000, 2.5);
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "3000000000");
  write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "50000 100000");
  expect(3000000000, 0.5);
}

TEST_F(ControlGroups, OfVersion1AreInAHierarchyForEachController) {
  mount(
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/slurm/uid_1/job_7\n3:cpu,cpuacct:/slurm\n0::/");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/memory/slurm/uid_1/memory.limit_in_bytes", "8000000000");
  write("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.limit_in_bytes", "9000000000");
  write("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_period_us", "100000");
  expect(8000000000, none.cores);
  write("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "300000");
  expect(8000000000, 3);
}

TEST_F(ControlGroups, OfAContainerAreWhereItsPartIsMounted) {
  write("sys/fs/cgroup/memory.max", "5000");
  mount("30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
  for (const char* path : {"/docker/abc", "/", "/../../elsewhere"}) {
    write("proc/self/cgroup", std::string("0::") + path);
    expect(5000, none.cores);
  }
  write("sys/fs/cgroup/inner/cpu.max", "100000 50000");
  write("proc/self/cgroup", "0::/docker/abc/inner");
  expect(5000, 2);
}

TEST_F(ControlGroups, WithoutFilesLimitNothing) {
  expect(none.memory, none.cores);
  mount("30 23 0:26");
  write("proc/self/cgroup", "nonsense");
  expect(none.memory, none.cores);
}

}  // namespace
}  // namespace stereopsis::control_group_test
