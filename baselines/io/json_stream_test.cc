#include "baselines/io/json_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "baselines/io/json_tree_builder.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

// Builds the whole tree, so that it can be compared with nlohmann's own.
class TreeHandler {
 public:
  json take() { return root_.at(0); }

  TreeHandler() { tree_.begin(root_, json::array()); }
  void null() { tree_.add(nullptr); }
  void boolean(bool value) { tree_.add(value); }
  void number_integer(std::int64_t value) { tree_.add(value); }
  void number_unsigned(std::uint64_t value) { tree_.add(value); }
  void number_float(double value, std::string_view) { tree_.add(value); }
  void string(const std::string& value) { tree_.add(value); }
  void key(const std::string& value) { tree_.key(value); }
  void start_object(std::size_t) { tree_.start(json::object()); }
  void start_array(std::size_t) { tree_.start(json::array()); }
  void end_object() { tree_.end(); }
  void end_array() { tree_.end(); }

 private:
  json root_;
  JsonTreeBuilder tree_;
};

struct Ignore {
  void null() {}
  void boolean(bool) {}
  void number_integer(std::int64_t) {}
  void number_unsigned(std::uint64_t) {}
  void number_float(double, std::string_view) {}
  void string(const std::string&) {}
  void key(const std::string&) {}
  void start_object(std::size_t) {}
  void start_array(std::size_t) {}
  void end_object() {}
  void end_array() {}
};

void expect_same_as_nlohmann(const std::string& text) {
  TreeHandler handler;
  const bool accepted = JsonStream(text, handler).parse();
  ASSERT_EQ(accepted, json::accept(text)) << text;
  if (accepted) {
    EXPECT_EQ(handler.take(), json::parse(text)) << text;
  }
}

const std::string kSample =
    "\xEF\xBB\xBF{\"a\": [1, -2, 0, -0, 1.5e3, 2E-2, 18446744073709551615, 1e-400, -1.25],\r\n"
    "\t\"b\\n\": {\"\": null, \"t\": true, \"f\": false}, \"c\": [[], {}, [{}]], "
    "\"d\": \"\\u00e9\\\"\\\\ \xC3\xA9 \\ud83d\\ude00\", \"big\": 123456789012345678901234567890} "
    " ";

TEST(JsonStream, AcceptsWhatNlohmannAccepts) {
  for (const std::string text :
       {"1", " \n[ ] ", "{}", "\"\"", "null", "-1", "0.5", "[1,[2,[3]]]", "{\"a\":{\"b\":1}}",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1E+2"}) {
    expect_same_as_nlohmann(text);
  }
  expect_same_as_nlohmann(kSample);
}

TEST(JsonStream, RefusesWhatNlohmannRefuses) {
  for (const std::string text :
       {"",          " ",           "{",      "[1,]",     "{\"a\":1,}", "{,}",   "[,1]", "01",
        "+1",        "1.",          ".5",     "1e",       "1e+",        "--1",   "NaN",  "-NaN",
        "Infinity",  "nul",         "truee",  "[1 2]",    "{\"a\" 1}",  "{1:2}", "\"a",  "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"", "\"\t\"", "\"\xFF\"", "1 2",        "{}]",   "[}",   "1e400",
        "\"\\",      "{\"a\":}",    "'a'",    "// x\n1"}) {
    expect_same_as_nlohmann(text);
  }
}

TEST(JsonStream, RefusesNulWhichNlohmannTakesForTheEnd) {
  Ignore handler;
  EXPECT_FALSE(JsonStream(std::string_view("1\0", 2), handler).parse());
  EXPECT_FALSE(JsonStream(std::string_view("\0", 1), handler).parse());
}

TEST(JsonStream, AgreesOnEveryTruncation) {
  for (std::size_t length = 0; length < kSample.size(); ++length) {
    expect_same_as_nlohmann(kSample.substr(0, length));
  }
}

TEST(JsonStream, AgreesOnMutations) {
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

TEST(JsonStream, DeepNestingDoesNotOverflowTheStack) {
  constexpr int kDepth = 2'000'000;
  Ignore handler;
  EXPECT_TRUE(JsonStream(std::string(kDepth, '[') + std::string(kDepth, ']'), handler).parse());
  EXPECT_FALSE(JsonStream(std::string(kDepth, '['), handler).parse());
}

}  // namespace
}  // namespace fusegate::baselines
