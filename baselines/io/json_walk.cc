#include "baselines/io/json_walk.h"

#include <cstring>
#include <new>

#include "baselines/io/error.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {

using simdjson::ondemand::json_type;

namespace {

// By nlohmann's parser, which takes a million brackets without a recursion.
void check_text(std::string_view text) {
  if (!nlohmann::json::accept(text)) throw simdjson::simdjson_error(simdjson::TAPE_ERROR);
}

nlohmann::json number_of(simdjson::ondemand::value value) {
  std::int64_t integer = 0;
  std::uint64_t large = 0;
  if (!value.get_int64().get(integer)) return integer;
  if (!value.get_uint64().get(large)) return large;
  return value.get_double().value();
}

// Signals to walk_json() that a tree has too many values; simdjson does not use this code for
// documents.
constexpr simdjson::error_code kTooManyValues = simdjson::OUT_OF_BOUNDS;

nlohmann::json tree_below(simdjson::ondemand::value value, std::size_t depth, std::size_t& values) {
  if (depth > kDeepestTree) throw simdjson::simdjson_error(simdjson::DEPTH_ERROR);
  if (++values > kMostValuesOfTree) throw simdjson::simdjson_error(kTooManyValues);
  nlohmann::json tree;
  switch (value.type()) {
    case json_type::object:
      tree = nlohmann::json::object();
      for (auto member : value.get_object()) {
        std::string key(key_of(member));
        tree[std::move(key)] = tree_below(member.value(), depth + 1, values);
      }
      return tree;
    case json_type::array:
      tree = nlohmann::json::array();
      for (simdjson::ondemand::value element : value.get_array())
        tree.push_back(tree_below(element, depth + 1, values));
      return tree;
    case json_type::number:
      return number_of(value);
    case json_type::string:
      return text_of(value);
    case json_type::boolean:
      return bool(value.get_bool());
    case json_type::null:
      check_json(value);
  }
  return tree;
}

}  // namespace

void walk_json(std::string text, const std::string& source,
               const std::function<void(simdjson::ondemand::document&)>& read) {
  try {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    const std::size_t mark = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // of UTF-8
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document =
        parser.iterate(text.data() + mark, text.size() - mark, text.capacity() - mark);
    read(document);
    // At the end, unless something follows the value.
    if (!document.current_location().error()) throw simdjson::simdjson_error(simdjson::TAPE_ERROR);
  } catch (const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::MEMALLOC) fail_for_memory(source);
    if (error.error() == kTooManyValues) fail_for_values(source);
    throw_syntax_error(text, source, error.what());
  } catch (const nlohmann::json::exception& error) {
    throw_syntax_error(text, source, error.what());
  } catch (const std::bad_alloc&) {
    fail_for_memory(source);
  }
}

std::string_view key_of(simdjson::simdjson_result<simdjson::ondemand::field> field) {
  const char* start = field.key().value().raw();
  // Control characters, NUL too, are no part of a string: simdjson has seen to that.
  const std::string_view plain(start, std::strchr(start, '"'));
  if (plain.find('\\') != plain.npos) return field.unescaped_key();
  return plain;
}

std::string_view text_of(simdjson::ondemand::value value) {
  std::string_view token = value.raw_json_token();  // with the space behind it
  if (token.find('\\') != token.npos) return value.get_string();
  // Takes it: simdjson 3.0.1 passes over a string that nobody took with a colon behind it.
  value.get_raw_json_string().value();
  token.remove_prefix(1);
  return token.substr(0, token.rfind('"'));
}

std::string_view type_name(json_type type) {
  switch (type) {
    case json_type::array:
      return "an array";
    case json_type::object:
      return "an object";
    case json_type::number:
      return "a number";
    case json_type::string:
      return "a string";
    case json_type::boolean:
      return "true or false";
    case json_type::null:
      break;
  }
  return "null";
}

void check_json(simdjson::ondemand::value value) {
  switch (value.type()) {
    case json_type::number:
      value.get_double().value();
      return;
    case json_type::string:
      text_of(value);
      return;
    case json_type::boolean:
      value.get_bool().value();
      return;
    case json_type::null:
      if (!value.is_null()) throw simdjson::simdjson_error(simdjson::N_ATOM_ERROR);
      return;
    case json_type::object:
      return check_text(simdjson::ondemand::object(value.get_object()).raw_json());
    case json_type::array:
      return check_text(simdjson::ondemand::array(value.get_array()).raw_json());
  }
}

nlohmann::json tree_of(simdjson::ondemand::value value) {
  std::size_t values = 0;
  return tree_below(value, 1, values);
}

}  // namespace fusegate::baselines
