#include "kernels/contract/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

namespace fusegate::kernels {
namespace {

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

template <typename T>
T value_of(const std::string& bytes) {
  T value{};
  if (bytes.size() != sizeof(value)) throw RankError("a rank gave something else than a number");
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

template <typename T>
std::vector<T> gather_values(Ranks& ranks, std::string_view what, T mine) {
  std::vector<T> values;
  for (const std::string& bytes : ranks.gather(what, bytes_of(mine))) {
    values.push_back(value_of<T>(bytes));
  }
  return values;
}

}  // namespace

std::vector<std::string> Ranks::gather(std::string_view, std::string mine) {
  return {std::move(mine)};
}

bool Ranks::all(std::string_view what, bool mine) {
  return std::ranges::all_of(gather_values(*this, what, mine), [](bool one) { return one; });
}

double Ranks::largest(std::string_view what, double mine) {
  const auto values = gather_values(*this, what, mine);
  if (std::ranges::any_of(values, [](double one) { return std::isnan(one); })) return NAN;
  return std::ranges::max(values);
}

double Ranks::sum(std::string_view what, double mine) {
  double sum = 0;
  for (const double one : gather_values(*this, what, mine)) sum += one;
  return sum;
}

std::uint64_t Ranks::first(std::string_view what, std::uint64_t mine) {
  return gather_values(*this, what, mine).front();
}

std::string Ranks::any(std::string_view what, const std::string& mine) {
  const std::vector<std::string> texts = gather(what, mine);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    return texts.size() == 1 ? texts[rank] : fmt::format("rank {}: {}", rank, texts[rank]);
  }
  return "";
}

void Ranks::together(std::string_view what, const std::function<void()>& run) {
  if (!are_several()) return run();
  std::string text;
  try {
    note(what);
    run();
  } catch (const RankError&) {
    throw;  // known to all
  } catch (const std::exception& error) {
    text = *error.what() == '\0' ? "failed" : error.what();
    note(text);  // others may wait for this rank's device, and never ask for the text
  }
  const std::string of_any = any(fmt::format("{}{}", what, kHasEnded), text);
  if (!of_any.empty()) throw RankError(of_any);
}

}  // namespace fusegate::kernels
