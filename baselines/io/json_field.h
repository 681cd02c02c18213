// A JSON value with its file and path, which an InputError for a wrong type names.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusegate::baselines {

// What a tree may be. Files of ours nest to a dozen; a copy or a comparison of a tree takes a frame
// of the stack a level, with sanitizers 10 kB. A value of two characters may take 200 bytes in a
// tree. The largest tree that we write, identities of 10,000 benchmarks, has two million.
inline constexpr std::size_t kDeepestTree = 200;
inline constexpr std::size_t kMostValuesOfTree = 10'000'000;

// The tree of a whole text. Throws InputError with field, line and column where it is no JSON, and
// where it would be deeper or larger than that.
nlohmann::json parse_json(std::string_view text, const std::string& source);
// For a text that a parser refused: throws that InputError. Gives the parser's reason where the
// text is JSON all the same (too large, say).
[[noreturn]] void throw_syntax_error(std::string_view text, const std::string& source,
                                     std::string_view reason);
[[noreturn]] void fail_for_values(const std::string& source);

// Throws InputError in place of std::bad_alloc, naming the file.
[[noreturn]] void fail_for_memory(const std::string& source);

// Refers to the value and does not own it.
class JsonField {
 public:
  JsonField(const nlohmann::json& value, std::string source, std::string path);

  // Of an object. find() has no value where the member is absent or null; at() throws.
  std::optional<JsonField> find(std::string_view key) const;
  JsonField at(std::string_view key) const;
  std::vector<std::pair<std::string, JsonField>> members() const;
  // Of an array.
  std::vector<JsonField> elements() const;

  bool boolean() const;
  int integer() const;
  double number() const;
  double positive_number() const;
  double number_from_zero() const;  // zero or above
  std::string text() const;
  // The text of a member, empty where there is none.
  std::string text_or_empty(std::string_view key) const;

  const nlohmann::json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(std::string_view problem) const;
  // The same of a member of an object, which may be missing.
  [[noreturn]] void fail_member(std::string_view key, std::string_view problem) const;

 private:
  JsonField member(std::string_view key, const nlohmann::json& value) const;

  const nlohmann::json* value_;
  std::string source_;
  std::string path_;
};

}  // namespace fusegate::baselines
