#include "baselines/launches/launch_facts.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace fusegate::baselines {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr const char* kRegisters = "registers";
constexpr const char* kDynamicShared = "dynamic shared memory";
constexpr const char* kStaticShared = "static shared memory";
constexpr const char* kInstructions = "instructions";

struct Part {
  std::string what;
  std::string value;
  std::string unit{};
};

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + by.size());
  }
}

std::optional<std::string_view> before_suffix(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  return text.substr(0, text.size() - suffix.size());
}

// "192x1x1" of blocks is 192 of them.
Part size_part(std::string_view what, std::string_view size, const char* unit) {
  while (size.ends_with("x1")) size.remove_suffix(2);
  const bool is_a_number = size.find_first_not_of(kDigits) == std::string_view::npos;
  return {std::string(what), std::string(size), is_a_number ? unit : ""};
}

// "cluster 2x1x1", "carveout 100 %", "cooperative", "4 x 1 elements of 1 B".
Part any_part(std::string_view text) {
  const std::size_t digit = text.find_first_of(kDigits);
  if (digit == std::string_view::npos) return {std::string(text), "yes"};
  if (digit == 0) return {"size", std::string(text)};
  std::string_view what = text.substr(0, digit);
  while (what.ends_with(' ')) what.remove_suffix(1);
  return {std::string(what), std::string(text.substr(digit))};
}

void add_parts(std::string_view text, std::vector<Part>& parts) {
  if (const auto count = before_suffix(text, " registers")) {
    parts.push_back({kRegisters, std::string(*count)});
  } else if (const auto bytes = before_suffix(text, " B local")) {
    parts.push_back({"local memory", std::string(*bytes), "B"});
  } else if (const auto both = before_suffix(text, " B shared")) {
    const std::vector<std::string_view> sizes = split(*both, " + ");
    parts.push_back({kDynamicShared, std::string(sizes.front()), "B"});
    if (sizes.size() > 1) parts.push_back({kStaticShared, std::string(sizes[1]), "B"});
  } else if (text.starts_with("grid ")) {
    parts.push_back(size_part("grid", text.substr(5), "blocks"));
  } else if (text.starts_with("block ")) {
    parts.push_back(size_part("block", text.substr(6), "threads"));
  } else if (!text.empty()) {
    parts.push_back(any_part(text));
  }
}

std::vector<Part> parts_of(const LaunchIdentity& launch) {
  std::vector<Part> parts;
  for (const std::string_view text : split(launch.launch, ", ")) add_parts(text, parts);
  if (launch.instructions > 0) {
    parts.push_back({kInstructions, std::to_string(launch.instructions)});
  }
  return parts;
}

const Part* find(const std::vector<Part>& parts, const std::string& what) {
  const auto found = std::ranges::find(parts, what, &Part::what);
  return found == parts.end() ? nullptr : &*found;
}

LaunchFact fact_of(const Part* before, const Part* after) {
  const Part& part = after ? *after : *before;
  const bool same_unit = !before || !after || before->unit == after->unit;
  return {.what = part.what,
          .before = before ? before->value : "none",
          .after = after ? after->value : "none",
          .unit = same_unit ? part.unit : ""};
}

}  // namespace

std::vector<LaunchFact> changed_facts(const LaunchIdentity& before, const LaunchIdentity& after) {
  const std::vector<Part> was = parts_of(before), is = parts_of(after);
  std::vector<LaunchFact> facts;
  const auto add = [&](const std::string& what) {
    const LaunchFact fact = fact_of(find(was, what), find(is, what));
    const bool is_known =
        what != kInstructions || (before.instructions > 0 && after.instructions > 0);
    if (is_known && fact.before != fact.after) facts.push_back(fact);
  };
  for (const Part& part : is) add(part.what);
  for (const Part& part : was) {
    if (!find(is, part.what)) add(part.what);
  }
  return facts;
}

std::vector<LaunchFact> kept_facts(const LaunchIdentity& before, const LaunchIdentity& after) {
  const std::vector<Part> was = parts_of(before), is = parts_of(after);
  std::vector<LaunchFact> facts;
  for (const char* what : {kRegisters, kDynamicShared, kStaticShared, kInstructions}) {
    const Part* part = find(was, what);
    const Part* now = find(is, what);
    const bool is_kept = part && now && part->value == now->value && part->value != "0";
    if (is_kept) facts.push_back(fact_of(part, now));
  }
  return facts;
}

}  // namespace fusegate::baselines
