// Threads that take tasks from one counter. Nothing lives longer than the call, so a fork in between is harmless.
#pragma once
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace baytree {

// Thrown where the user asked to stop; nothing of the work is kept.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

class Workers {
 public:
  // `is_stopped` is asked on the calling thread only, every few milliseconds of work.
  Workers(int threads, std::function<bool()> is_stopped)
      : threads_(threads < 1 ? 1 : threads), is_stopped_(std::move(is_stopped)) {}

  int size() const { return threads_; }

  // Calls task(i, worker) for every i in [0, tasks); the order over threads is free, so tasks must not share state.
  template <std::invocable<size_t, int> Task> void run(size_t tasks, const Task& task) {
    std::atomic<size_t> next{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::mutex guard;
    auto work = [&](int worker) {
      try {
        for (size_t i; !stop && (i = next++) < tasks;) {
          task(i, worker);
          if (worker == 0) poll();
        }
      } catch (...) {
        stop = true;
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
      }
    };
    std::vector<std::thread> others;
    const int needed = int(std::min<size_t>(size_t(threads_), tasks));
    try {
      for (int worker = 1; worker < needed; ++worker) others.emplace_back(work, worker);
    } catch (...) {  // no more threads to be had: those that started, and this one, do the work
    }
    work(0);
    for (auto& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
  }

  // Asks whether the user wants to stop, at most every 20 ms; only on the calling thread.
  void poll() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(20)) return;
    asked_ = now;
    if (is_stopped_ && is_stopped_()) throw Interrupted();
  }

 private:
  int threads_;
  std::function<bool()> is_stopped_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace baytree
