#include "baselines/io/json_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

// Follows a parser to find the field where it stopped. Needs no tree, and no memory for 30 MB of
// brackets.
class PathFollower : public nlohmann::json_sax<json> {
 public:
  const std::string& problem() const { return problem_; }

  std::string path() const {
    std::string path;
    for (const Container& container : open_) {
      if (container.is_array) {
        path += fmt::format("[{}]", container.elements);
      } else if (!container.key.empty()) {
        path += (path.empty() ? "" : ".") + container.key;
      }
    }
    return path;
  }

  bool key(string_t& name) override {
    if (is_shown()) open_.back().key = name;
    return true;
  }
  bool start_object(std::size_t) override { return start({}); }
  bool start_array(std::size_t) override { return start({.is_array = true}); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool null() override { return complete(); }
  bool boolean(bool) override { return complete(); }
  bool number_integer(number_integer_t) override { return complete(); }
  bool number_unsigned(number_unsigned_t) override { return complete(); }
  bool number_float(number_float_t, const string_t&) override { return complete(); }
  bool string(string_t&) override { return complete(); }
  bool binary(binary_t&) override { return complete(); }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    problem_ = fmt::format("not valid JSON: {}", problem_of(error));
    return false;
  }

 private:
  struct Container {
    bool is_array = false;
    std::size_t elements = 0;  // that are complete
    std::string key{};         // of the member that is not
  };
  static constexpr std::size_t kMostShown = 16;  // a message must stay readable

  bool is_shown() const { return 0 < depth_ && depth_ <= kMostShown; }
  bool start(Container&& container) {
    if (++depth_ <= kMostShown) open_.push_back(std::move(container));
    if (depth_ <= kDeepestTree) return true;
    problem_ = fmt::format("is nested more than {} levels deep", kDeepestTree);
    return false;
  }
  bool end() {
    if (is_shown()) open_.pop_back();
    --depth_;
    return complete();
  }
  bool complete() {
    if (is_shown()) {
      ++open_.back().elements;
      open_.back().key.clear();
    }
    return true;
  }

  std::size_t depth_ = 0;
  std::vector<Container> open_;
  std::string problem_;
};

// Throws where the text's tree would be too deep or too large. Counts brackets and commas, of any
// text.
void check_tree_size(std::string_view text, const std::string& source) {
  std::size_t depth = 0, values = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        while (++i < text.size() && text[i] != '"') i += text[i] == '\\';
        break;
      case '[':
      case '{':
        ++values;
        if (++depth > kDeepestTree) throw_syntax_error(text, source, "is nested too deep");
        break;
      case ']':
      case '}':
        depth -= depth > 0;
        break;
      case ',':
        ++values;
    }
    if (values > kMostValuesOfTree) fail_for_values(source);
  }
}

// A key in a path, which every member of its object repeats.
std::string shown_key(std::string_view key) {
  constexpr std::size_t kLongest = 100;
  return key.size() <= kLongest ? std::string(key) : printable_excerpt(key, kLongest);
}

}  // namespace

void fail_for_memory(const std::string& source) {
  throw InputError(source, "", "not enough memory to read it");
}

void throw_syntax_error(std::string_view text, const std::string& source, std::string_view reason) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    throw InputError(source, "", "the file is empty");
  }
  PathFollower follower;
  json::sax_parse(text, &follower);
  if (!follower.problem().empty()) throw InputError(source, follower.path(), follower.problem());
  // nlohmann's parser reads a NUL as the end.
  if (text.find('\0') != text.npos) reason = "it contains a NUL byte";
  throw InputError(source, "", fmt::format("not valid JSON: {}", reason));
}

void fail_for_values(const std::string& source) {
  throw InputError(source, "", fmt::format("has more than {} values", kMostValuesOfTree));
}

json parse_json(std::string_view text, const std::string& source) {
  check_tree_size(text, source);
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
  const std::string shown = shown_key(key);
  return {value, source_, path_.empty() ? shown : fmt::format("{}.{}", path_, shown)};
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
  if (!(result >= 0)) fail(fmt::format("must not be negative, but is {}", result));
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
