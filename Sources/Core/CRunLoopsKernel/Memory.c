// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Reading memory of this process that may not be there.

#define _GNU_SOURCE
#include "Memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The way that is left where a sandbox refuses process_vm_readv.
static ssize_t copy_by_file(uint64_t from, void *to, size_t size) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = syscall(SYS_pread64, file, to, size, (int64_t)from);
    syscall(SYS_close, file);
    return count;
}

typedef ssize_t (*copy)(uint64_t from, void *to, size_t size);

// Long arguments: the kernel reads whole words, of which an int on the stack fills a half.
static ssize_t copy_by_call(uint64_t from, void *to, size_t size) {
    struct iovec local = {to, size}, remote = {(void *)from, size};
    ssize_t count = syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1L, &remote, 1L, 0L);
    return count < 0 && errno != EFAULT ? copy_by_file(from, to, size) : count;
}

// Raw system calls, and none that a sanitizer's runtime would intercept: the handler may do nothing else.
static size_t copy_pages(copy copy, uint64_t from, void *to, size_t size) {
    size_t done = 0;
    while (done < size) {
        // A page at a time, so that a page that cannot be read does not cost the page before it.
        size_t piece = 4096 - (from + done) % 4096;
        if (piece > size - done) piece = size - done;
        ssize_t count = copy(from + done, (char *)to + done, piece);
        if (count <= 0) break;
        done += (size_t)count;
    }
    return done;
}

size_t rl_copy_memory(uint64_t from, void *to, size_t size) { return copy_pages(copy_by_call, from, to, size); }

size_t rl_copy_memory_by_file(uint64_t from, void *to, size_t size) { return copy_pages(copy_by_file, from, to, size); }
