#include "ci/console/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;

TEST(Layout, ProgramsLieTogether) {
  EXPECT_TRUE(fs::exists(own_folder() / "fusegate_ci_console_test"));
  EXPECT_EQ(default_bench_program(), own_folder() / "fusegate_bench");
}

TEST(PeersPython, IsTheOneThatTheEnvironmentNamesElseThatOfPath) {
  setenv("FUSEGATE_PYTHON", "/opt/python", 1);
  EXPECT_EQ(peers_python(), "/opt/python");
  unsetenv("FUSEGATE_PYTHON");
  EXPECT_EQ(peers_python(), "python3");
}

TEST(PeersScript, LiesInTheCheckoutUnlessItWasInstalled) {
  ASSERT_FALSE(fs::exists(own_folder() / "peers"));
  EXPECT_TRUE(peers_script().string().ends_with("/bench/peers/peers.py")) << peers_script();
}

TEST(CheckoutRoot, IsTheNearestFolderWithDotGit) {
  const baselines::ScratchFolder folder;
  fs::create_directories(folder.path() / "a" / "b");
  EXPECT_EQ(checkout_root(folder.path() / "a"), folder.path() / "a");
  fs::create_directory(folder.path() / ".git");
  EXPECT_EQ(checkout_root(folder.path() / "a" / "b"), folder.path());
}

TEST(NewRunFolder, IsNamedByTheTime) {
  EXPECT_THAT(folder_name_of_now(), MatchesRegex("[0-9]{8}T[0-9]{6}Z"));
  EXPECT_EQ(new_run_folder().parent_path(), kept_folder() / "runs");
}

TEST(DefaultStores, PutTheKeptBeforeTheLocalAndTheNearBeforeTheFar) {
  const baselines::ScratchFolder folder;
  fs::create_directories(folder.path() / ".git");
  fs::create_directories(folder.path() / "a");
  const fs::path root = folder.path();
  EXPECT_THAT(default_stores(root), ElementsAre(root / "baselines", root / ".fusegate/baselines"));
  EXPECT_THAT(default_stores(root / "a"),
              ElementsAre(root / "a/baselines", root / "a/.fusegate/baselines", root / "baselines",
                          root / ".fusegate/baselines"));
}

}  // namespace
}  // namespace fusegate::ci
