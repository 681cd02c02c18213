#include "baselines/record/run_file_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/json_walk.h"
#include "baselines/record/entry_key.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

// What fusegate's own programs write; Google Benchmark's other keys may hold texts ("label").
constexpr std::array<std::string_view, 7> kOwnCounters{
    kClockCounter,       "flops",   "min_bytes",    "kernel_launches",
    "memory_operations", "host_ns", "host_graph_ns"};

// Which of two was meant nobody can say.
constexpr const char* kTwice = "stands there twice";

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
                           ? "is missing; it is known neither as a file of Google Benchmark, which "
                             "has that, nor of nvbench (\"meta\"), of pytest-benchmark "
                             "(\"machine_info\") or of fusegate"
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

  void read_field(EntryKey key, value field) {
    switch (key) {
      case EntryKey::kName:
        return set(entry_.name, field);
      case EntryKey::kRunName:
        return set(entry_.run_name, field);
      case EntryKey::kRunType:
        return set(entry_.run_type, field);
      case EntryKey::kTimeUnit:
        return set(entry_.time_unit, field);
      case EntryKey::kMessage:
        return set(entry_.error_message, field);
      case EntryKey::kFamilyIndex:
        return set(entry_.family_index, field);
      case EntryKey::kInstanceIndex:
        return set(entry_.per_family_instance_index, field);
      case EntryKey::kRepetitionIndex:
        return set(entry_.repetition_index, field);
      case EntryKey::kIterations:
        return measure(entry_.iterations, field);
      case EntryKey::kRealTime:
        return measure(entry_.real_time, field);
      case EntryKey::kFailed:
        return set(entry_.failed, field);
      case EntryKey::kSkipped:
        return set(entry_.skipped, field);
      case EntryKey::kDetails:
        if (field.type() == json_type::null) return check_json(field);
        if (!entry_.details.is_null()) fail(kTwice);
        entry_.details = tree(field, entry_.path() + ".details");
        return;
      case EntryKey::kIgnored:
        return check_json(field);
      case EntryKey::kOther:
        return add_counter(field);
    }
  }

  void add_counter(value field) {
    const json_type type = field.type();
    if (type == json_type::number) {
      const double value = field.get_double();
      if (value < 0 && is_own_counter(key_)) {
        return add_odd_value(fmt::format("must not be below zero, but is {}", value));
      }
      // Entries of a file have the same counters, so that the names are few.
      const auto [last, is_new] = last_entry_with_.try_emplace(key_, entry_.index);
      if (!is_new && std::exchange(last->second, entry_.index) == entry_.index) fail(kTwice);
      entry_.counters.emplace_back(key_, value);
      return;
    }
    // Left out like others' texts, the clock would be missed by a verdict and by nobody else.
    if (type != json_type::null && is_own_counter(key_)) add_odd_value("must be a number");
    check_json(field);
  }

  // One odd value costs its benchmark and not the file.
  void add_odd_value(std::string_view problem) {
    if (entry_.odd_value.empty()) entry_.odd_value = fmt::format("{}: {}", key_, problem);
  }

  void measure(std::optional<double>& number, value field) {
    if (field.type() == json_type::number) return set(number, field);
    add_odd_value("must be a number");
    check_json(field);
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
  for (std::string* text : {&name, &run_name, &run_type, &time_unit, &error_message, &odd_value}) {
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
