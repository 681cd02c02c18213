// What a page draws of a section, in figures and texts; ci/page makes SVG and tables of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fusegate::ci {

inline constexpr int kReferenceStyle = -1;

// One implementation, say. A style is the same colour and marker in all pictures of a page; that of
// the reference is grey.
struct PlotLine {
  std::string name;
  int style = 0;
  std::vector<std::pair<double, double>> points{};
  std::vector<std::pair<double, std::string>> marks{};  // on the line at 1, each with its text
};

struct LinePanel {
  std::string title;
  std::vector<PlotLine> lines{};
};

// Lines over M or another axis, a panel a shape, all on one scale.
struct LinePicture {
  std::string label{};  // of the upright axis
  std::string caption{};
  std::string description{};
  std::string axis{};  // along; logarithmic
  std::vector<LinePanel> panels{};
  std::optional<std::string> even{};  // the name of the line at 1, may be empty; nothing: no line
  bool is_log = false;
  bool is_from_zero = false;
};

struct MapCell {
  std::vector<std::int64_t> shape;
  std::int64_t along = 0;
  double speed_up = 1;
  std::string text{};
};

// Speed-ups as tables of coloured cells, one an implementation.
struct MapPicture {
  std::string caption{};
  std::string description{};
  std::string axis{};        // downwards
  std::string shape_axes{};  // to the right: "dim above hidden"
  std::vector<std::pair<std::string, std::vector<MapCell>>> maps{};  // each with its title
};

struct Roof {
  double value = 0;
  std::string text{};
};

struct RooflinePoint {
  double intensity = 0;  // FLOP/byte
  double rate = 0;       // TFLOP/s
  std::string operation{};
  std::string class_name{};
  bool is_hollow = false;
  std::string tooltip{};
};

// A panel an operation, all on one scale (Williams, Waterman and Patterson 2009).
struct RooflinePicture {
  std::string caption{};
  std::string description{};
  std::string hollow{};        // what a hollow point is
  std::optional<Roof> gemm{};  // TFLOP/s
  std::optional<Roof> copy{};  // GB/s
  std::vector<RooflinePoint> points{};
};

struct BarPart {
  std::string stage;
  double share = 0;  // of the bar
  std::string text{};
  bool is_gap = false;
};

struct Bar {
  std::string name;
  std::vector<BarPart> parts{};
};

struct BarsPicture {
  std::vector<Bar> bars{};
};

// One figure a night, as natural logarithms; NaN where a night has none.
struct HistoryPicture {
  std::string caption{};
  std::string description{};
  std::vector<double> values{};
  std::vector<bool> is_break{};  // of the same length: the line does not reach this night
  struct Mark {
    std::size_t night = 0;
    std::string text{};
    bool is_slower = false;
  };
  std::vector<Mark> marks{};
  // What stands below, as wide as the nights, and its names at the left: files of the page. Empty
  // where there is none.
  std::string strip{}, strip_names{};
  int strip_height = 0;  // CSS pixels
};

// A row a process: its time, and how far its samples spread.
struct StripPicture {
  std::string caption{};
  std::string description{};
  struct Row {
    std::string name;
    bool is_baseline = false;
    double value = 0;
    double spread = 0;  // as far to each side
  };
  std::vector<Row> rows{};
  std::string low{}, high{};  // the least and the largest value as text
};

// What was there from which night to which, of `nights` in all; ends are included. Spans that
// follow each other are another version of it.
struct TimelinePicture {
  std::string caption{};
  std::size_t nights = 0;
  struct Row {
    std::string name;
    std::string text{};  // "abc123, 2026-01-02 to 2026-03-04"
    std::vector<std::pair<std::size_t, std::size_t>> spans{};
  };
  std::vector<Row> rows{};
};

using Picture = std::variant<LinePicture, MapPicture, RooflinePicture, BarsPicture, HistoryPicture,
                             StripPicture, TimelinePicture>;

}  // namespace fusegate::ci
