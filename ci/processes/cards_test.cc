#include "ci/processes/cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kList = R"(GPU 0: NVIDIA H200 (UUID: GPU-11111111-2222-3333-4444-555555555555)
GPU 1: NVIDIA H200 (UUID: GPU-11999999-2222-3333-4444-555555555555)
)";
constexpr const char* kBuses = R"(GPU-11111111-2222-3333-4444-555555555555, 00000000:4E:00.0
GPU-11999999-2222-3333-4444-555555555555, 00000000:CB:00.0
)";
constexpr const char* kSliced = R"(GPU 0: NVIDIA H100 (UUID: GPU-aaaa)
  MIG 3g.40gb     Device  0: (UUID: MIG-bbbb)
  MIG 3g.40gb     Device  1: (UUID: MIG-cccc)
GPU 1: NVIDIA H100 (UUID: GPU-dddd)
)";

std::vector<std::string> labels(const std::vector<Card>& cards) {
  std::vector<std::string> result;
  for (const Card& card : cards) result.push_back(card.label);
  return result;
}

std::vector<std::string> chosen(std::string_view asked, const char* list = kList,
                                const char* visible = nullptr) {
  return labels(chosen_cards(asked, parse_cards(list, kBuses), visible));
}

std::string problem_of_choice(std::string_view asked, const char* list = kList) try {
  chosen(asked, list);
  return "none";
} catch (const baselines::InputError& error) {
  return error.what();
}

TEST(CardsTest, AreReadWithTheirBusesAndSlices) {
  const std::vector<Card> cards = parse_cards(kList, kBuses);
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[1].uuid, "GPU-11999999-2222-3333-4444-555555555555");
  EXPECT_EQ(cards[1].model, "NVIDIA H200");
  EXPECT_EQ(cards[1].bus_id, "00000000:CB:00.0");
  const std::vector<Card> sliced = parse_cards(kSliced, "GPU-aaaa, 00000000:4E:00.0");
  EXPECT_THAT(labels(sliced), ElementsAre("0:0", "0:1", "1"));
  EXPECT_EQ(sliced[1].uuid, "MIG-cccc");
  EXPECT_EQ(sliced[1].model, "NVIDIA H100 MIG 3g.40gb");
  EXPECT_EQ(sliced[1].bus_id, "00000000:4E:00.0");
  EXPECT_TRUE(parse_cards("NVIDIA-SMI has failed", "").empty());
}

TEST(CardsTest, AreChosenByNumberAndUuid) {
  EXPECT_THAT(chosen("all"), ElementsAre("0", "1"));
  EXPECT_THAT(chosen("1, 0"), ElementsAre("1", "0"));
  EXPECT_THAT(chosen("GPU-119"), ElementsAre("1"));
  EXPECT_THAT(chosen("0", kSliced), ElementsAre("0:0", "0:1"));
  EXPECT_THAT(chosen("MIG-cccc,0:0", kSliced), ElementsAre("0:1", "0:0"));
}

TEST(CardsTest, AllAreThoseThatTheEnvironmentShows) {
  EXPECT_THAT(chosen("all", kList, "1"), ElementsAre("1"));
  EXPECT_THAT(chosen("0", kList, "1"), ElementsAre("0")) << "asked for by number";
}

TEST(CardsTest, RefusesWhatIsNoCardTwiceAndOfAnotherModel) {
  EXPECT_THAT(problem_of_choice("7"),
              HasSubstr("--gpus: \"7\" is no GPU; nvidia-smi -L lists 0, 1"));
  EXPECT_THAT(problem_of_choice("GPU-11"), HasSubstr("the beginning of 2 UUIDs"));
  EXPECT_THAT(problem_of_choice("0,GPU-11111111"), HasSubstr("GPU 0 is given twice"));
  EXPECT_THAT(problem_of_choice(","), HasSubstr("names no GPU"));
  EXPECT_THAT(problem_of_choice("all", ""), HasSubstr("lists no GPU here"));
  EXPECT_THAT(problem_of_choice("all", kSliced),
              AllOf(HasSubstr("GPU 0:0 is an NVIDIA H100 MIG 3g.40gb"), HasSubstr("GPU 1 an")));
}

}  // namespace
}  // namespace fusegate::ci
