#include "baselines/launches/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

TraceExpectation one_of_two_met() {
  return {{{"gate_proj", "1 GEMM", "nvjet_a", true}, {"gelu", "1 gelu", "nothing", false}}};
}

TraceExpectation parse_expected(const json& value) {
  return parse_expectation(JsonField(value, "1.json", "expectation"));
}

TEST(TraceExpectation, IsMetWhereEveryPartIs) {
  EXPECT_FALSE(one_of_two_met().met());
  EXPECT_TRUE(TraceExpectation({{{"gelu", "1 gelu", "gelu", true}}}).met());
}

TEST(TraceExpectation, IsReadAsItWasWritten) {
  const json written = expectation_json(one_of_two_met());
  EXPECT_EQ(written.at("met"), false);
  EXPECT_EQ(expectation_json(parse_expected(written)), written);
}

TEST(TraceExpectation, NamesWhatIsWrong) {
  json wrong = expectation_json(one_of_two_met());
  wrong["met"] = true;
  EXPECT_THAT([&] { parse_expected(wrong); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("expectation.met")));
  wrong = expectation_json(one_of_two_met());
  wrong["parts"][1].erase("seen");
  EXPECT_THAT([&] { parse_expected(wrong); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("parts[1].seen")));
}

TEST(TraceExpectation, ShowsBothSidesOfWhatIsNotMet) {
  EXPECT_THAT(unmet_lines(one_of_two_met()),
              testing::ElementsAre("gelu: expected 1 gelu, seen nothing"));
}

}  // namespace
}  // namespace fusegate::baselines
