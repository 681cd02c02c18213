#include "baselines/launches/call_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

CallIdentity two_launches() {
  return {
      .launches = {{.kernel = "ns::gemm", .code = "0a", .launch = "grid 8x1x1", .arguments = "1b"},
                   {.kernel = "memset", .launch = "4096 bytes", .arguments = "2c"}},
      .order = "3d"};
}

TEST(CallIdentity, IsEqualWhateverTheKernelsAreCalled) {
  CallIdentity renamed = two_launches();
  renamed.launches[0].kernel = "other::gemm";
  EXPECT_TRUE(identical_code(two_launches(), renamed));
}

TEST(CallIdentity, DiffersInCodeLaunchArgumentsOrderAndNumber) {
  for (void (*const change)(CallIdentity&) : std::vector<void (*)(CallIdentity&)>{
           [](CallIdentity& i) { i.launches[0].code = "0b"; },
           [](CallIdentity& i) { i.launches[0].launch = "grid 9x1x1"; },
           [](CallIdentity& i) { i.launches[1].arguments = "2d"; },
           [](CallIdentity& i) { i.order = "4d"; },
           [](CallIdentity& i) { i.launches.pop_back(); }}) {
    CallIdentity changed = two_launches();
    change(changed);
    EXPECT_FALSE(identical_code(two_launches(), changed)) << identity_json(changed);
  }
}

TEST(CallIdentity, IsEqualWhateverTheInstructions) {
  CallIdentity counted = two_launches();
  counted.launches[0].instructions = 1204;
  EXPECT_TRUE(identical_code(two_launches(), counted)) << "an older file does not have them";
}

TEST(CallIdentity, IsNeverAssumed) {
  const CallIdentity unknown{.unknown = "no CUPTI"};
  EXPECT_FALSE(identical_code(unknown, unknown));
  EXPECT_FALSE(identical_code(two_launches(), unknown));
  EXPECT_EQ(common_identity({two_launches(), unknown}).unknown, "no CUPTI");
}

TEST(CallIdentity, OfARunIsTheOneThatAllItsProcessesHave) {
  EXPECT_TRUE(identical_code(common_identity({two_launches(), two_launches()}), two_launches()));
  CallIdentity other = two_launches();
  other.launches[0].arguments = "ff";
  EXPECT_EQ(common_identity({two_launches(), other}).unknown, "it differs from process to process");
}

TEST(CallIdentity, ReadsBackWhatItWrites) {
  const nlohmann::json text = identity_json(two_launches());
  const CallIdentity read = parse_identity(JsonField(text, "f.json", "identity"));
  EXPECT_TRUE(identical_code(read, two_launches()));
  EXPECT_EQ(read.launches[0].kernel, "ns::gemm");
  EXPECT_EQ(read.launches[0].instructions, 0);
  EXPECT_FALSE(text["launches"][0].contains("instructions"));
  CallIdentity counted = two_launches();
  counted.launches[0].instructions = 1204;
  const nlohmann::json counted_text = identity_json(counted);
  EXPECT_EQ(parse_identity(JsonField(counted_text, "f.json", "identity")).launches[0].instructions,
            1204);
  const nlohmann::json unknown = identity_json({.unknown = "no CUPTI"});
  EXPECT_EQ(parse_identity(JsonField(unknown, "f.json", "identity")).unknown, "no CUPTI");
}

TEST(CallIdentity, NamesTheFieldThatIsWrong) {
  nlohmann::json text = identity_json(two_launches());
  text["launches"][1]["arguments"] = 3;
  EXPECT_THAT(
      [&] { parse_identity(JsonField(text, "f.json", "identity")); },
      testing::ThrowsMessage<InputError>(testing::HasSubstr("identity.launches[1].arguments")));
}

}  // namespace
}  // namespace fusegate::baselines
