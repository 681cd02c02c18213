// Stages within one launch: what a library or another language launches as one piece may name its
// parts. Who profiles or annotates a launch listens; else a mark costs a comparison.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

namespace fusegate::kernels {

// Follows this thread's marks while it lives, in place of one that began before it.
class StageListener {
 public:
  using Begin = std::function<void(std::string_view name)>;
  StageListener(Begin begin, std::function<void()> end)
      : begin_(std::move(begin)), end_(std::move(end)), outer_(std::exchange(current_, this)) {}
  // Ends the stages that an exception left open.
  ~StageListener() {
    while (open_ > 0) end_innermost();
    current_ = outer_;
  }
  StageListener(const StageListener&) = delete;  // the thread refers to it
  StageListener& operator=(const StageListener&) = delete;

  // Stages nest. Both do nothing where nobody listens, and the second where none is open.
  static void begin(std::string_view name) {
    if (current_ == nullptr) return;
    current_->begin_(name);
    ++current_->open_;
  }
  static void end() {
    if (current_ != nullptr && current_->open_ > 0) current_->end_innermost();
  }

 private:
  void end_innermost() {
    --open_;
    end_();
  }

  static inline thread_local StageListener* current_ = nullptr;
  Begin begin_;
  std::function<void()> end_;  // must not throw
  StageListener* outer_;
  int open_ = 0;
};

// A stage from here to the end of the block.
class StageMark {
 public:
  explicit StageMark(std::string_view name) { StageListener::begin(name); }
  ~StageMark() { StageListener::end(); }
  StageMark(const StageMark&) = delete;
  StageMark& operator=(const StageMark&) = delete;
};

}  // namespace fusegate::kernels
