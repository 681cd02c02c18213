#include "baselines/io/json_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "baselines/io/error.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using simdjson::ondemand::value;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::string& text, const std::function<void(value)>& read) {
  try {
    walk_json(text, "f.json", [&](auto& document) { read(document.get_value()); });
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_same_as_nlohmann(const std::string& text) {
  json taken;
  const std::string error = error_of(text, [&](value from) { taken = tree_of(from); });
  ASSERT_EQ(error.empty(), json::accept(text)) << text << error;
  EXPECT_EQ(error_of(text, check_json), error) << text;
  if (error.empty()) {
    EXPECT_EQ(taken, json::parse(text)) << text;
  }
}

const std::string kSample =
    "\xEF\xBB\xBF{\"a\": [1, -2, 0, -0, 1.5e3, 2E-2, 18446744073709551615, 1e-400, -1.25],\r\n"
    "\t\"b\\n\": {\"\": null, \"t\": true, \"f\": false}, \"c\": [[], {}, [{}]], "
    "\"d\": \"\\u00e9\\\"\\\\ \xC3\xA9 \\ud83d\\ude00\", \"big\": 123456789012345678901234567890} "
    " ";

TEST(JsonWalk, AcceptsWhatNlohmannAccepts) {
  for (const std::string text : {"[1]", " \n[ ] ", "{}", "[\"\"]", "[null]", "[-1]", "[0.5]",
                                 "[1,[2,[3]]]", "{\"a\":{\"b\":1}}", "[-9223372036854775808]",
                                 "[-9223372036854775809]", "[18446744073709551616]", "[1E+2]"}) {
    expect_same_as_nlohmann(text);
  }
  expect_same_as_nlohmann(kSample);
}

TEST(JsonWalk, RefusesWhatNlohmannRefuses) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\":1,}", "{,}", "[,1]", "[1 2]", "{\"a\" 1}", "{1:2}", "[\"a]",
        "[1] 2", "{}]", "[}", "{\"a\":}", "[// x\n1]", "[1][2]", "[1],"}) {
    expect_same_as_nlohmann(text);
  }
  for (const std::string scalar :
       {"01",          "+1",     "1.",       ".5",    "1e",    "1e+",     "--1",
        "NaN",         "-NaN",   "Infinity", "nul",   "truee", "\"\\x\"", "\"\\u12\"",
        "\"\\ud800\"", "\"\t\"", "\"\xFF\"", "1e400", "'a'",   "nulll"}) {
    expect_same_as_nlohmann("[" + scalar + "]");
    expect_same_as_nlohmann("{\"a\": " + scalar + "}");
  }
}

TEST(JsonWalk, NamesWhereTheTextBreaks) {
  const auto error = [](const std::string& text) { return error_of(text, check_json); };
  EXPECT_EQ(error(" "), "f.json: the file is empty");
  EXPECT_THAT(error("{\"a\": [1,\n{\"b\": 2, \"c\": nan}]}"),
              StartsWith("f.json: a[1].c: not valid JSON: line 2, column 16: "));
  EXPECT_THAT(error(std::string("[1]\0", 4)), HasSubstr("it contains a NUL byte"));
  EXPECT_THAT(error(std::string("\0", 1)), HasSubstr("not valid JSON"));
}

TEST(JsonWalk, AgreesOnEveryTruncation) {
  for (std::size_t length = 0; length < kSample.size(); ++length) {
    expect_same_as_nlohmann(kSample.substr(0, length));
  }
}

TEST(JsonWalk, AgreesOnMutations) {
  std::mt19937 random(5);
  const std::string alphabet = "{}[]\",:\\ 0123456789.eE+-truefalsn\x80\xC3\x01";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kSample;
    for (int change = 0; change < 2; ++change) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1);
          break;
      }
    }
    expect_same_as_nlohmann(text);
  }
}

TEST(JsonWalk, NamesTheFileThatIsTooMuchForTheMemory) {
  const auto out_of_memory = [](auto&) { throw std::bad_alloc(); };
  EXPECT_THAT(
      [&] { walk_json("{}", "large.json", out_of_memory); },
      testing::ThrowsMessage<InputError>(HasSubstr("large.json: not enough memory to read it")));
}

TEST(JsonWalk, DeepNestingDoesNotOverflowTheStack) {
  constexpr int kDepth = 2'000'000;
  const std::string open(kDepth, '[');
  EXPECT_EQ(error_of(open + std::string(kDepth, ']'), check_json), "");
  EXPECT_THAT(error_of(open, check_json), HasSubstr("is nested more than 200 levels deep"));
  EXPECT_THAT(error_of(open + std::string(kDepth, ']'), tree_of),
              HasSubstr("is nested more than 200 levels deep"));
}

TEST(JsonWalk, LimitsTheValuesOfATree) {
  std::string text = "[0";
  for (std::size_t i = 0; i < kMostValuesOfTree; ++i) text += ",0";
  text += ']';
  EXPECT_EQ(error_of(text, check_json), "");
  EXPECT_EQ(error_of(text, tree_of), "f.json: has more than 10000000 values");
}

}  // namespace
}  // namespace fusegate::baselines
