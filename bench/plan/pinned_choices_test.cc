#include "bench/plan/pinned_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/launches/identities.h"
#include "baselines/record/baseline.h"
#include "baselines/record/test_run.h"

namespace fusegate::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class PinnedChoicesTest : public testing::Test {
 protected:
  PinnedChoicesTest() {
    const Sweep sweep{.operations = {"geglu_mlp"},
                      .implementations = {"unfused"},
                      .axes = {{"batch", {1, 2}}, {"seq", {8}}, {"dim", {16}}, {"hidden", {24}}},
                      .dtype = {kernels::Dtype::kFp32}};
    plan_ = make_plan({sweep}, *kernels::open_device("cpu"), "test");
  }

  std::filesystem::path baseline(const std::string& device, const kernels::StageChoices& choices) {
    baselines::Baseline baseline{.acceptance = {"ada", "2026-11-21T00:00:00+00:00", "a test"},
                                 .run = {}};
    baseline.run.environment = {{"device", device}};
    baseline.run.benchmarks = {baselines::test_series(plan_.benchmarks.front().name(), {10, 11})};
    baseline.run.benchmarks.front().choices = choices;
    return folder_.write(baselines::slug(device) + ".json", baselines::baseline_text(baseline));
  }

  baselines::ScratchFolder folder_;
  Plan plan_;
  const baselines::Environment here_{{"device", "NVIDIA H200"}};
};

TEST_F(PinnedChoicesTest, AreThoseOfTheBenchmarkInTheFirstRunOfTheDevice) {
  const auto other = baseline("NVIDIA A100", {{"down_proj", "candidate 1"}});
  const auto ours = baseline("NVIDIA H200", {{"down_proj", "candidate 2"}});
  EXPECT_EQ(pin_choices(plan_, {other, ours}, here_, false), ours);
  EXPECT_THAT(plan_.benchmarks[0].pinned_choices.choices,
              ElementsAre(Pair("down_proj", "candidate 2")));
  EXPECT_THAT(plan_.benchmarks[1].pinned_choices.choices, IsEmpty()) << "another problem";
}

TEST_F(PinnedChoicesTest, AreThoseThatAnotherProgramWasFoundToMake) {
  for (const char* name : {baselines::kIdentitiesFile, "kept.json"}) {
    const auto path = folder_.path() / name;
    baselines::write_identities(
        path, {.context = {{"environment", here_}},
               .benchmarks = {},
               .choices = {{plan_.benchmarks.front().name(), {{"down_proj", "candidate 3"}}}},
               .failures = {}});
    EXPECT_EQ(pin_choices(plan_, {path}, here_, false), path);
    EXPECT_THAT(plan_.benchmarks[0].pinned_choices.choices,
                ElementsAre(Pair("down_proj", "candidate 3")));
    EXPECT_FALSE(pin_choices(plan_, {path}, {{"device", "NVIDIA A100"}}, false));
  }
}

TEST_F(PinnedChoicesTest, AreAsFirmAsAskedFor) {
  const auto ours = baseline("NVIDIA H200", {{"down_proj", "candidate 2"}});
  for (const bool strictly : {true, false}) {
    pin_choices(plan_, {ours}, here_, strictly);
    EXPECT_EQ(plan_.benchmarks[0].pinned_choices.required, strictly);
  }
}

TEST_F(PinnedChoicesTest, AreNoneWhereNoRunHasAny) {
  EXPECT_FALSE(pin_choices(plan_, {}, here_, false));
  EXPECT_FALSE(pin_choices(plan_, {baseline("NVIDIA A100", {{"down_proj", "x"}})}, here_, false));
  EXPECT_FALSE(pin_choices(plan_, {baseline("NVIDIA H200", {})}, here_, false));
  EXPECT_THAT(plan_.benchmarks[0].pinned_choices.choices, IsEmpty());
}

TEST_F(PinnedChoicesTest, NameTheFileThatCannotBeRead) {
  const auto broken = folder_.write("broken.json", "{");
  EXPECT_THAT([&] { pin_choices(plan_, {broken}, here_, false); },
              testing::ThrowsMessage<baselines::InputError>(testing::HasSubstr("broken.json")));
}

}  // namespace
}  // namespace fusegate::bench
