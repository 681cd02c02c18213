#include "baselines/record/run_file_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "baselines/io/error.h"
#include "baselines/io/json_field.h"
#include "baselines/io/json_stream.h"
#include "baselines/io/json_tree_builder.h"
#include "baselines/record/entry_key.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

// What fusegate's own programs write; Google Benchmark's other keys may hold texts ("label").
constexpr std::array<std::string_view, 7> kOwnCounters{
    kClockCounter,       "flops",   "min_bytes",    "kernel_launches",
    "memory_operations", "host_ns", "host_graph_ns"};

struct Scalar {
  enum class Type { kNull, kBoolean, kNumber, kString };
  Type type = Type::kNull;
  bool boolean = false;
  double number = 0;
  std::string* text = nullptr;
};

// Takes the events of JsonStream and of nlohmann's parser, which call it by name, without a virtual
// call per token.
class RunTextHandler {
 public:
  RunTextHandler(std::string_view source, const EntryCallback& on_entry)
      : source_(source), on_entry_(on_entry) {}

  bool saw_benchmarks() const { return saw_benchmarks_; }
  json take_context() { return std::move(context_); }

  bool null() { return scalar(nullptr, {}); }
  bool boolean(bool value) { return scalar(value, {Scalar::Type::kBoolean, value, 0, nullptr}); }
  bool number_integer(json::number_integer_t value) { return number(value); }
  bool number_unsigned(json::number_unsigned_t value) { return number(value); }
  bool number_float(json::number_float_t value, std::string_view) { return number(value); }
  bool string(std::string& value) {
    return scalar(value, {Scalar::Type::kString, false, 0, &value});
  }
  bool binary(json::binary_t&) { return true; }  // the text format has none

  bool key(std::string& name) {
    if (tree_.active()) {
      tree_.key(std::move(name));
    } else if (skipping_ == 0) {
      set_key(name);
    }
    return true;
  }
  bool start_object(std::size_t) { return start(json::object(), "an object"); }
  bool start_array(std::size_t) { return start(json::array(), "an array"); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    fail(json_problem(error));
  }

 private:
  enum Depth { kOutside, kInRoot, kInBenchmarks, kInEntry };

  [[noreturn]] void fail(std::string_view problem) const {
    throw InputError(source_, path(), problem);
  }

  std::string path() const {
    if (depth_ <= kInRoot) return depth_ == kInRoot ? root_key_ : "";
    std::string path = fmt::format("benchmarks[{}]", index_);
    if (depth_ == kInEntry && !entry_key_name_.empty()) path += "." + entry_key_name_;
    return path;
  }

  template <typename Number>
  bool number(Number value) {
    return scalar(value, {Scalar::Type::kNumber, false, static_cast<double>(value), nullptr});
  }

  // A template, so that the tree keeps integers as they are and the entry pays for no JSON value.
  template <typename Value>
  bool scalar(const Value& value, const Scalar& plain) {
    if (tree_.active()) {
      tree_.add(value);
    } else if (skipping_ == 0) {
      place(plain);
    }
    return true;
  }

  void set_key(const std::string& name) {
    if (depth_ == kInRoot) {
      root_key_ = name;
    } else {
      entry_key_name_ = name;
      entry_key_ = key_order_.find(key_position_++, name);
    }
  }

  void place(const Scalar& value) {
    switch (depth_) {
      case kOutside:
        fail("must be a JSON object");
      case kInRoot:
        if (root_key_ == "context") fail("must be an object");
        if (root_key_ == "benchmarks") fail("must be an array");
        break;
      case kInBenchmarks:
        fail("must be an object");
      case kInEntry:
        set_field(value);
    }
  }

  void set_field(const Scalar& value) {
    switch (entry_key_) {
      case EntryKey::kName:
        return set(entry_.name, value);
      case EntryKey::kRunName:
        return set(entry_.run_name, value);
      case EntryKey::kRunType:
        return set(entry_.run_type, value);
      case EntryKey::kTimeUnit:
        return set(entry_.time_unit, value);
      case EntryKey::kMessage:
        return set(entry_.error_message, value);
      case EntryKey::kFamilyIndex:
        return set(entry_.family_index, value);
      case EntryKey::kInstanceIndex:
        return set(entry_.per_family_instance_index, value);
      case EntryKey::kRepetitionIndex:
        return set(entry_.repetition_index, value);
      case EntryKey::kIterations:
        return set(entry_.iterations, value);
      case EntryKey::kRealTime:
        return set(entry_.real_time, value);
      case EntryKey::kFailed:
        if (value.type != Scalar::Type::kBoolean) fail("must be true or false");
        entry_.failed = entry_.failed || value.boolean;
        return;
      case EntryKey::kDetails:
        if (value.type != Scalar::Type::kNull) fail("must be an object");
        return;
      case EntryKey::kIgnored:
        return;
      case EntryKey::kOther:
        if (value.type == Scalar::Type::kNumber) {
          entry_.counters.emplace_back(entry_key_name_, value.number);
        } else if (value.type != Scalar::Type::kNull) {
          check_no_own_counter();
        }
    }
  }

  // Left out like others' texts, the clock would be missed by a verdict and by nobody else.
  void check_no_own_counter() const {
    if (std::ranges::find(kOwnCounters, entry_key_name_) != kOwnCounters.end()) {
      fail("must be a number");
    }
  }

  void set(std::string& field, const Scalar& value) const {
    if (value.type != Scalar::Type::kString) fail("must be a string");
    field = *value.text;
  }
  void set(std::optional<double>& field, const Scalar& value) const {
    if (value.type != Scalar::Type::kNumber) fail("must be a number");
    field = value.number;
  }

  bool start(json container, std::string_view type) {
    const bool object = container.is_object();
    if (tree_.active()) {
      tree_.start(std::move(container));
    } else if (skipping_ > 0) {
      ++skipping_;
    } else if (depth_ == kOutside) {
      if (!object) fail("must be a JSON object");
      depth_ = kInRoot;
    } else if (depth_ == kInRoot) {
      start_in_root(std::move(container));
    } else if (depth_ == kInBenchmarks) {
      if (!object) fail("must be an object");
      begin_entry();
    } else {
      start_in_entry(std::move(container), type);
    }
    return true;
  }

  void start_in_root(json container) {
    const bool object = container.is_object();
    if (root_key_ == "context") {
      if (!object) fail("must be an object");
      tree_.begin(context_, std::move(container));
    } else if (root_key_ == "benchmarks") {
      if (object) fail("must be an array");
      if (saw_benchmarks_) fail("stands there twice");
      saw_benchmarks_ = true;
      depth_ = kInBenchmarks;
    } else {
      skipping_ = 1;
    }
  }

  void start_in_entry(json container, std::string_view type) {
    if (entry_key_ == EntryKey::kDetails && container.is_object()) {
      tree_.begin(entry_.details, std::move(container));
    } else if (entry_key_ == EntryKey::kIgnored || entry_key_ == EntryKey::kOther) {
      check_no_own_counter();
      skipping_ = 1;
    } else {
      fail(fmt::format("must not be {}", type));
    }
  }

  void begin_entry() {
    depth_ = kInEntry;
    entry_key_name_.clear();
    key_position_ = 0;
    entry_.clear();
    entry_.index = index_;
  }

  bool end() {
    if (tree_.active()) {
      tree_.end();
    } else if (skipping_ > 0) {
      --skipping_;
    } else if (depth_ == kInEntry) {
      depth_ = kInBenchmarks;
      on_entry_(entry_);
      ++index_;
    } else {
      depth_ = depth_ == kInBenchmarks ? kInRoot : kOutside;
    }
    return true;
  }

  std::string_view source_;
  const EntryCallback& on_entry_;
  Depth depth_ = kOutside;
  int skipping_ = 0;       // containers open that nobody reads
  std::size_t index_ = 0;  // in "benchmarks"
  bool saw_benchmarks_ = false;
  std::string root_key_;
  std::string entry_key_name_;
  EntryKey entry_key_ = EntryKey::kOther;
  std::size_t key_position_ = 0;
  EntryKeyOrder key_order_;
  RunFileEntry entry_;
  json context_;
  JsonTreeBuilder tree_;
};

// The handler's path says in which field nlohmann's parser stopped, and that parser says why.
[[noreturn]] void throw_syntax_error(std::string_view text, std::string_view source) {
  const EntryCallback ignore = [](const RunFileEntry&) {};
  RunTextHandler handler(source, ignore);
  json::sax_parse(text.begin(), text.end(), &handler);
  // The one text that it takes and JsonStream refuses: a NUL, which it reads as the end.
  throw InputError(source, "", "no valid JSON: there is a NUL byte in it");
}

}  // namespace

std::string RunFileEntry::path() const { return fmt::format("benchmarks[{}]", index); }

void RunFileEntry::clear() {
  for (std::string* text : {&name, &run_name, &run_type, &time_unit, &error_message}) text->clear();
  family_index = per_family_instance_index = repetition_index = iterations = real_time = {};
  failed = false;
  counters.clear();
  details = nullptr;
}

json parse_run_text(std::string_view text, std::string_view source, const EntryCallback& on_entry) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError(source, "", "the file is empty");
  }
  RunTextHandler handler(source, on_entry);
  if (!JsonStream(text, handler).parse()) throw_syntax_error(text, source);
  if (!handler.saw_benchmarks()) throw InputError(source, "benchmarks", "is missing");
  return handler.take_context();
}

}  // namespace fusegate::baselines
