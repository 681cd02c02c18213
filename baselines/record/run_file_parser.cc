#include "baselines/record/run_file_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <variant>

#include "baselines/io/error.h"
#include "baselines/io/json_walk.h"
#include "baselines/record/entry_key.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

// Written by fusegate's programs. Google Benchmark's other keys may hold texts ("label").
constexpr std::array<std::string_view, 7> kOwnCounters{
    kClockCounter,       "flops",   "min_bytes",    "kernel_launches",
    "memory_operations", "host_ns", "host_graph_ns"};

constexpr const char* kTwice = "occurs twice";

class RunTextReader {
 public:
  RunTextReader(const std::string& source, const EntryCallback& on_entry)
      : source_(source), on_entry_(on_entry) {}

  void read(simdjson::ondemand::document& document) {
    if (document.type() != json_type::object)
      throw InputError(source_, "", "must be a JSON object");
    for (auto member : document.get_object()) {
      const std::string_view key = key_of(member);
      if (key == "context") {
        context_ = tree(member.value(), key);
      } else if (key == "benchmarks") {
        read_benchmarks(member.value());
      } else {
        check_json(member.value());
      }
    }
    if (!saw_benchmarks_) {
      throw InputError(source_, "benchmarks",
                       context_.is_null()
                           ? "is missing: not a file of Google Benchmark, and not of nvbench "
                             "(\"meta\"), pytest-benchmark (\"machine_info\") or fusegate either"
                           : "is missing");
    }
  }

  json take_context() { return std::move(context_); }

 private:
  [[noreturn]] void fail(std::string_view problem) const {
    throw InputError(source_, fmt::format("{}.{}", entry_.path(), key_), problem);
  }

  json tree(value from, std::string_view path) const {
    if (from.type() != json_type::object) throw InputError(source_, path, "must be an object");
    return tree_of(from);
  }

  void read_benchmarks(value benchmarks) {
    if (benchmarks.type() != json_type::array) {
      throw InputError(source_, "benchmarks", "must be an array");
    }
    if (saw_benchmarks_) throw InputError(source_, "benchmarks", kTwice);
    saw_benchmarks_ = true;
    for (value entry : benchmarks.get_array()) {
      if (entry.type() != json_type::object) {
        throw InputError(source_, entry_.path(), "must be an object");
      }
      read_entry(entry.get_object());
    }
  }

  void read_entry(simdjson::ondemand::object entry) {
    std::size_t position = 0;
    for (auto member : entry) {
      key_ = key_of(member);
      read_field(key_order_.find(position++, key_), member.value());
    }
    on_entry_(entry_);
    const std::size_t next = entry_.index + 1;
    entry_.clear();
    entry_.index = next;
  }

  void read_field(const EntryKey& key, value field) {
    std::visit([&](const auto& kind) { read(kind, field); }, key);
  }
  void read(const TextKey& key, value field) { set(entry_.*key.member, field); }
  void read(const IndexKey& key, value field) { set(entry_.*key.member, field); }
  void read(const FlagKey& key, value field) { set(entry_.*key.member, field); }
  void read(IgnoredKey, value field) { check_json(field); }

  void read(const MeasureKey& key, value field) {
    if (field.type() == json_type::number) return set(entry_.*key.member, field);
    add_bad_value("must be a number");
    check_json(field);
  }

  void read(DetailsKey, value field) {
    if (field.type() == json_type::null) return check_json(field);
    if (!entry_.details.is_null()) fail(kTwice);
    entry_.details = tree(field, entry_.path() + ".details");
  }

  void read(CounterKey, value field) {
    const json_type type = field.type();
    if (type == json_type::number) return add_counter(field.get_double());
    // A counter of ours must not vanish as other programs' texts do: verdicts need the clock.
    if (type != json_type::null && is_own_counter(key_)) add_bad_value("must be a number");
    check_json(field);
  }

  void add_counter(double value) {
    if (value < 0 && is_own_counter(key_)) {
      return add_bad_value(fmt::format("must not be negative, but is {}", value));
    }
    // Entries of a file have the same few counters.
    const auto [last, is_new] = last_entry_with_.try_emplace(key_, entry_.index);
    if (!is_new && std::exchange(last->second, entry_.index) == entry_.index) fail(kTwice);
    entry_.counters.emplace_back(key_, value);
  }

  // A bad value costs the benchmark and not the file.
  void add_bad_value(std::string_view problem) {
    if (entry_.bad_value.empty()) entry_.bad_value = fmt::format("{}: {}", key_, problem);
  }

  void set(bool& flag, value field) const {
    if (field.type() != json_type::boolean) fail("must be true or false");
    flag = field.get_bool() || flag;
  }

  void set(std::string& text, value field) const {
    if (field.type() != json_type::string) fail("must be a string");
    if (!text.empty()) fail(kTwice);
    text = text_of(field);
  }
  void set(std::optional<double>& number, value field) const {
    if (field.type() != json_type::number) fail("must be a number");
    if (number) fail(kTwice);
    number = field.get_double();
  }

  const std::string& source_;
  const EntryCallback& on_entry_;
  bool saw_benchmarks_ = false;
  std::string_view key_;  // in the entry
  EntryKeyOrder key_order_;
  std::unordered_map<std::string_view, std::size_t> last_entry_with_;  // by counter
  RunFileEntry entry_;
  json context_;
};

}  // namespace

bool is_own_counter(std::string_view name) {
  return std::ranges::find(kOwnCounters, name) != kOwnCounters.end();
}

std::string RunFileEntry::path() const { return fmt::format("benchmarks[{}]", index); }

void RunFileEntry::clear() {
  for (std::string* text : {&name, &run_name, &run_type, &time_unit, &error_message, &bad_value}) {
    text->clear();
  }
  family_index = per_family_instance_index = repetition_index = iterations = real_time = {};
  failed = skipped = false;
  counters.clear();
  details = nullptr;
}

json parse_run_text(std::string text, const std::string& source, const EntryCallback& on_entry) {
  RunTextReader reader(source, on_entry);
  walk_json(std::move(text), source, [&](auto& document) { reader.read(document); });
  return reader.take_context();
}

}  // namespace fusegate::baselines
