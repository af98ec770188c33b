// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A binary heap of timers: 16-byte entries with the date in them, and each timer knows its place.

struct timer {
    int64_t due;  // the workload's
    int64_t at, interval;
    void (*fire)(struct timer *);
    int32_t place;
};

struct heap_entry {
    int64_t due;
    struct timer *timer;
};

struct heap {
    struct heap_entry *entries;
    int32_t count, capacity;
};

static inline void heap_put(struct heap *heap, int32_t place, struct heap_entry entry) {
    heap->entries[place] = entry;
    entry.timer->place = place;
}

static inline void heap_up(struct heap *heap, int32_t place, struct heap_entry entry) {
    while (place > 0) {
        int32_t parent = (place - 1) / 2;
        if (heap->entries[parent].due <= entry.due) break;
        heap_put(heap, place, heap->entries[parent]);
        place = parent;
    }
    heap_put(heap, place, entry);
}

static inline void heap_down(struct heap *heap, int32_t place, struct heap_entry entry) {
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count && heap->entries[child + 1].due < heap->entries[child].due) child++;
        if (entry.due <= heap->entries[child].due) break;
        heap_put(heap, place, heap->entries[child]);
        place = child;
    }
    heap_put(heap, place, entry);
}

static void heap_insert(struct heap *heap, struct timer *timer, int64_t due) {
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity == 0 ? 64 : heap->capacity * 2;
        heap->entries = realloc(heap->entries, (size_t) heap->capacity * sizeof *heap->entries);
    }
    heap_up(heap, heap->count++, (struct heap_entry){due, timer});
}

// Puts an entry where another was, and from there where it belongs.
static inline void heap_replace(struct heap *heap, int32_t place, struct heap_entry entry) {
    if (place > 0 && entry.due < heap->entries[(place - 1) / 2].due) {
        heap_up(heap, place, entry);
    } else {
        heap_down(heap, place, entry);
    }
}

static void heap_remove(struct heap *heap, struct timer *timer) {
    int32_t place = timer->place;
    struct heap_entry last = heap->entries[--heap->count];
    if (place < heap->count) heap_replace(heap, place, last);
}

static void heap_change(struct heap *heap, struct timer *timer, int64_t due) {
    heap_replace(heap, timer->place, (struct heap_entry){due, timer});
}
