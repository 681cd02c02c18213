#include "ci/starting/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;
using testing::ElementsAre;
using testing::HasSubstr;

class ProjectTest : public testing::Test {
 protected:
  void SetUp() override {
    baselines::write_atomically(templates_ / "CMakeLists.txt.template", "project(@project@)\n@project@");
    baselines::write_atomically(templates_ / ".github/log.sh", "say() { echo @v6; }\n");
    baselines::write_atomically(templates_ / "run.sh.template", "run\n");
    fs::permissions(templates_ / "run.sh.template", fs::perms::owner_all);
  }

  // The message of write_project(); empty if there is none.
  std::string message_of(const fs::path& folder) {
    try {
      write_project(templates_, folder);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  baselines::ScratchFolder scratch_;
  const fs::path templates_ = scratch_.path() / "templates";
  const fs::path folder_ = scratch_.path() / "My-kernels";
};

TEST_F(ProjectTest, IsNamedByItsFolder) {
  EXPECT_THAT(write_project(templates_, folder_),
              ElementsAre(".github/log.sh", "CMakeLists.txt", "run.sh"));
  EXPECT_EQ(baselines::read_file(folder_ / "CMakeLists.txt"), "project(my_kernels)\nmy_kernels");
  EXPECT_EQ(baselines::read_file(folder_ / ".github/log.sh"), "say() { echo @v6; }\n");
}

TEST_F(ProjectTest, KeepsScriptsExecutable) {
  write_project(templates_, folder_);
  const auto may_run = [&](const char* file) {
    return (fs::status(folder_ / file).permissions() & fs::perms::owner_exec) != fs::perms::none;
  };
  EXPECT_TRUE(may_run("run.sh"));
  EXPECT_FALSE(may_run("CMakeLists.txt"));
}

TEST_F(ProjectTest, TakesAnEmptyFolderAndNoOther) {
  fs::create_directory(folder_);
  EXPECT_EQ(message_of(folder_), "");
  EXPECT_THAT(message_of(folder_), HasSubstr("My-kernels: is not empty"));
  EXPECT_THAT(message_of(folder_ / "run.sh"), HasSubstr("run.sh: is not a folder"));
  baselines::write_atomically(scratch_.path() / "other" / ".hidden", "");
  EXPECT_THAT(message_of(scratch_.path() / "other"), HasSubstr("is not empty"));
  EXPECT_FALSE(fs::exists(scratch_.path() / "other" / "run.sh"));
}

TEST_F(ProjectTest, ReportsMissingTemplates) {
  fs::remove_all(templates_);
  EXPECT_THAT(message_of(folder_), HasSubstr("templates: the templates are missing"));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST(ProjectName, IsOneForCMakeAndCpp) {
  EXPECT_EQ(project_name("/somewhere/demo"), "demo");
  EXPECT_EQ(project_name("/somewhere/My fast-Kernels.2/"), "my_fast_kernels_2");
  EXPECT_EQ(project_name("/somewhere/2nd"), "kernels_2nd");
  EXPECT_EQ(project_name("/somewhere/demo/."), "demo");
  EXPECT_EQ(project_name("."), project_name(fs::current_path()));
  EXPECT_THROW(project_name("/somewhere/---"), InputError);
}

}  // namespace
}  // namespace fusegate::ci
