#include "baselines/record/warning.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

constexpr Warning kLastWarning = Warning::kDebugLibrary;

TEST(Warning, EveryWarningHasItsOwnNameAndSentence) {
  std::set<std::string_view> names;
  std::set<std::string_view> sentences;
  for (int i = 0; i <= static_cast<int>(kLastWarning); ++i) {
    const Warning warning = static_cast<Warning>(i);
    names.insert(warning_name(warning));
    sentences.insert(warning_sentence(warning));
    EXPECT_EQ(parse_warning(warning_name(warning)), warning);
    EXPECT_TRUE(warning_sentence(warning).ends_with('.'));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLastWarning) + 1);
  EXPECT_EQ(sentences.size(), names.size());
}

TEST(Warning, NamesInFilesStayAsTheyAre) {
  EXPECT_EQ(warning_name(Warning::kThrottled), "throttled");
  EXPECT_EQ(warning_name(Warning::kOtherGpuProcess), "other_gpu_process");
  EXPECT_EQ(parse_warning("nvml_missing"), Warning::kNvmlMissing);
}

TEST(Warning, UnknownNamesAreNoWarning) {
  EXPECT_FALSE(parse_warning("").has_value());
  EXPECT_FALSE(parse_warning("Throttled").has_value());
}

TEST(Warning, AreReadFromAnArrayOfNames) {
  const auto read = [](const nlohmann::json& owner) {
    return read_warnings(JsonField(owner, "f.json", ""));
  };
  const std::vector both{Warning::kUnsteady, Warning::kThrottled};
  const nlohmann::json names{"unsteady", "throttled", "unsteady"};
  EXPECT_EQ(read({{"warnings", names}}), both);
  EXPECT_EQ(read({{"doubts", names}}), both) << "in files that were written before";
  EXPECT_TRUE(read(nlohmann::json::object()).empty());
  EXPECT_THROW(read({{"warnings", {"unsteady", 1}}}), InputError);
}

TEST(Warning, AddingKeepsEachOnceAndInOrder) {
  std::vector<Warning> warnings{Warning::kUnsteady};
  add_warnings(warnings, {Warning::kThrottled, Warning::kUnsteady, Warning::kThrottled});
  EXPECT_EQ(warnings, (std::vector{Warning::kUnsteady, Warning::kThrottled}));
}

}  // namespace
}  // namespace fusegate::baselines
