#include "baselines/record/doubt.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

constexpr Doubt kLastDoubt = Doubt::kDebugLibrary;

TEST(Doubt, EveryDoubtHasItsOwnNameAndSentence) {
  std::set<std::string_view> names;
  std::set<std::string_view> sentences;
  for (int i = 0; i <= static_cast<int>(kLastDoubt); ++i) {
    const Doubt doubt = static_cast<Doubt>(i);
    names.insert(doubt_name(doubt));
    sentences.insert(doubt_sentence(doubt));
    EXPECT_EQ(parse_doubt(doubt_name(doubt)), doubt);
    EXPECT_TRUE(doubt_sentence(doubt).ends_with('.'));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLastDoubt) + 1);
  EXPECT_EQ(sentences.size(), names.size());
}

TEST(Doubt, NamesInFilesStayAsTheyAre) {
  EXPECT_EQ(doubt_name(Doubt::kThrottled), "throttled");
  EXPECT_EQ(doubt_name(Doubt::kOtherGpuProcess), "other_gpu_process");
  EXPECT_EQ(parse_doubt("nvml_missing"), Doubt::kNvmlMissing);
}

TEST(Doubt, UnknownNamesAreNoDoubt) {
  EXPECT_FALSE(parse_doubt("").has_value());
  EXPECT_FALSE(parse_doubt("Throttled").has_value());
}

TEST(Doubt, AreReadFromAnArrayOfNames) {
  const nlohmann::json names{"unsteady", "throttled", "unsteady"};
  EXPECT_EQ(read_doubts(JsonField(names, "f.json", "doubts")),
            (std::vector{Doubt::kUnsteady, Doubt::kThrottled}));
  const nlohmann::json wrong{"unsteady", 1};
  EXPECT_THROW(read_doubts(JsonField(wrong, "f.json", "doubts")), InputError);
}

TEST(Doubt, AddingKeepsEachOnceAndInOrder) {
  std::vector<Doubt> doubts{Doubt::kUnsteady};
  add_doubts(doubts, {Doubt::kThrottled, Doubt::kUnsteady, Doubt::kThrottled});
  EXPECT_EQ(doubts, (std::vector{Doubt::kUnsteady, Doubt::kThrottled}));
}

}  // namespace
}  // namespace fusegate::baselines
