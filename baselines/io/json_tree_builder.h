// Builds one JSON value out of parser events: for a streaming reader that wants a tree of a part
// only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace fusegate::baselines {

class JsonTreeBuilder {
 public:
  bool active() const { return !open_.empty(); }

  // `root` receives the value; it must outlive the building.
  void begin(nlohmann::json& root, nlohmann::json container) {
    root = std::move(container);
    open_.push_back(&root);
  }
  void key(std::string name) { key_ = std::move(name); }
  void add(nlohmann::json value) { place(std::move(value)); }
  void start(nlohmann::json container) { open_.push_back(&place(std::move(container))); }
  void end() { open_.pop_back(); }

 private:
  // A pointer in open_ stays valid: a container's parent gets no new member while it is open.
  nlohmann::json& place(nlohmann::json value) {
    nlohmann::json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }

  std::vector<nlohmann::json*> open_;
  std::string key_;
};

}  // namespace fusegate::baselines
