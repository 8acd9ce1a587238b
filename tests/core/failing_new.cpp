// Loaded before all other libraries, it lets one allocation of C++ fail: the one after `allocations_until_failure` others.
#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> left{-1};  // below 0 none fails

extern "C" void allocations_until_failure(long n) { left = n; }
extern "C" long allocations_left() { return left; }

namespace {
void* taken(std::size_t size) {
  return left >= 0 && left.fetch_sub(1) == 0 ? nullptr : std::malloc(size ? size : 1);
}
void* taken(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return left >= 0 && left.fetch_sub(1) == 0 ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
}
void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return or_throw(taken(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) { return or_throw(taken(size, alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return taken(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
