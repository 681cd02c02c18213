#include "baselines/launches/identities.h"

#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

TEST(Identities, AreReadBackAsTheyWereWritten) {
  const ScratchFolder folder;
  const auto path = folder.path() / kIdentitiesFile;
  const CallIdentity identity{
      .launches = {{.kernel = "k", .code = "0a", .launch = "grid 1x1x1", .arguments = "1b"}},
      .order = "2c"};
  write_identities(path, {.context = {{"suite", "pr"}},
                          .benchmarks = {{"a/b", identity}, {"c/d", {.unknown = "no CUPTI"}}},
                          .choices = {{"a/b", {{"down_proj", "algo 66"}}}},
                          .counters = {{"a/b", {{"flops", 1.5e9}}}},
                          .failures = {{"e/f", "wrong"}},
                          .load_s = 4.5});
  const Identities read = read_identities(path);
  EXPECT_EQ(read.context.at("suite"), "pr");
  EXPECT_TRUE(identical_code(read.benchmarks.at("a/b"), identity));
  EXPECT_EQ(read.benchmarks.at("c/d").unknown, "no CUPTI");
  EXPECT_EQ(read.choices.at("a/b").at("down_proj"), "algo 66");
  EXPECT_EQ(read.counters.at("a/b").at("flops"), 1.5e9);
  EXPECT_EQ(read.failures.at("e/f"), "wrong");
  EXPECT_EQ(read.load_s, 4.5);
}

TEST(Identities, OfAnEarlierProgramHaveNoCountersAndKnowNoTurns) {
  const char* text = R"({"fusegate_identities": 1, "fusegate": {}, "benchmarks": {},
                          "choices": {}, "failures": {}})";
  EXPECT_TRUE(parse_identities(text, "i.json").counters.empty());
  EXPECT_EQ(parse_identities(text, "i.json").load_s, 0);
}

TEST(Identities, OfALaterVersionOrAnotherFileAreRefused) {
  const ScratchFolder folder;
  const auto path = folder.path() / kIdentitiesFile;
  for (const char* text : {R"({"fusegate_identities": 2})", R"({"benchmarks": {}})", "{"}) {
    write_atomically(path, text);
    EXPECT_THROW(read_identities(path), InputError) << text;
  }
}

}  // namespace
}  // namespace fusegate::baselines
