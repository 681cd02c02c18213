#include "ci/calibrating/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

TEST(ParseVariant, HasANameAndFlags) {
  const Variant variant =
      parse_variant("--variant", " Idle 0 ms:\t--idle-us=0  --order=contiguous ");
  EXPECT_EQ(variant.name, "Idle 0 ms");
  EXPECT_EQ(variant.folder(), "idle-0-ms");
  EXPECT_THAT(variant.flags, ElementsAre("--idle-us=0", "--order=contiguous"));
  EXPECT_THAT(parse_variant("--variant", "default:").flags, IsEmpty());
  EXPECT_THAT(parse_variant("--variant", "a: --benchmark_filter=batch:8").flags,
              ElementsAre("--benchmark_filter=batch:8"));
}

TEST(ParseVariant, SaysWhatIsNone) {
  for (const char* text : {"", "idle", ": --idle-us=0", "--: --idle-us=0"}) {
    EXPECT_THAT([&] { parse_variant("--variant", text); },
                ThrowsMessage<baselines::InputError>(
                    HasSubstr("--variant: \"" + std::string(text) + "\" is no variant such as")));
  }
  EXPECT_THAT([] { parse_variant("--variant", "a: idle-us=0"); },
              ThrowsMessage<baselines::InputError>("--variant: a: \"idle-us=0\" is no flag"));
}

TEST(ReadVariants, PassesOverComments) {
  const baselines::ScratchFolder folder;
  const auto path = folder.write("v.txt", "# protocols\n\n  a: --x=1\r\nb:\n  # more\n");
  const auto variants = read_variants(path);
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].name, "a");
  EXPECT_THAT(variants[0].flags, ElementsAre("--x=1"));
  EXPECT_THAT(variants[1].flags, IsEmpty());
  const auto broken = folder.write("w.txt", "a: --x=1\nnonsense\n");
  EXPECT_THAT(
      [&] { read_variants(broken); },
      ThrowsMessage<baselines::InputError>(HasSubstr("w.txt, line 2: \"nonsense\" is no variant")));
}

TEST(CheckVariants, RefusesNoneAndTwins) {
  EXPECT_THROW(check_variants({}), baselines::InputError);
  EXPECT_THAT(
      [] {
        check_variants({{"Idle 0", {}}, {"idle-0", {}}});
      },
      ThrowsMessage<baselines::InputError>(HasSubstr("idle-0: two variants of that name")));
}

TEST(Experiment, ReadsBack) {
  const baselines::ScratchFolder folder;
  write_experiment(folder.path(), {"pr", {"--x"}, {{"a", {"--y=1"}}, {"b", {}}}});
  const Experiment read = read_experiment(folder.path());
  EXPECT_EQ(read.suite, "pr");
  EXPECT_THAT(read.flags, ElementsAre("--x"));
  ASSERT_EQ(read.variants.size(), 2u);
  EXPECT_THAT(read.variants[0].flags, ElementsAre("--y=1"));
}

TEST(Experiment, NamesFileAndField) {
  const baselines::ScratchFolder folder;
  const auto problem = [&](const std::string& text) {
    folder.write("experiment.json", text);
    try {
      read_experiment(folder.path());
    } catch (const baselines::InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(problem("{}"), HasSubstr("experiment.json: suite: is missing"));
  EXPECT_THAT(problem(R"({"suite":"pr","flags":[1],"variants":[]})"),
              HasSubstr("flags[0]: must be a string"));
  EXPECT_THAT(problem(R"({"suite":"pr","flags":[],"variants":[]})"), HasSubstr("no variant"));
  EXPECT_THAT(problem(R"({"suite":"pr","flags":[],"variants":[{"name":"..","flags":[]}]})"),
              HasSubstr("variants[0].name: is no name"));
}

// What docs/protocol.md tells people to run.
TEST(Experiment, TheListInDocsIsSound) {
  const auto variants = read_variants(FUSEGATE_SOURCE "/docs/protocol-experiment.txt");
  EXPECT_NO_THROW(check_variants(variants));
  EXPECT_THAT(variants.front().flags, IsEmpty());  // the suite's own protocol, for the classes
}

}  // namespace
}  // namespace fusegate::ci
