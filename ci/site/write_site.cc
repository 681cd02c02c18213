#include "ci/site/write_site.h"

#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/page/page.h"
#include "ci/page/style.h"
#include "ci/site/benchmark_page.h"
#include "ci/site/index_page.h"
#include "ci/site/nights_strip.h"
#include "ci/site/series.h"
#include "ci/site/site_texts.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReportPage = "report.html";

void add_benchmarks(const Site& site, const std::vector<Series>& all, int strip_height,
                    std::map<std::string, std::string>* files) {
  const PageSettings settings{.assets = "../",
                              .scripts = {"../nights.js"},
                              .links = {{"All benchmarks", "../index.html"}},
                              .has_open_facts = true};
  std::optional<MeasuredRates> rates;
  if (site.report) rates = measured_rates(benchmark_figures(site.report->gate.candidate));
  for (const Series& series : all) {
    (*files)[page_of_benchmark(series.name)] = page_html(
        benchmark_document(site, series, rates ? &*rates : nullptr, strip_height), settings);
  }
}

// Only what such a page is named like.
void take_away_old_pages(const fs::path& folder, const std::map<std::string, std::string>& files) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "b", error)) {
    const fs::path name = entry.path().filename();
    if (name.extension() != ".html" || files.contains("b/" + name.string())) continue;
    fs::remove(entry.path(), error);
  }
}

}  // namespace

std::map<std::string, std::string> site_files(const Site& site) {
  if (site.nights.empty()) {
    throw baselines::InputError("history", "nights",
                                "there is none; add one with fusegate history add");
  }
  NightsStrip strip = nights_strip(site.nights);
  const std::vector<Series> all = all_series(site.nights);
  std::map<std::string, std::string> files{{"style.css", style_sheet()},
                                           {"page.js", std::string(page_script())},
                                           {"nights.js", nights_script(site.nights)},
                                           {"nights.svg", std::move(strip.svg)},
                                           {"names.svg", std::move(strip.names)}};
  PageSettings settings{.assets = "", .has_open_facts = true};
  if (site.report) {
    settings.links = {{"The last night's report", kReportPage}};
    files[kReportPage] = page_html(report_document(*site.report),
                                   {.assets = "", .links = {{"All nights", "index.html"}}});
  }
  files["index.html"] = page_html(index_document(site, all), settings);
  add_benchmarks(site, all, strip.height, &files);
  return files;
}

void write_site(const Site& site, const fs::path& folder) {
  const auto files = site_files(site);
  for (const auto& [path, text] : files) baselines::write_atomically(folder / path, text);
  take_away_old_pages(folder, files);
}

}  // namespace fusegate::ci
