// How an output differs from its reference, summed up in one pass over both: by row, by tile and by
// column. rounding.h has the bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/contract/host_device.h"

namespace fusegate::kernels {

// The variance that rounding explains of an element's error (rounding.h). Pointers are device
// addresses, null where rows or columns are not distinguished.
struct ErrorScale {
  double all = 0;                   // of errors that pass through the operation, if rows is null
  const double* rows = nullptr;     // the same, per row
  const double* columns = nullptr;  // a factor of it, per column
  double own = 0;                   // of the result's own rounding, over the reference squared
  double least = 0;                 // of numbers close to zero
  double largest = std::numeric_limits<double>::infinity();  // what larger numbers become

  FUSEGATE_HOST_DEVICE double variance(std::int64_t row, std::int64_t column,
                                       double reference) const {
    const double through =
        (rows != nullptr ? rows[row] : all) * (columns != nullptr ? columns[column] : 1);
    return through + own * reference * reference + least;
  }
};

// Sums over the elements of a group that are finite: e is an element's error, s^2 its variance and
// r its reference.
struct GroupErrors {
  double difference = 0;  // e^2
  double scaled = 0;      // e^2 / s^2, infinite where s is zero and e is not
  double along = 0;       // e r
  double reference = 0;   // r^2
  double noise = 0;       // s^2 r^2

  FUSEGATE_HOST_DEVICE void add(const GroupErrors& other) {
    difference += other.difference;
    scaled += other.scaled;
    along += other.along;
    reference += other.reference;
    noise += other.noise;
  }
  // By which share of itself the group is too large.
  double slope() const { return reference > 0 ? along / reference : 0; }
  // The standard deviation that s gives the slope of independent errors.
  double slope_noise() const { return reference > 0 ? std::sqrt(noise) / reference : 0; }
};

struct TileErrors {
  GroupErrors sums;
  // The element with the largest e^2 / s^2, which is infinite for one that is not finite; -1 where
  // all are exact. Of equals the first.
  double largest = 0;
  std::int64_t largest_at = -1;
  std::int64_t not_finite = 0;     // of the output: NaN or infinite, also where never written
  std::int64_t bad_reference = 0;  // of the reference: NaN or infinite

  FUSEGATE_HOST_DEVICE void see(double square, std::int64_t at) {
    if (at < 0 || square <= 0) return;
    if (square < largest || (square == largest && at > largest_at)) return;
    largest = square;
    largest_at = at;
  }
  // Adds one element to group; at: its index in the tensor. Returns e^2.
  FUSEGATE_HOST_DEVICE double see(double value, double reference, const ErrorScale& scale,
                                  std::int64_t row, std::int64_t column, std::int64_t at,
                                  GroupErrors& group) {
    const bool is_bad = !(fabs(reference) < HUGE_VAL), is_finite = fabs(value) < HUGE_VAL;
    bad_reference += is_bad;
    not_finite += !is_finite;
    if (!is_finite) see(HUGE_VAL, at);
    if (is_bad || !is_finite) return 0;
    const double of = fmin(fmax(reference, -scale.largest), scale.largest);
    const double error = value - of, square = error * error;
    const double variance = scale.variance(row, column, of);
    const double scaled = square == 0 ? 0 : variance > 0 ? square / variance : HUGE_VAL;
    see(scaled, at);
    group.add({square, scaled, error * of, of * of, variance * of * of});
    return square;
  }
  FUSEGATE_HOST_DEVICE void add(const TileErrors& other) {
    sums.add(other.sums);
    see(other.largest, other.largest_at);
    not_finite += other.not_finite;
    bad_reference += other.bad_reference;
  }
};

// Tiles of up to 4096 elements of a row-major matrix: 64 by 64 where it is as large.
struct TileGrid {
  static constexpr std::int64_t kSide = 64;

  std::int64_t rows = 0, columns = 0;
  std::int64_t tile_rows = 1, tile_columns = 1;
  std::int64_t repeats = 1;  // how often the same is summed up

  TileGrid() = default;
  TileGrid(std::int64_t of_rows, std::int64_t of_columns, std::int64_t of_repeats = 1)
      : rows(of_rows), columns(of_columns), repeats(of_repeats) {
    tile_columns = std::clamp<std::int64_t>(columns, 1, kSide);
    tile_rows = std::clamp<std::int64_t>(rows, 1, kSide * kSide / tile_columns);
    tile_columns = std::clamp<std::int64_t>(columns, 1, kSide * kSide / tile_rows);
  }
  FUSEGATE_HOST_DEVICE std::int64_t across() const {
    return (columns + tile_columns - 1) / tile_columns;
  }
  std::int64_t down() const { return (rows + tile_rows - 1) / tile_rows; }
  std::int64_t tiles() const { return across() * down(); }
  // Rows or columns with fewer elements, over all repeats, are not groups.
  bool has_rows() const { return columns * repeats >= kSide; }
  bool has_columns() const { return rows * repeats >= kSide; }
};

// How far an output is from its reference, over its elements.
struct ErrorNorms {
  double difference = 0;           // ||out - reference||, Frobenius
  double reference = 0;            // ||reference||
  std::int64_t not_finite = 0;     // of out: NaN or infinite, also where never written
  std::int64_t bad_reference = 0;  // of the reference: NaN or infinite

  // Infinite where the reference is zero and out is not, or where anything is not finite.
  double relative() const;
};

struct Errors {
  TileGrid grid;
  std::vector<TileErrors> tiles;
  std::vector<GroupErrors> rows;  // where grid.has_rows()
  std::vector<double> columns;    // sums of e^2, where grid.has_columns()

  explicit Errors(const TileGrid& of)
      : grid(of),
        tiles(static_cast<std::size_t>(of.tiles())),
        rows(static_cast<std::size_t>(of.has_rows() ? of.rows : 0)),
        columns(static_cast<std::size_t>(of.has_columns() ? of.columns : 0)) {}

  TileErrors all() const {
    TileErrors all;
    for (const TileErrors& tile : tiles) all.add(tile);
    return all;
  }
  ErrorNorms norms() const {
    const TileErrors sums = all();
    return {.difference = std::sqrt(sums.sums.difference),
            .reference = std::sqrt(sums.sums.reference),
            .not_finite = sums.not_finite,
            .bad_reference = sums.bad_reference};
  }
};

}  // namespace fusegate::kernels
