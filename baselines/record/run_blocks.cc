#include "baselines/record/run_blocks.h"

#include <nlohmann/json.hpp>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

ProcessPosition position_of(const JsonField& entry, int shard) {
  ProcessPosition position{.shard = shard};
  if (const auto block = entry.find("block")) {
    position.block = block->integer();
    if (position.block < 0) block->fail("must not be negative");
  }
  if (const auto extension = entry.find("extension")) position.extension = extension->boolean();
  if (const auto own = entry.find("shard")) position.shard = own->integer();
  return position;
}

}  // namespace

RunBlocks read_run_blocks(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "run.json";
  if (!std::filesystem::exists(path)) return {};
  const nlohmann::json json = parse_json(read_regular_file(path), path.string());
  const JsonField record(json, path.string(), "");
  RunBlocks blocks;
  blocks.suite = record.text_or_empty("suite");
  blocks.session = record.text_or_empty("session");
  if (const auto finished = record.find("finished")) blocks.finished = finished->boolean();
  if (const auto left_out = record.find("left_out")) {
    for (const auto& [name, why] : left_out->members()) blocks.left_out[name] = why.text();
  }
  if (const auto shard = record.find("shard")) blocks.shard = shard->at("number").integer();
  if (const auto aa = record.find("aa")) blocks.aa.emplace(path.string(), aa->value());
  auto processes = record.find("processes");
  if (!processes) processes = record.find("invocations");  // its name before
  if (!processes) return blocks;
  for (const JsonField& entry : processes->elements()) {
    blocks.by_file[entry.at("file").text()] = position_of(entry, blocks.shard);
  }
  return blocks;
}

}  // namespace fusegate::baselines
