#include "bench/plan/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "baselines/io/error.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

// A value in the file, and where it stands there.
class Node {
 public:
  Node(const json& value, const std::string& source, std::string path)
      : value_(value), source_(source), path_(std::move(path)) {}

  [[noreturn]] void fail(std::string_view problem) const {
    throw baselines::InputError(source_, path_, problem);
  }

  bool has(const std::string& key) const { return value_.contains(key); }
  Node at(const std::string& key) const {
    if (!has(key)) Node(value_, source_, child(key)).fail("is missing");
    return {value_.at(key), source_, child(key)};
  }

  void expect_object(std::initializer_list<std::string_view> keys) const {
    if (!value_.is_object()) fail("must be an object");
    for (const auto& [key, unused] : value_.items()) {
      if (std::ranges::find(keys, key) == keys.end()) {
        Node(value_, source_, child(key))
            .fail(fmt::format("unknown key; known: {}", fmt::join(keys, ", ")));
      }
    }
  }

  std::vector<std::pair<std::string, Node>> members() const {
    if (!value_.is_object()) fail("must be an object");
    std::vector<std::pair<std::string, Node>> members;
    for (const auto& [key, value] : value_.items()) {
      members.emplace_back(key, Node(value, source_, child(key)));
    }
    return members;
  }

  std::vector<Node> elements() const {
    if (!value_.is_array() || value_.empty()) fail("must be a list with at least one element");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      nodes.emplace_back(value_[i], source_, fmt::format("{}[{}]", path_, i));
    }
    return nodes;
  }

  std::string string() const {
    if (!value_.is_string()) fail("must be a string");
    return value_.get<std::string>();
  }

  std::int64_t integer(std::int64_t low, std::int64_t high) const {
    const bool fits = value_.is_number_integer() &&
                      value_.get<double>() >= static_cast<double>(low) &&
                      value_.get<double>() <= static_cast<double>(high);
    if (!fits) fail(fmt::format("must be a whole number from {} to {}", low, high));
    return value_.get<std::int64_t>();
  }

  double fraction() const {
    if (!value_.is_number() || value_.get<double>() <= 0 || value_.get<double>() >= 1) {
      fail("must be a number between 0 and 1");
    }
    return value_.get<double>();
  }

 private:
  std::string child(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }

  const json& value_;
  const std::string& source_;
  std::string path_;
};

std::vector<std::int64_t> parse_axis(const Node& sweep, const std::string& name) {
  std::vector<std::int64_t> values;
  for (const Node& node : sweep.at(name).elements())
    values.push_back(node.integer(1, kLargestAxis));
  return values;
}

// known: every name there is.
std::vector<std::string> parse_names(const Node& sweep, const std::string& key,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> names;
  if (!sweep.has(key)) return names;
  for (const Node& node : sweep.at(key).elements()) {
    names.push_back(node.string());
    if (std::ranges::find(known, names.back()) == known.end()) {
      node.fail(fmt::format("unknown name '{}'; known: {}", names.back(), fmt::join(known, ", ")));
    }
  }
  return names;
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const kernels::Operation& operation : kernels::operations()) names.push_back(operation.name);
  return names;
}

std::vector<std::string> implementation_names() {
  return {kernels::kImplementationNames.begin(), kernels::kImplementationNames.end()};
}

Sweep parse_sweep(const Node& node) {
  node.expect_object({"operations", "implementations", "batch", "seq", "dim", "hidden", "dtype"});
  Sweep sweep{.operations = parse_names(node, "operations", operation_names()),
              .implementations = parse_names(node, "implementations", implementation_names()),
              .batch = parse_axis(node, "batch"),
              .seq = parse_axis(node, "seq"),
              .dim = parse_axis(node, "dim"),
              .hidden = parse_axis(node, "hidden"),
              .dtype = {}};
  for (const Node& dtype : node.at("dtype").elements()) {
    const auto parsed = kernels::parse_dtype(dtype.string());
    if (!parsed)
      dtype.fail(fmt::format("unknown dtype '{}'; known: bf16, fp16, fp32", dtype.string()));
    sweep.dtype.push_back(*parsed);
  }
  return sweep;
}

// The one of the values that the string names.
template <typename T>
T parse_choice(const Node& node, std::string_view (*name)(T), std::initializer_list<T> values) {
  const std::string text = node.string();
  std::vector<std::string> known;
  for (const T value : values) {
    if (name(value) == text) return value;
    known.push_back(fmt::format("\"{}\"", name(value)));
  }
  node.fail(fmt::format("must be {}", fmt::join(known, " or ")));
}

void parse_lengths(const Node& node, Protocol& protocol) {
  using std::chrono::microseconds, std::chrono::milliseconds;
  constexpr std::int64_t kMinute = 60'000'000, kMinuteMs = 60'000;
  constexpr std::int64_t kLongestSpin = 1'000'000;
  const auto set = [&](const char* key, std::int64_t low, std::int64_t high, auto&& store) {
    if (node.has(key)) store(node.at(key).integer(low, high));
  };
  set("samples", 1, 100'000, [&](std::int64_t n) { protocol.samples = static_cast<int>(n); });
  set("places", 1, 1000, [&](std::int64_t n) { protocol.places = static_cast<int>(n); });
  set("batch_us", 1, kMinute, [&](std::int64_t n) { protocol.batch = microseconds(n); });
  set("idle_us", 0, kMinute, [&](std::int64_t n) { protocol.idle = microseconds(n); });
  set("warm_ms", 0, kMinuteMs, [&](std::int64_t n) { protocol.warm = milliseconds(n); });
  set("spin_us", 0, kLongestSpin, [&](std::int64_t n) { protocol.spin = microseconds(n); });
}

Protocol parse_protocol(const Node& node) {
  node.expect_object({"regime", "samples", "batch_us", "idle_us", "places", "order", "warm_ms",
                      "spin_us", "l2", "layout"});
  Regime regime = Regime::kBurst;
  if (node.has("regime")) {
    regime = parse_choice(node.at("regime"), &regime_name, {Regime::kBurst, Regime::kSustained});
  }
  Protocol protocol = protocol_of(regime);
  parse_lengths(node, protocol);
  if (node.has("order")) {
    protocol.order =
        parse_choice(node.at("order"), &order_name, {Order::kInterleaved, Order::kContiguous});
  }
  if (node.has("l2")) {
    protocol.l2 = parse_choice(node.at("l2"), &l2_state_name, {L2State::kWarm, L2State::kFlushed});
  }
  if (node.has("layout")) {
    protocol.layout =
        parse_choice(node.at("layout"), &layout_name, {Layout::kNumbered, Layout::kDriver});
  }
  protocol.places = std::min(protocol.places, protocol.samples);
  return protocol;
}

std::vector<std::string> suites_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

Suite parse_suite(const json& parsed, const std::string& source) {
  const Node root(parsed, source, "");
  root.expect_object({"name", "protocol", "gate", "sweeps"});
  Suite suite;
  suite.name = root.at("name").string();
  if (suite.name.empty() || suite.name.find('/') != std::string::npos) {
    root.at("name").fail("must be a file's name");  // it names the baseline's file
  }
  if (root.has("protocol")) suite.protocol = parse_protocol(root.at("protocol"));
  if (root.has("gate")) {
    for (const auto& [kind, gate] : root.at("gate").members()) {
      gate.expect_object({"min_effect"});
      suite.min_effect[kind] = gate.at("min_effect").fraction();
    }
  }
  for (const Node& sweep : root.at("sweeps").elements()) suite.sweeps.push_back(parse_sweep(sweep));
  return suite;
}

std::filesystem::path suite_path(const std::string& name, const std::filesystem::path& folder) {
  const std::filesystem::path path = std::filesystem::path(name).extension() == ".json"
                                         ? std::filesystem::path(name)
                                         : folder / (name + ".json");
  if (!std::filesystem::exists(path)) {
    throw baselines::InputError(name, "",
                                fmt::format("no such suite; there are {}, or name a .json file",
                                            fmt::join(suites_in(folder), ", ")));
  }
  return path;
}

}  // namespace fusegate::bench
