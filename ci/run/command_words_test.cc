#include "ci/run/command_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "ci/run/child_process.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::write_script;

using testing::ElementsAre;

TEST(CommandWordsTest, SplitsACommandAtItsBlanks) {
  EXPECT_THAT(command_words("fusegate_bench"), ElementsAre("fusegate_bench"));
  EXPECT_THAT(command_words("python3 -m fusegate run  kernels.py "),
              ElementsAre("python3", "-m", "fusegate", "run", "kernels.py"));
  EXPECT_THAT(command_words(R"(env A='b c' "my kernels/run.py" two\ words "" '\')"),
              ElementsAre("env", "A=b c", "my kernels/run.py", "two words", "", "\\"));
}

TEST(CommandWordsTest, LeavesAFileWholeWhateverItsName) {
  const baselines::ScratchFolder folder;
  const std::string program = write_script(folder, "my 'own' bench", "echo $#");
  EXPECT_THAT(command_words(program), ElementsAre(program));
  EXPECT_EQ(output_of({program, "a", "b"}), "2");
}

TEST(CommandWordsTest, NamesACommandWhoseQuoteDoesNotEnd) {
  try {
    command_words("python3 'kernels.py");
    FAIL() << "taken";
  } catch (const baselines::InputError& error) {
    EXPECT_STREQ(error.what(), "python3 'kernels.py: a quote in this command does not end");
  }
}

TEST(CommandWordsTest, AProcessGetsItsOwnArgumentsFirst) {
  const baselines::ScratchFolder folder;
  const std::string program = write_script(folder, "bench", "echo \"$@\"");
  EXPECT_EQ(output_of({program + " run 'my kernels.py'", "--suite=all"}),
            "run my kernels.py --suite=all");
}

}  // namespace
}  // namespace fusegate::ci
