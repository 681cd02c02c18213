#include "baselines/comparing/family_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace fusegate::baselines {
namespace {

constexpr std::array<std::string_view, 3> kNumberedAxes{"M", "hidden", "dim"};

using Members = std::vector<const FamilyMember*>;

std::string family_name(const FamilyMember& member) {
  if (member.name) return member.name->operation + "/" + member.name->implementation;
  return member.benchmark.substr(0, member.benchmark.find('/'));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The run of digits, or of anything else, that text starts with; cut off.
std::string_view take_run(std::string_view& text) {
  const bool digits = is_digit(text.front());
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size]) == digits) ++size;
  const std::string_view run = text.substr(0, size);
  text.remove_prefix(size);
  return run;
}

// "BM_copy/8" before "BM_copy/64": numbers by value, of equal ones the shorter first.
bool comes_before(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    const std::string_view a = take_run(left);
    const std::string_view b = take_run(right);
    if (a == b) continue;
    if (!is_digit(a.front()) || !is_digit(b.front())) return a < b;
    const auto significant = [](std::string_view run) {
      run.remove_prefix(std::min(run.find_first_not_of('0'), run.size()));
      return std::tuple(run.size(), run);
    };
    if (significant(a) != significant(b)) return significant(a) < significant(b);
    return a.size() < b.size();
  }
  return left.size() < right.size();
}

void place_along_axes(std::vector<FamilyMember>& members) {
  std::map<std::string, std::int64_t> dtypes;
  for (const FamilyMember& member : members) dtypes[member.name->dtype];
  std::int64_t place = 0;
  for (auto& [dtype, at] : dtypes) at = place++;
  for (FamilyMember& member : members) {
    const BenchmarkName& name = *member.name;
    member.position = {name.rows(), name.hidden, name.dim, dtypes[name.dtype]};
  }
  std::ranges::sort(members, {}, [](const FamilyMember& member) {
    return std::tie(member.position, member.benchmark);
  });
}

void place_by_name(std::vector<FamilyMember>& members) {
  std::ranges::sort(members, comes_before, &FamilyMember::benchmark);
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].position = {static_cast<std::int64_t>(i)};
  }
}

struct Bounds {
  std::int64_t low = 0;
  std::int64_t high = 0;

  bool hold(std::int64_t value) const { return low <= value && value <= high; }
};

Bounds bounds_of(const Members& members, std::size_t axis) {
  const auto at = [axis](const FamilyMember* member) { return member->position[axis]; };
  const auto [least, most] = std::ranges::minmax(members, {}, at);
  return {at(least), at(most)};
}

std::string bounds_text(std::string_view axis, const Bounds& part, const Bounds& all) {
  if (part.low == part.high) return fmt::format("{} {}", axis, part.low);
  if (part.low == all.low) return fmt::format("{} <= {}", axis, part.high);
  if (part.high == all.high) return fmt::format("{} >= {}", axis, part.low);
  return fmt::format("{} {} to {}", axis, part.low, part.high);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// What is said of a part that may hold less than its bounds do, such as a sweep without one shape.
std::string range_text(std::vector<std::string> bounds, std::size_t part, std::size_t within,
                       std::string_view unit) {
  if (bounds.empty() && part == within) return fmt::format("all {} {}", part, unit);
  if (part != within) bounds.push_back(fmt::format("{} of {} {}", part, within, unit));
  return joined(bounds);
}

std::set<std::string> dtypes_of(const Members& members) {
  std::set<std::string> dtypes;
  for (const FamilyMember* member : members) dtypes.insert(member->name->dtype);
  return dtypes;
}

// On some of the numbered axes, others being free.
using Box = std::array<std::optional<Bounds>, kNumberedAxes.size()>;

std::size_t count_within(const Members& members, const Box& box) {
  const auto is_within = [&](const FamilyMember* member) {
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
      if (box[axis] && !box[axis]->hold(member->position[axis])) return false;
    }
    return true;
  };
  return static_cast<std::size_t>(std::ranges::count_if(members, is_within));
}

// Around the part, on as few axes as tell it apart: in a sweep in which one hidden size goes with
// one dim, either says enough. The first axes are kept rather than the last.
Box smallest_box(const Members& part, const Members& all) {
  Box box;
  for (std::size_t axis = 0; axis < box.size(); ++axis) box[axis] = bounds_of(part, axis);
  const std::size_t within = count_within(all, box);
  for (std::size_t axis = box.size(); axis-- > 0;) {
    const auto bounds = std::exchange(box[axis], std::nullopt);
    if (count_within(all, box) != within) box[axis] = bounds;
  }
  return box;
}

FamilyRange describe_sweep(const std::string& family, const Members& part, Members all) {
  FamilyRange result{family, ""};
  std::vector<std::string> bounds;
  const std::set<std::string> dtypes = dtypes_of(part);
  if (dtypes.size() == 1) result.family += "/" + *dtypes.begin();
  if (dtypes.size() > 1 && dtypes != dtypes_of(all)) bounds = {dtypes.begin(), dtypes.end()};
  std::erase_if(all, [&](const FamilyMember* m) { return !dtypes.contains(m->name->dtype); });
  if (part.size() == 1) {
    result.range = problem_text(*part.front()->name);
    return result;
  }
  const Box box = smallest_box(part, all);
  for (std::size_t axis = 0; axis < box.size(); ++axis) {
    if (!box[axis]) continue;
    bounds.push_back(bounds_text(kNumberedAxes[axis], *box[axis], bounds_of(all, axis)));
  }
  result.range = range_text(std::move(bounds), part.size(), count_within(all, box),
                            dtypes.size() == 1 ? "shapes" : "benchmarks");
  return result;
}

// "8" of "BM_copy/8"; the whole name where nothing follows the family's.
std::string name_in_family(const std::string& family, const FamilyMember& member) {
  const bool has_more = member.benchmark.size() > family.size() + 1;
  return has_more ? member.benchmark.substr(family.size() + 1) : member.benchmark;
}

FamilyRange describe_names(const std::string& family, const Members& part, const Members& all) {
  const std::string first = name_in_family(family, *part.front());
  if (part.size() == 1) return {family, first};
  const Bounds bound = bounds_of(part, 0);
  const auto within = static_cast<std::size_t>(bound.high - bound.low + 1);
  std::vector<std::string> bounds;
  if (within < all.size()) {
    bounds.push_back(fmt::format("{} to {}", first, name_in_family(family, *part.back())));
  }
  return {family, range_text(std::move(bounds), part.size(), within, "benchmarks")};
}

}  // namespace

std::vector<Family> families_of(const std::vector<std::string>& benchmarks) {
  std::map<std::string, std::vector<FamilyMember>> grouped;
  for (const std::string& benchmark : benchmarks) {
    FamilyMember member{benchmark, parse_benchmark_name(benchmark), {}};
    grouped[family_name(member)].push_back(std::move(member));
  }
  std::vector<Family> families;
  for (auto& [name, members] : grouped) {
    members.front().name ? place_along_axes(members) : place_by_name(members);
    families.push_back({name, std::move(members)});
  }
  return families;
}

FamilyRange describe_range(const Family& family, const std::vector<std::size_t>& part) {
  Members all;
  for (const FamilyMember& member : family.members) all.push_back(&member);
  Members members;
  for (const std::size_t i : part) members.push_back(all[i]);
  return members.front()->name ? describe_sweep(family.name, members, std::move(all))
                               : describe_names(family.name, members, all);
}

}  // namespace fusegate::baselines
