#include "baselines/io/json_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>

#include "baselines/io/error.h"
#include "baselines/io/printable.h"

namespace fusegate::baselines {

namespace {

using nlohmann::json;

// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..." without
// the parser's own name and number.
std::string problem_of(const json::exception& error) {
  std::string_view problem = error.what();
  if (const auto end = problem.find("] "); end != problem.npos) problem.remove_prefix(end + 2);
  constexpr std::string_view kPrefix = "parse error at ";
  if (problem.starts_with(kPrefix)) problem.remove_prefix(kPrefix.size());
  // It ends in what was read last, which may be a string of any length.
  constexpr std::size_t kLongest = 240;
  return printable_excerpt(problem, kLongest);
}

// Follows a parser through a text, to say in which field it stopped.
class PathFollower {
 public:
  // Takes the parser's callbacks. What is read already is dropped, so that no tree of a large file
  // arises.
  bool operator()(int, json::parse_event_t event, json& value) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        open_.push_back({.is_array = event == json::parse_event_t::array_start});
        return true;
      case json::parse_event_t::key:
        open_.back().key = value.get<std::string>();
        return true;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open_.pop_back();
        break;
      case json::parse_event_t::value:
        break;
    }
    if (!open_.empty()) {
      ++open_.back().elements;
      open_.back().key.clear();
    }
    return false;
  }

  std::string path() const {
    constexpr std::size_t kDeepest = 16;  // a message must stay readable
    std::string path;
    for (std::size_t i = 0; i < std::min(open_.size(), kDeepest); ++i) {
      const Container& container = open_[i];
      if (container.is_array) {
        path += fmt::format("[{}]", container.elements);
      } else if (!container.key.empty()) {
        path += (path.empty() ? "" : ".") + container.key;
      }
    }
    return path;
  }

 private:
  struct Container {
    bool is_array = false;
    std::size_t elements = 0;  // that are complete
    std::string key{};         // of the member that is not
  };
  std::vector<Container> open_;
};

}  // namespace

void fail_for_memory(const std::string& source) {
  throw InputError(source, "", "there is not enough memory to read it");
}

void throw_syntax_error(std::string_view text, const std::string& source, std::string_view reason) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    throw InputError(source, "", "the file is empty");
  }
  PathFollower follower;
  try {
    const json dropped = json::parse(text, std::ref(follower));
  } catch (const json::exception& error) {
    throw InputError(source, follower.path(), fmt::format("no valid JSON: {}", problem_of(error)));
  }
  // nlohmann's parser reads a NUL as the end.
  if (text.find('\0') != text.npos) reason = "there is a NUL byte in it";
  throw InputError(source, "", fmt::format("no valid JSON: {}", reason));
}

json parse_json(std::string_view text, const std::string& source) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw_syntax_error(text, source, problem_of(error));
  } catch (const std::bad_alloc&) {
    fail_for_memory(source);
  }
}

JsonField::JsonField(const nlohmann::json& value, std::string source, std::string path)
    : value_(&value), source_(std::move(source)), path_(std::move(path)) {}

void JsonField::fail_member(std::string_view key, std::string_view problem) const {
  member(key, *value_).fail(problem);
}

void JsonField::fail(std::string_view problem) const { throw InputError(source_, path_, problem); }

JsonField JsonField::member(std::string_view key, const nlohmann::json& value) const {
  return {value, source_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  if (!value_->is_object()) fail("must be an object");
  const auto found = value_->find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return member(key, *found);
}

JsonField JsonField::at(std::string_view key) const {
  const auto found = find(key);
  if (!found) member(key, *value_).fail("is missing");
  return *found;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  if (!value_->is_object()) fail("must be an object");
  std::vector<std::pair<std::string, JsonField>> result;
  for (const auto& [key, value] : value_->items()) result.emplace_back(key, member(key, value));
  return result;
}

std::vector<JsonField> JsonField::elements() const {
  if (!value_->is_array()) fail("must be an array");
  std::vector<JsonField> result;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.emplace_back((*value_)[i], source_, fmt::format("{}[{}]", path_, i));
  }
  return result;
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) fail("must be true or false");
  return value_->get<bool>();
}

int JsonField::integer() const {
  if (!value_->is_number_integer()) fail("must be an integer");
  const double wide = value_->get<double>();
  if (std::abs(wide) > std::numeric_limits<int>::max()) fail("must be an integer below 2^31");
  return value_->get<int>();
}

double JsonField::number() const {
  if (!value_->is_number()) fail("must be a number");
  return value_->get<double>();
}

double JsonField::positive_number() const {
  const double result = number();
  if (!(result > 0)) fail(fmt::format("must be positive, but is {}", result));
  return result;
}

double JsonField::number_from_zero() const {
  const double result = number();
  if (!(result >= 0)) fail(fmt::format("must not be below zero, but is {}", result));
  return result;
}

std::string JsonField::text() const {
  if (!value_->is_string()) fail("must be a string");
  return value_->get<std::string>();
}

std::string JsonField::text_or_empty(std::string_view key) const {
  const auto found = find(key);
  return found ? found->text() : std::string();
}

}  // namespace fusegate::baselines
