#include "tests/emulation/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fusegate::kernels::emulation {
namespace {

constexpr int kGranule = 16;  // bytes: what a lane writes at most at a time
constexpr std::uint32_t kSwizzle128 = 0x70;

std::uint32_t swizzled(std::uint32_t address, std::uint32_t swizzle) {
  return address ^ (address >> 3 & swizzle);
}

// The inverse of wgmma.cuh's matrix_descriptor, plus an offset of columns; and of its
// plain_descriptor, whose boxes are box_bytes apart.
struct Described {
  std::uint32_t address = 0, box_bytes = 0;

  explicit Described(std::uint64_t descriptor, bool is_plain = false) {
    constexpr std::uint64_t kLeading = std::uint64_t{0x3fff} << 16;
    constexpr std::uint64_t kFixedBits = std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
    const std::uint64_t leading = (descriptor & kLeading) >> 16;
    if ((descriptor & ~kLeading & ~std::uint64_t{0x3fff}) != kFixedBits ||
        (!is_plain && leading != 1)) {
      throw Fault(
          fmt::format("a wgmma's descriptor {:#x} is not of the 128-byte swizzle", descriptor));
    }
    address = static_cast<std::uint32_t>(descriptor & 0x3fff) << 4;
    box_bytes = static_cast<std::uint32_t>(leading << 4);
  }
};

}  // namespace

Cluster* Cluster::here_ = nullptr;

Cluster::Cluster(int blocks, int threads, std::size_t shared_bytes, unsigned seed)
    : threads_(threads),
      shared_bytes_(shared_bytes),
      blocks_of_gpu_(blocks),
      blocks_of_cluster_(blocks),
      fibers_(seed),
      cluster_barriers_(1) {
  const auto count = static_cast<std::size_t>(blocks * threads);
  blocks_.resize(static_cast<std::size_t>(blocks));
  states_.resize(count);
  warps_.resize(count / kWarp);
  warpgroups_.resize(count / kWarpgroup);
}

void Cluster::run(int first, int row, int row_blocks, const std::function<void()>& kernel) {
  first_ = first, row_ = row, row_blocks_ = row_blocks;
  here_ = this;
  for (Block& block : blocks_) {
    block.shared.assign(kSharedBase + shared_bytes_, std::byte{0xff});  // NaN where it is read
    block.unfenced.assign(block.shared.size() / kGranule + 1, 0);
    block.running = threads_;
  }
  fibers_.run(static_cast<int>(blocks_.size()) * threads_, [&](int) {
    block().has_started = true;
    kernel();
    end_thread();
  });
}

void Cluster::run_gpus(int gpus, int cluster, const std::function<void(int gpu)>& program) {
  blocks_of_gpu_ = static_cast<int>(blocks_.size()) / gpus;
  blocks_of_cluster_ = cluster;
  cluster_barriers_.resize(blocks_.size() / static_cast<std::size_t>(cluster));
  gpus_.resize(static_cast<std::size_t>(gpus));
  run(0, 0, blocks_of_gpu_, [&] { program(number() / blocks_of_gpu_); });
}

void Cluster::end_kernel() {
  meet(gpus_[static_cast<std::size_t>(number() / blocks_of_gpu_)], blocks_of_gpu_ * threads_,
       "its grid", [] {});
}

void Cluster::set_flag(std::function<void()> set) {
  fibers_.later([this, set = std::move(set)] {
    set();
    fibers_.wake(flag_waiting_);
  });
}

void Cluster::wait_for_flag(const std::function<bool()>& has) {
  while (!has()) fibers_.wait(flag_waiting_, "a flag");
}

void Cluster::end_thread() {
  Thread& thread = self();
  if (std::ranges::any_of(thread.stores, [](const auto& store) { return !store->is_done; })) {
    throw Fault("a thread ends before its stores have read shared memory");
  }
  if (thread.copies.size() > 1 || !thread.copies.back().empty()) {
    throw Fault("a thread ends before its copies are there");
  }
  if (!thread.open.empty() || !thread.groups.empty()) {
    throw Fault("a thread ends before its products are done");
  }
  if (--block().running == 0 && !block().coming.empty()) {
    throw Fault("a block ends before all that it loads is there");
  }
  if (thread.has_arrived && thread.cluster_phase == cluster_barrier().phase) {
    --cluster_barrier().arrived;
  }
  turn_cluster_if_complete();
}

Cluster::Block& Cluster::block_at(int rank) {
  if (rank >= blocks_of_cluster_) throw Fault("a cluster has no such block");
  Block& found = blocks_[static_cast<std::size_t>(first_of_cluster() + rank)];
  if (&found == &block()) return found;
  if (!found.has_started) throw Fault("a block is written to before it has started");
  if (found.running == 0) throw Fault("a block is written to after it has ended");
  return found;
}

std::byte* Cluster::at(Block& block, std::uint32_t address, std::size_t bytes) {
  if (address < kSharedBase || address + bytes > block.shared.size()) {
    throw Fault(fmt::format("{} bytes at {} are not the block's shared memory", bytes, address));
  }
  return block.shared.data() + address;
}

void Cluster::read(std::uint32_t from, void* to, std::size_t bytes) {
  std::memcpy(to, at(block(), from, bytes), bytes);
}

void Cluster::write(std::uint32_t to, const void* from, std::size_t bytes) {
  std::memcpy(at(block(), to, bytes), from, bytes);
  block().unfenced[to / kGranule] = thread() + 1;
  self().written.push_back(to / kGranule);
}

void Cluster::fence() {
  for (const std::uint32_t granule : self().written) {
    int& writer = block().unfenced[granule];
    if (writer == thread() + 1) writer = 0;
  }
  self().written.clear();
}

Cluster::Barrier& Cluster::barrier_at(Block& block, std::uint32_t address) {
  const auto found = block.barriers.find(address);
  if (found == block.barriers.end()) {
    throw Fault(fmt::format("no barrier was initialised at {}", address));
  }
  return found->second;
}

Cluster::Barrier& Cluster::fenced_barrier_at(Block& block, std::uint32_t address) {
  Barrier& found = barrier_at(block, address);
  if (!found.is_fenced) throw Fault(fmt::format("the barrier at {} is not fenced", address));
  return found;
}

void Cluster::turn_if_complete(Barrier& barrier) {
  if (barrier.missing > 0 || barrier.bytes != 0) return;
  barrier.missing = barrier.arrivals;
  ++barrier.phase;
  fibers_.wake(barrier.waiting);
}

void Cluster::init_barrier(std::uint32_t barrier, int arrivals) {
  at(block(), barrier, 8);
  if (barrier % 8 != 0) throw Fault("a barrier's address is not a multiple of 8");
  block().barriers[barrier] = {
      .arrivals = arrivals, .missing = arrivals, .made_by = thread(), .waiting = {}};
}

void Cluster::fence_barriers() {
  for (auto& [address, barrier] : block().barriers) {
    if (barrier.made_by == thread()) barrier.is_fenced = true;
  }
}

void Cluster::arrive(std::uint32_t barrier, int rank) {
  Block& of = block_at(rank);
  Barrier& found = &of == &block() ? barrier_at(of, barrier) : fenced_barrier_at(of, barrier);
  if (--found.missing < 0) throw Fault("more threads arrive at a barrier than it expects");
  turn_if_complete(found);
}

void Cluster::expect(std::uint32_t barrier, int bytes) {
  barrier_at(block(), barrier).bytes += bytes;
  arrive(barrier, rank());
}

void Cluster::wait(std::uint32_t barrier, std::uint32_t parity) {
  Barrier& found = barrier_at(block(), barrier);
  while (found.phase % 2 == parity) fibers_.wait(found.waiting, "a barrier in shared memory");
}

void Cluster::meet(Meeting& meeting, int count, const char* what,
                   const std::function<void()>& last) {
  if (++meeting.arrived < count) return fibers_.wait(meeting.waiting, what);
  last();
  meeting.arrived = 0;
  fibers_.wake(meeting.waiting);
}

void Cluster::named_sync(int barrier, int threads, bool waits) {
  Meeting& meeting = block().named.at(static_cast<std::size_t>(barrier));
  if (meeting.arrived > 0 && meeting.expected != threads) {
    throw Fault(fmt::format("named barrier {} is for {} threads and for {}", barrier,
                            meeting.expected, threads));
  }
  meeting.expected = threads;
  if (++meeting.arrived == threads) {
    meeting.arrived = 0;
    fibers_.wake(meeting.waiting);
  } else if (waits) {
    fibers_.wait(meeting.waiting, "a named barrier");
  }
}

void Cluster::turn_cluster_if_complete() {
  int running = 0;
  for (int i = 0; i < blocks_of_cluster_; ++i) {
    running += blocks_[static_cast<std::size_t>(first_of_cluster() + i)].running;
  }
  ClusterBarrier& barrier = cluster_barrier();
  if (barrier.arrived < running || running == 0) return;
  barrier.arrived = 0;
  ++barrier.phase;
  fibers_.wake(barrier.waiting);
}

void Cluster::cluster_arrive() {
  if (self().has_arrived) throw Fault("a thread arrives twice at the cluster's barrier");
  self().has_arrived = true;
  self().cluster_phase = cluster_barrier().phase;
  ++cluster_barrier().arrived;
  turn_cluster_if_complete();
}

void Cluster::cluster_wait() {
  if (!self().has_arrived) throw Fault("a thread waits at the cluster's barrier before it arrives");
  while (self().cluster_phase == cluster_barrier().phase) {
    fibers_.wait(cluster_barrier().waiting, "the cluster's barrier");
  }
  self().has_arrived = false;
}

// Into a block's shared memory, at a random time from now on.
void Cluster::come(Block& block, const Range& range, std::function<void()> copy,
                   std::uint32_t barrier) {
  Barrier& counts = fenced_barrier_at(block, barrier);
  block.coming.push_back(range);
  fibers_.later([=, this, &block, &counts, copy = std::move(copy)] {
    copy();
    const auto is_it = [&](const Range& other) { return other.from == range.from; };
    block.coming.erase(std::ranges::find_if(block.coming, is_it));
    counts.bytes -= static_cast<std::int64_t>(range.bytes);
    turn_if_complete(counts);
  });
}

void Cluster::load(const BoxMap& map, std::uint32_t to, std::uint32_t barrier, int column, int row,
                   unsigned ranks) {
  for (int rank = 0; rank < blocks_of_cluster_; ++rank) {
    if ((ranks >> rank & 1) == 0) continue;
    Block& block = block_at(rank);
    at(block, to, map.bytes());
    if (to % 128 != 0) throw Fault("a box is not aligned to 128 bytes");
    come(
        block, {to, map.bytes()}, [=, &block] { load_into(block, map, to, column, row); }, barrier);
  }
}

void Cluster::load_into(Block& block, const BoxMap& map, std::uint32_t to, int column, int row) {
  const auto bytes = static_cast<std::size_t>(map.element);
  for (int r = 0; r < map.box_rows; ++r) {
    for (int c = 0; c < map.box_cols; ++c) {
      const auto offset = static_cast<std::uint32_t>((r * map.box_cols + c) * map.element);
      std::byte* const there = block.shared.data() + swizzled(to + offset, map.swizzle);
      std::memset(there, 0, bytes);
      if (const std::int64_t y = row + r, x = column + c; y < map.rows && x < map.cols) {
        std::memcpy(there, map.at(y, x), bytes);
      }
    }
  }
}

void Cluster::store(void* to, const void* from, std::size_t bytes) {
  if (!block().may_write) throw Fault("a block stores before it waits for the kernel ahead");
  std::memcpy(to, from, bytes);
}

void Cluster::store(const BoxMap& map, std::uint32_t from, int column, int row) {
  if (!block().may_write) throw Fault("a block stores before it waits for the kernel ahead");
  at(block(), from, map.bytes());
  if (from % 128 != 0) throw Fault("a box is not aligned to 128 bytes");
  for (std::size_t i = 0; i < map.bytes(); i += kGranule) {
    if (block().unfenced[(from + i) / kGranule] != 0) {
      throw Fault("a store reads what was written and not fenced");
    }
  }
  self().stores.push_back(std::make_shared<Store>(Store{map, from, column, row}));
  fibers_.later([&block = block(), store = self().stores.back()] { run_store(block, *store); });
}

void Cluster::run_store(Block& block, Store& store) {
  if (std::exchange(store.is_done, true)) return;
  const BoxMap& map = store.map;
  for (int r = 0; r < map.box_rows; ++r) {
    for (int c = 0; c < map.box_cols; ++c) {
      const std::int64_t y = store.row + r, x = store.column + c;
      if (y >= map.rows || x >= map.cols) continue;
      const auto offset = static_cast<std::uint32_t>((r * map.box_cols + c) * map.element);
      std::memcpy(map.at(y, x), block.shared.data() + swizzled(store.from + offset, map.swizzle),
                  static_cast<std::size_t>(map.element));
    }
  }
}

void Cluster::commit_stores() {
  const int group = ++self().store_groups;
  for (const auto& store : self().stores) {
    if (store->group == 0) store->group = group;
  }
}

void Cluster::wait_stores(int pending) {
  const int last = self().store_groups - pending;
  for (const auto& store : self().stores) {
    if (store->group > 0 && store->group <= last) run_store(block(), *store);
  }
  std::erase_if(self().stores, [](const auto& store) { return store->is_done; });
}

void Cluster::copy_16(std::uint32_t to, const void* from, bool inside) {
  at(block(), to, kGranule);
  if (to % kGranule != 0) throw Fault("a copy is not aligned to 16 bytes");
  const auto copy = std::make_shared<Copy>(Copy{.to = to});
  if (inside) std::memcpy(copy->bytes.data(), from, copy->bytes.size());
  self().copies.back().push_back(copy);
  fibers_.later([&block = block(), copy] { run_copy(block, *copy); });
}

void Cluster::run_copy(Block& block, Copy& copy) {
  if (std::exchange(copy.is_done, true)) return;
  std::memcpy(at(block, copy.to, kGranule), copy.bytes.data(), copy.bytes.size());
}

void Cluster::wait_copies(std::size_t pending) {
  auto& groups = self().copies;
  while (groups.size() > pending + 1) {
    for (const auto& copy : groups.front()) run_copy(block(), *copy);
    groups.erase(groups.begin());
  }
}

std::vector<Cluster::Range> Cluster::ranges_of(const Product& product) {
  const auto of_rows = [](std::uint64_t descriptor, int rows) {
    return Range{Described(descriptor).address & ~std::uint32_t{1023},
                 static_cast<std::size_t>(rows) * 128};
  };
  std::vector<Range> ranges{of_rows(product.a, 64)};
  if (!product.has_plain_b) {
    ranges.push_back(of_rows(product.b, product.columns));
    return ranges;
  }
  const Described b(product.b, true);
  if (b.address % 1024 != 0) throw Fault("a wgmma's plain operand is not aligned to eight rows");
  const auto rows = static_cast<std::size_t>(32 / product.element);
  for (int box = 0; box * 64 < product.columns; ++box) {
    ranges.push_back({b.address + static_cast<std::uint32_t>(box) * b.box_bytes, rows * 128});
  }
  return ranges;
}

void Cluster::multiply(const Product& product) {
  if (thread() % kWarpgroup == 0) {
    for (const Range& read : ranges_of(product)) {
      at(block(), read.from, read.bytes);
      for (const Range& range : block().coming) {
        if (range.from < read.from + read.bytes && read.from < range.from + range.bytes) {
          throw Fault("a product reads what is not there yet");
        }
      }
    }
  }
  self().open.push_back(product);
}

void Cluster::commit_products() { self().groups.push_back(std::exchange(self().open, {})); }

void Cluster::wait_products(std::size_t pending) {
  const auto group = static_cast<std::size_t>(fibers_.current() / kWarpgroup);
  const int first = static_cast<int>(group) * kWarpgroup;
  meet(warpgroups_[group], kWarpgroup, "its warpgroup", [&] {
    while (states_[static_cast<std::size_t>(first)].groups.size() > pending) run_group(first);
  });
}

// Runs the oldest group.
void Cluster::run_group(int first_thread) {
  const auto threads =
      std::span(states_).subspan(static_cast<std::size_t>(first_thread), kWarpgroup);
  const std::size_t count = threads.front().groups.front().size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Product*> products;
    for (Thread& thread : threads) products.push_back(&thread.groups.at(0).at(i));
    run_product(block(), products);
  }
  for (Thread& thread : threads) thread.groups.erase(thread.groups.begin());
}

float Cluster::element_at(Block& block, const Product& product, std::uint32_t address) {
  std::uint16_t bits = 0;
  const auto bytes = static_cast<std::size_t>(product.element);
  std::memcpy(&bits, at(block, swizzled(address, kSwizzle128), bytes), bytes);
  return product.widen(bits);
}

void Cluster::run_product(Block& block, const std::vector<Product*>& of_threads) {
  constexpr int kRows = 64;
  const Product& product = *of_threads.front();
  const int depth = 32 / product.element;
  const auto is_same = [&](const Product* other) { return product.is_same_as(*other); };
  if (!std::ranges::all_of(of_threads, is_same)) throw Fault("a warpgroup's wgmmas differ");
  // Rows of a, and columns of a plain b.
  const auto read = [&](const Described& from, int rows, bool is_plain) {
    std::vector<float> values;
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < depth; ++k) {
        const auto offset =
            is_plain ? static_cast<std::uint32_t>(row / 64) * from.box_bytes +
                           static_cast<std::uint32_t>(k * 128 + row % 64 * product.element)
                     : static_cast<std::uint32_t>(row * 128 + k * product.element);
        values.push_back(element_at(block, product, from.address + offset));
      }
    }
    return values;
  };
  const std::vector<float> a = read(Described(product.a), kRows, false);
  const bool is_plain = product.has_plain_b;
  const std::vector<float> b = read(Described(product.b, is_plain), product.columns, is_plain);
  for (std::size_t thread = 0; thread < of_threads.size(); ++thread) {
    const std::size_t row = thread / kWarp * 16 + thread % kWarp / 4;
    for (int i = 0; i < product.columns / 2; ++i) {
      const float* const of_a =
          &a[(row + static_cast<std::size_t>(i / 2 % 2 * 8)) * static_cast<std::size_t>(depth)];
      const float* const of_b = &b[(static_cast<std::size_t>(i / 4 * 8 + i % 2) + thread % 4 * 2) *
                                   static_cast<std::size_t>(depth)];
      float sum = product.adds ? of_threads[thread]->sums[i] : 0;
      for (int k = 0; k < depth; ++k) sum += of_a[k] * of_b[k];
      of_threads[thread]->sums[i] = sum;
    }
  }
}

}  // namespace fusegate::kernels::emulation
