#include "bench/ranks/notes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fusegate::bench {

Notes::Notes() : file_(memfd_create("fusegate-ranks", 0)) {
  if (!file_.is_open() || ftruncate(file_.get(), sizeof(Page)) != 0) {
    throw std::system_error(errno, std::generic_category(), "memory for the ranks' notes");
  }
  map();
}

Notes::Notes(baselines::FileDescriptor file) : file_(std::move(file)) { map(); }

Notes::~Notes() { munmap(page_, sizeof(Page)); }

void Notes::map() {
  void* const page =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (page == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory of the ranks' notes");
  }
  page_ = static_cast<Page*>(page);
}

void Notes::write(int rank, std::string_view doing) {
  Note& note = page_->notes.at(static_cast<std::size_t>(rank));
  const std::size_t length = std::min(doing.size(), kBytes - 1);
  for (std::size_t i = 0; i < length; ++i) note[i].store(doing[i], std::memory_order_relaxed);
  note[length].store('\0', std::memory_order_relaxed);
}

std::span<std::uint32_t> Notes::numbers() { return page_->numbers; }

std::string Notes::read(int rank) const {
  const Note& note = page_->notes.at(static_cast<std::size_t>(rank));
  std::string text;
  for (const auto& one : note) {
    const char character = one.load(std::memory_order_relaxed);
    if (character == '\0') break;
    text += character;
  }
  return text;
}

}  // namespace fusegate::bench
