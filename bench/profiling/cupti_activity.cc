// A profiler made of CUPTI's activity records (https://docs.nvidia.com/cupti). Nobody else may hold
// CUPTI at the time: being its one subscriber shows that nobody does.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bench/profiling/beside_cuda.h"
#include "bench/profiling/kernel_codes.h"
#include "bench/profiling/profiler.h"

namespace fusegate::bench {
namespace {

using baselines::TraceCategory;

// CUPTI, the CUDA toolkit's profiling library, opened when it is first used, and not linked. The
// program must start on machines without it, and it must not be loaded while a process measures.
// Only what is used here. All there since CUDA 12.0.
struct CuptiLibrary {
  struct Symbol {
    template <typename Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
    void* address;
  };
  Symbol find(const char* name) {
    void* const address = library == nullptr ? nullptr : dlsym(library, name);
    is_complete = is_complete && address != nullptr;
    return {address};
  }

  void* library = open_beside_cuda(FUSEGATE_CUPTI_LIBRARY);  // stays open
  bool is_complete = library != nullptr;
  decltype(&cuptiSubscribe) subscribe = find("cuptiSubscribe");
  decltype(&cuptiUnsubscribe) unsubscribe = find("cuptiUnsubscribe");
  decltype(&cuptiEnableCallback) enable_callback = find("cuptiEnableCallback");
  decltype(&cuptiGetTimestamp) timestamp = find("cuptiGetTimestamp");
  decltype(&cuptiSetThreadIdType) set_thread_id_type = find("cuptiSetThreadIdType");
  decltype(&cuptiGetCallbackName) callback_name = find("cuptiGetCallbackName");
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks =
      find("cuptiActivityRegisterCallbacks");
  decltype(&cuptiActivityEnable) enable = find("cuptiActivityEnable");
  decltype(&cuptiActivityDisable) disable = find("cuptiActivityDisable");
  decltype(&cuptiActivityFlushAll) flush = find("cuptiActivityFlushAll");
  decltype(&cuptiActivityGetNextRecord) next_record = find("cuptiActivityGetNextRecord");
  decltype(&cuptiActivityPushExternalCorrelationId) push_id =
      find("cuptiActivityPushExternalCorrelationId");
  decltype(&cuptiActivityPopExternalCorrelationId) pop_id =
      find("cuptiActivityPopExternalCorrelationId");
};

// Incomplete where this machine has none of the toolkit's major version.
const CuptiLibrary& cupti() {
  static const CuptiLibrary library;
  return library;
}

constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                            CUPTI_ACTIVITY_KIND_RUNTIME,
                            CUPTI_ACTIVITY_KIND_DRIVER,
                            CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                            CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMSET};
constexpr auto kPartKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

// Throws where CUPTI fails.
void check(CUptiResult result) {
  switch (result) {
    case CUPTI_SUCCESS:
      return;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      throw ProfilerError(baselines::Warning::kProfilerRefused);
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
      throw ProfilerError(baselines::Warning::kProfilerTaken);
    default:
      throw ProfilerError(baselines::Warning::kProfileFailed);
  }
}

// PyTorch's words for CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, by their values.
constexpr std::array<std::string_view, 11> kCopies{
    "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemories{"Unknown",       "Pageable",      "Pinned",
                                                    "Device",        "Array",         "Managed",
                                                    "Device Static", "Managed Static"};

template <std::size_t size>
std::string word(const std::array<std::string_view, size>& words, std::size_t value) {
  return std::string(words[value < size ? value : 0]);
}

std::string title_of(const CUpti_ActivityMemcpy5& copy) {
  return "Memcpy " + word(kCopies, copy.copyKind) + " (" + word(kMemories, copy.srcKind) + " -> " +
         word(kMemories, copy.dstKind) + ")";
}

std::string title_of(const CUpti_ActivityMemset4& set) {
  return "Memset (" + word(kMemories, set.memoryKind) + ")";
}

// What CUPTI delivers, on a thread of its own. One for the process, since its callbacks take no
// argument of ours.
class Collector {
 public:
  void add(std::uint8_t* buffer, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (cupti().next_record(buffer, bytes, &record) == CUPTI_SUCCESS) add(*record);
  }
  // Throws where a kernel or a memory operation lacks its times.
  Activity take() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(untimed_, 0) > 0) throw ProfilerError(baselines::Warning::kProfileFailed);
    return std::exchange(activity_, {});
  }

 private:
  // Of the records' versions the one that CUDA 12.0 has: later ones only add fields behind it.
  void add(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return add(reinterpret_cast<const CUpti_ActivityKernel8&>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return add_memory(reinterpret_cast<const CUpti_ActivityMemcpy5&>(record),
                          TraceCategory::kMemcpy);
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return add_memory(reinterpret_cast<const CUpti_ActivityMemset4&>(record),
                          TraceCategory::kMemset);
      case CUPTI_ACTIVITY_KIND_RUNTIME:
        return add_call(reinterpret_cast<const CUpti_ActivityAPI&>(record),
                        CUPTI_CB_DOMAIN_RUNTIME_API, TraceCategory::kRuntimeCall);
      case CUPTI_ACTIVITY_KIND_DRIVER:
        return add_call(reinterpret_cast<const CUpti_ActivityAPI&>(record),
                        CUPTI_CB_DOMAIN_DRIVER_API, TraceCategory::kDriverCall);
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto& part = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(record);
        activity_.parts.push_back(
            {.correlation = part.correlationId, .part = static_cast<std::size_t>(part.externalId)});
        return;
      }
      default:
        return;
    }
  }

  void add(const CUpti_ActivityKernel8& kernel) {
    baselines::TraceEvent& event = add_work(kernel, TraceCategory::kKernel);
    event.name = kernel.name != nullptr ? kernel.name : "";
    event.launch = baselines::LaunchShape{
        .grid = {kernel.gridX, kernel.gridY, kernel.gridZ},
        .block = {kernel.blockX, kernel.blockY, kernel.blockZ},
        .registers_per_thread = kernel.registersPerThread,
        .shared_bytes = std::int64_t{kernel.staticSharedMemory} + kernel.dynamicSharedMemory,
        .static_shared_bytes = kernel.staticSharedMemory};
  }

  template <typename Record>
  void add_memory(const Record& record, TraceCategory category) {
    baselines::TraceEvent& event = add_work(record, category);
    event.name = title_of(record);
    event.bytes = static_cast<std::int64_t>(record.bytes);
  }

  template <typename Record>
  baselines::TraceEvent& add_work(const Record& record, TraceCategory category) {
    if (record.start == 0 || record.end == 0) ++untimed_;
    return add_event(record, category,
                     {.process = record.deviceId,
                      .thread = record.streamId,
                      .process_name = fmt::format("GPU {}", record.deviceId),
                      .thread_name = fmt::format("stream {}", record.streamId)});
  }

  void add_call(const CUpti_ActivityAPI& call, CUpti_CallbackDomain domain,
                TraceCategory category) {
    // One without its times passes for made before the first part, and is left out as such.
    baselines::TraceEvent& event =
        add_event(call, category,
                  {.process = getpid(),
                   .thread = call.threadId,
                   .process_name = kProgramName,
                   .thread_name = fmt::format("thread {}", call.threadId)});
    const char* name = nullptr;
    const bool known = cupti().callback_name(domain, call.cbid, &name) == CUPTI_SUCCESS;
    event.name = known && name != nullptr ? name : std::to_string(call.cbid);
  }

  template <typename Record>
  baselines::TraceEvent& add_event(const Record& record, TraceCategory category,
                                   baselines::TraceTrack track) {
    const auto start = static_cast<std::int64_t>(record.start);
    return activity_.trace.events.emplace_back(
        baselines::TraceEvent{.name = {},
                              .category = category,
                              .track = activity_.trace.add_track(std::move(track)),
                              .start_ns = start,
                              .duration_ns = static_cast<std::int64_t>(record.end) - start,
                              .correlation = record.correlationId});
  }

  std::mutex mutex_;
  Activity activity_;
  std::size_t untimed_ = 0;
};

Collector& collector() {
  static Collector collector;
  return collector;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  constexpr std::size_t kBytes = std::size_t{1} << 20, kAlignment = ACTIVITY_RECORD_ALIGNMENT;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *bytes = *buffer != nullptr ? kBytes : 0;
  *most_records = 0;  // as many as there is room for
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  collector().add(buffer, valid_bytes);
  std::free(buffer);
}

// A module is handed over when it is loaded, and again at each launch of one of its kernels, but
// for launches of graphs (seen on an H200 with driver 580.159.04).
constexpr std::array kModuleCallbacks{CUPTI_CBID_RESOURCE_MODULE_LOADED,
                                      CUPTI_CBID_RESOURCE_MODULE_PROFILED};

void CUPTIAPI see_module(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  if (std::ranges::find(kModuleCallbacks, id) == kModuleCallbacks.end()) return;
  const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
  const auto& module = *static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor);
  if (module.pCubin == nullptr) return;
  const ModuleKey key{resource.context, module.moduleId};
  const auto cubin = std::as_bytes(std::span(module.pCubin, module.cubinSize));
  if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    seen_kernel_codes().load(key, cubin);
  } else {
    seen_kernel_codes().launch(key, cubin);
  }
}

class CuptiProfiler : public Profiler {
 public:
  CuptiProfiler() {
    seen_kernel_codes().begin_call();
    check(cupti().subscribe(&subscriber_, &see_module, nullptr));
    try {
      check(cupti().set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
      check(cupti().register_callbacks(&give_buffer, &take_buffer));
      for (const CUpti_ActivityKind kind : kKinds) check(cupti().enable(kind));
      for (const auto id : kModuleCallbacks) {
        check(cupti().enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id));
      }
    } catch (...) {
      detach();
      throw;
    }
  }
  ~CuptiProfiler() override { detach(); }
  // There is one subscriber.
  CuptiProfiler(const CuptiProfiler&) = delete;
  CuptiProfiler& operator=(const CuptiProfiler&) = delete;

  std::int64_t now() const override {
    std::uint64_t time = 0;
    check(cupti().timestamp(&time));
    return static_cast<std::int64_t>(time);
  }

  void begin_part(std::size_t number) override { check(cupti().push_id(kPartKind, number)); }
  void end_part() noexcept override {
    std::uint64_t last = 0;
    cupti().pop_id(kPartKind, &last);
  }

  Activity take() override {
    check(cupti().flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    return collector().take();
  }

 private:
  // Nothing can be done about a failure here.
  void detach() const {
    for (const CUpti_ActivityKind kind : kKinds) cupti().disable(kind);
    cupti().flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cupti().unsubscribe(subscriber_);
  }

  CUpti_SubscriberHandle subscriber_{};
};

}  // namespace

std::unique_ptr<Profiler> attach_cupti() {
  if (!cupti().is_complete) throw ProfilerError(baselines::Warning::kProfilerMissing);
  return std::make_unique<CuptiProfiler>();
}

}  // namespace fusegate::bench
