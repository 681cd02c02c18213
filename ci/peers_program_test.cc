#include "ci/peers_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ci/layout.h"

namespace fusegate {
namespace {

using ::testing::ElementsAre;

TEST(PeersProgram, IsRunByThePythonThatIsNamedElseByPython3) {
  setenv("FUSEGATE_PYTHON", "/opt/python", 1);
  EXPECT_EQ(resolved({}).python, "/opt/python");
  EXPECT_EQ(resolved({"given", "folder"}).python, "given");
  unsetenv("FUSEGATE_PYTHON");
  EXPECT_EQ(resolved({}).python, "python3");
  EXPECT_EQ(resolved({}).folder, peers_folder());
  EXPECT_EQ(resolved({"given", "folder"}).folder, "folder");
}

TEST(PeersProgram, IsCalledAsItsCommandLineHasIt) {
  unsetenv("PYTHONPATH");
  EXPECT_THAT(peers_command({"python", "bench"}, "pr", 3, 7, "out/3.json"),
              ElementsAre("env", "PYTHONPATH=bench", "python", "-m", "peers", "--suite", "pr",
                          "--invocation", "3", "--seed", "7", "--out", "out/3.json"));
}

TEST(PeersProgram, KeepsThePythonPathThatThereIs) {
  setenv("PYTHONPATH", "/more", 1);
  EXPECT_EQ(peers_command({"python", "bench"}, "pr", 1, 1, "1.json")[1], "PYTHONPATH=bench:/more");
  unsetenv("PYTHONPATH");
}

}  // namespace
}  // namespace fusegate
