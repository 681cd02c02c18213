// What all pictures and pages share: colours, markers, the style sheet and the script.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace fusegate::ci {

// Each has a contrast of at least 3 to 1 with the page's background, the light one and the dark one
// (WCAG 2.1, 1.4.11); markers distinguish them where colours do not.
inline constexpr std::array<std::string_view, 8> kSeriesColours{
    "#3b82c4", "#d9731a", "#2f9e62", "#9b6bd0", "#d8557a", "#1f93a0", "#8f8420", "#7d858d"};
inline constexpr std::string_view kReferenceColour = "#7d858d";
// The backgrounds of style.css.
inline constexpr std::string_view kLightPage = "#ffffff", kDarkPage = "#14171b";

// The outlines of markers, about the point at which a path stands.
inline constexpr std::array<std::string_view, 8> kMarkers{
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "m-2.7-2.7h5.4v5.4h-5.4z",
    "m0-3.5l3.3 6h-6.6z",
    "m0-3.6l3.6 3.6-3.6 3.6-3.6-3.6z",
    "m0 3.5l3.3-6h-6.6z",
    "m-1-3h2v2h2v2h-2v2h-2v-2h-2v-2h2z",
    "m-3-2l1-1 2 2 2-2 1 1-2 2 2 2-1 1-2-2-2 2-1-1 2-2z",
    "m0-3.8l1 2.6h2.8l-2.2 1.8 .8 2.7-2.4-1.6-2.4 1.6 .8-2.7-2.2-1.8h2.8z"};

// Speed-ups above 1 at which the colour of a cell changes. Below 1 their inverses.
inline constexpr std::array kSpeedUpSteps{1.02, 1.1, 1.25, 1.6};
// From much slower to much faster: the cell and its text, for a light page and for a dark one.
using Shade = std::pair<std::string_view, std::string_view>;
inline constexpr std::array<Shade, 2 * kSpeedUpSteps.size() + 1> kLightShades{
    {{"#b2182b", "#ffffff"},
     {"#d6604d", "#000000"},
     {"#f4a582", "#000000"},
     {"#fddbc7", "#000000"},
     {"#f0f1f3", "#000000"},
     {"#d1e5f0", "#000000"},
     {"#92c5de", "#000000"},
     {"#4393c3", "#000000"},
     {"#2166ac", "#ffffff"}}};
inline constexpr std::array<Shade, kLightShades.size()> kDarkShades{{{"#f0705f", "#000000"},
                                                                     {"#b5443a", "#ffffff"},
                                                                     {"#83352f", "#ffffff"},
                                                                     {"#553030", "#ffffff"},
                                                                     {"#343a42", "#ffffff"},
                                                                     {"#29415a", "#ffffff"},
                                                                     {"#285780", "#ffffff"},
                                                                     {"#2f70ab", "#ffffff"},
                                                                     {"#62a8e8", "#000000"}}};

// Of every page. The script only adds to a page that is whole without it.
std::string style_sheet();
std::string_view page_script();

}  // namespace fusegate::ci
