#include "kernels/contract/rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace fusegate::kernels {
namespace {

// The probability that a correct output is beyond one of the bounds of a kind.
constexpr double kFalseAlarm = 1e-6;

// q(N) of rounding.h.
double quantile(std::int64_t count) {
  return std::sqrt(2 * std::log(2 * static_cast<double>(count) / kFalseAlarm));
}

struct Format {
  Dtype dtype;
  int bits;         // of the significand, stored
  double smallest;  // number that a kernel may not flush to zero
  double largest;   // where conversion saturates
  double error_bound;
};
constexpr std::array kFormats{
    Format{Dtype::kFp64, 52, 0x1p-1022, INFINITY, 1e-12},
    Format{Dtype::kFp32, 23, 0x1p-126, INFINITY, 1e-5},  // subnormal numbers may be flushed
    Format{Dtype::kFp16, 10, 0x1p-24, INFINITY, 1.5e-3},
    Format{Dtype::kBf16, 7, 0x1p-126, INFINITY, 1e-2},
    Format{Dtype::kFp8E4m3, 3, 0x1p-9, 448, 8e-2},
    Format{Dtype::kFp8E5m2, 2, 0x1p-16, 57344, 1.6e-1},
    Format{Dtype::kInt64, 0, 1, INFINITY, 0},
    Format{Dtype::kInt32, 0, 1, INFINITY, 0},
    Format{Dtype::kInt16, 0, 1, INFINITY, 0},
    Format{Dtype::kInt8, 0, 1, INFINITY, 0},
    Format{Dtype::kUint8, 0, 1, INFINITY, 0},
};

const Format& format_of(Dtype dtype) { return *std::ranges::find(kFormats, dtype, &Format::dtype); }

double square(double value) { return value * value; }

Memory on_device(Device& device, const std::vector<double>& values) {
  Memory memory = device.allocate(values.size() * sizeof(double));
  device.copy_to_device(std::as_bytes(std::span(values)), memory.data());
  return memory;
}

// The root mean square of what `of` gives of the groups of all spreads.
template <typename Groups, typename Of>
double mean_over(const std::vector<Errors>& spreads, Groups groups, Of of) {
  double squares = 0, count = 0;
  for (const Errors& one : spreads) {
    for (const GroupErrors& group : groups(one)) {
      squares += square(of(group));
      count += 1;
    }
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

double cosine(const GroupErrors& group) {
  const double product = group.difference * group.reference;
  return product > 0 ? group.along / std::sqrt(product) : 0;
}

// How much larger than one the mean of n squares may be, each one in the mean: rounding.h.
double most_of_mean(double n, double t) { return 1 + 2 * std::sqrt(t / n) + 2 * t / n; }

std::vector<GroupErrors> tile_groups(const Errors& errors) {
  std::vector<GroupErrors> groups;
  for (const TileErrors& tile : errors.tiles) groups.push_back(tile.sums);
  return groups;
}

}  // namespace

double error_bound(Dtype dtype) { return format_of(dtype).error_bound; }

double unit_roundoff(Dtype dtype) {
  return is_integer(dtype) ? 0 : std::ldexp(0.5, -format_of(dtype).bits);
}

RoundingBound::RoundingBound(Device& device, const RoundingTerms& terms,
                             const std::vector<Errors>& spreads, double perturbed_by,
                             double mean_square)
    : terms_(terms), mean_square_(mean_square) {
  if (terms.unit == 0) return;
  const double ratio = perturbed_by > 0 ? terms.unit / perturbed_by : 0;
  std::vector<Errors> scaled = spreads;
  for (Errors& one : scaled) {
    for (TileErrors& tile : one.tiles) tile.sums.difference *= square(ratio);
    for (GroupErrors& row : one.rows) row.difference *= square(ratio);
    for (double& column : one.columns) column *= square(ratio);
  }
  keep_variances(device, scaled);
  row_along_ = mean_over(
      spreads, [](const Errors& e) { return e.rows; }, cosine);
  tile_along_ = mean_over(spreads, tile_groups, cosine);
  whole_slope_ = ratio * mean_over(
                             spreads, [](const Errors& e) { return std::vector{e.all().sums}; },
                             [](const GroupErrors& group) { return group.slope(); });
}

void RoundingBound::keep_variances(Device& device, const std::vector<Errors>& spreads) {
  double sum = 0;
  for (const Errors& one : spreads) sum += one.all().sums.difference;
  const auto count = static_cast<double>(spreads.size());
  if (!(sum > 0)) {
    all_ = square(terms_.unit) / 3 * mean_square_;
    return;
  }
  const TileGrid& grid = spreads.front().grid;
  const auto rows = static_cast<double>(grid.rows), columns = static_cast<double>(grid.columns);
  all_ = sum / (count * rows * columns);
  std::vector<double> of_rows(spreads.front().rows.size());
  std::vector<double> of_columns(spreads.front().columns.size());
  for (const Errors& one : spreads) {
    for (std::size_t i = 0; i < of_rows.size(); ++i) {
      of_rows[i] += one.rows[i].difference / (count * columns);
    }
    for (std::size_t i = 0; i < of_columns.size(); ++i) {
      of_columns[i] += one.columns[i] / (count * rows * all_);
    }
  }
  if (terms_.is_discontinuous) {
    for (double& column : of_columns) column = std::max(column, 1.0);
  }
  if (!of_rows.empty()) rows_ = on_device(device, of_rows);
  if (!of_columns.empty()) columns_ = on_device(device, of_columns);
}

ErrorScale RoundingBound::scale(std::int64_t first_row) const {
  if (terms_.unit == 0) return {};
  const Format& format = format_of(terms_.dtype);
  const auto* const rows = static_cast<const double*>(rows_.data());
  return {.all = all_,
          .rows = rows == nullptr ? nullptr : rows + first_row,
          .columns = static_cast<const double*>(columns_.data()),
          .own = square(terms_.unit) / 3,
          .least = square(format.smallest) + all_ / static_cast<double>(TileGrid::kSide),
          .largest = format.largest};
}

double RoundingBound::norm() const {
  if (terms_.unit == 0 || mean_square_ == 0) return 0;
  const double least = scale().least, own = square(terms_.unit) / 3 * mean_square_;
  return std::sqrt(
      (all_ + own + least) / mean_square_ *
      most_of_mean(static_cast<double>(terms_.shortest_axis), std::log(1 / kFalseAlarm)));
}

std::optional<BeyondRounding> RoundingBound::group_beyond(const GroupErrors& group,
                                                          std::int64_t elements,
                                                          std::int64_t groups, double along) const {
  const auto n = static_cast<double>(std::min(elements, terms_.shortest_axis));
  const double t = std::log(static_cast<double>(groups) / kFalseAlarm);
  const double rms = std::sqrt(group.scaled / static_cast<double>(elements));
  const double allowed = std::sqrt(3 * most_of_mean(n, t));
  if (rms > allowed) return BeyondRounding{.seen = rms, .allowed = allowed};
  const double seen = std::abs(group.slope());
  const double together = std::max(1.0, along * std::sqrt(static_cast<double>(elements)));
  const double most = terms_.unit + quantile(groups) * together * group.slope_noise();
  if (seen > most) return BeyondRounding{.is_slope = true, .seen = group.slope(), .allowed = most};
  return std::nullopt;
}

// The worst of the rows and tiles.
std::optional<BeyondRounding> RoundingBound::groups_beyond(const Errors& errors) const {
  using What = BeyondRounding::What;
  const TileGrid& grid = errors.grid;
  std::optional<BeyondRounding> worst;
  const auto see = [&](std::optional<BeyondRounding> one, What what, std::int64_t index) {
    if (!one || (worst && one->times() <= worst->times())) return;
    worst = one;
    worst->what = what;
    worst->index = index;
  };
  for (std::size_t i = 0; i < errors.rows.size(); ++i) {
    see(group_beyond(errors.rows[i], grid.columns, grid.rows, row_along_), What::kRow,
        static_cast<std::int64_t>(i));
  }
  for (std::int64_t i = 0; i < grid.tiles(); ++i) {
    const std::int64_t rows =
        std::min(grid.tile_rows, grid.rows - i / grid.across() * grid.tile_rows);
    const std::int64_t columns =
        std::min(grid.tile_columns, grid.columns - i % grid.across() * grid.tile_columns);
    if (rows * columns < TileGrid::kSide) continue;
    see(group_beyond(errors.tiles[static_cast<std::size_t>(i)].sums, rows * columns, grid.tiles(),
                     tile_along_),
        What::kTile, i);
  }
  return worst;
}

std::optional<BeyondRounding> RoundingBound::whole_beyond(const TileGrid& grid,
                                                          const GroupErrors& all) const {
  const double u = terms_.unit;
  const double slope = std::max(whole_slope_, all.slope_noise());
  const double independent =
      std::min({static_cast<double>(grid.rows), static_cast<double>(grid.columns),
                static_cast<double>(terms_.shortest_axis), 1 / (2 * u)});
  const double roundings = 2 * static_cast<double>(terms_.float_inputs + 1);
  const double most =
      std::min(u + quantile(1) * slope,
               roundings * u * u + quantile(1) * (u / std::sqrt(3 * independent) + slope));
  if (std::abs(all.slope()) <= most) return std::nullopt;
  return BeyondRounding{BeyondRounding::What::kWhole, 0, true, all.slope(), most};
}

std::optional<BeyondRounding> RoundingBound::beyond(const Errors& errors) const {
  const TileErrors all = errors.all();
  const TileGrid& grid = errors.grid;
  const double worst = std::sqrt(all.largest);
  const double allowed = terms_.unit > 0 ? quantile(grid.rows * grid.columns) : 0;
  if (worst > allowed) return BeyondRounding{.seen = worst, .allowed = allowed};
  if (terms_.unit == 0) return std::nullopt;
  if (const auto group = groups_beyond(errors)) return group;
  return whole_beyond(grid, all.sums);
}

}  // namespace fusegate::kernels
