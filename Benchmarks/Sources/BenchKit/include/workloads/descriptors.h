// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// W7, W7b: callbacks for descriptors.

struct w7_pipe {
    struct io io;
    int64_t index;
};

static struct loop io_loop;
static int (*w7_pipes)[2];
static struct w7_pipe *w7_watched;
static int64_t w7_count, w7_left, w7_total, w7_began, w7_repetition;
static bk_random w7_random;

static void w7_open(bool is_chain);

// MARK: W7 one byte to a random pipe

IO_CALLBACK(w7_ready, io) {
    struct w7_pipe *pipe = BK_OWNER(io, struct w7_pipe, io);
    bk_read_byte(w7_pipes[pipe->index][0]);
    if (--w7_left <= 0) {
        int64_t now = bk_now();
        if (w7_began != 0) {
            bk_repeat("ns", (double) (now - w7_began) / (double) w7_total);
            if (!bk_again(++w7_repetition)) return loop_stop(&io_loop);
        } else {
            bk_again(0);
        }
        w7_left = w7_total;
        w7_began = bk_now();
    }
    bk_write_byte(w7_pipes[bk_random_below(&w7_random, (uint64_t) w7_count)][1]);
}

static void *w7_thread(void *argument) {
    (void) argument;
    w7_total = bk_number("count", 200000);
    w7_left = w7_total / 10;
    w7_random = bk_random_seeded();
    w7_open(false);
    bk_write_byte(w7_pipes[0][1]);
    loop_run(&io_loop);
    bk_medians();
    return NULL;
}

static void w7(void) { on_thread(w7_thread); }

// MARK: W7b the chain of libevent's own benchmark

static int64_t w7b_writes, w7b_fired, w7b_active, w7b_total;

static void w7b_start(void) {
    w7b_writes = w7b_total;
    w7b_fired = 0;
    w7_began = bk_now();
    for (int64_t i = 0; i < w7b_active; i++) bk_write_byte(w7_pipes[i * (w7_count / w7b_active)][1]);
}

IO_CALLBACK(w7b_ready, io) {
    struct w7_pipe *pipe = BK_OWNER(io, struct w7_pipe, io);
    bk_read_byte(w7_pipes[pipe->index][0]);
    w7b_fired++;
    if (w7b_writes > 0) {
        w7b_writes--;
        int64_t next = pipe->index + 1;
        bk_write_byte(w7_pipes[next < w7_count ? next : 0][1]);
        return;
    }
    if (w7b_fired < w7b_total + w7b_active) return;
    bk_repeat("ns", (double) (bk_now() - w7_began) / (double) w7b_fired);
    if (bk_again(++w7_repetition)) w7b_start(); else loop_stop(&io_loop);
}

static void *w7b_thread(void *argument) {
    (void) argument;
    w7b_total = bk_number("count", 300000);
    w7b_active = bk_number("active", 100);
    w7_open(true);
    bk_again(0);
    w7b_start();
    loop_run(&io_loop);
    bk_medians();
    return NULL;
}

static void w7b(void) { on_thread(w7b_thread); }

static void w7_open(bool is_chain) {
    w7_count = bk_number("n", 100);
    w7_pipes = calloc((size_t) w7_count, sizeof *w7_pipes);
    w7_watched = calloc((size_t) w7_count, sizeof *w7_watched);
    bk_make_pipes(w7_pipes, w7_count);
    loop_open(&io_loop);
    for (int64_t i = 0; i < w7_count; i++) {
        w7_watched[i].index = i;
        io_open(&io_loop, &w7_watched[i].io, w7_pipes[i][0], is_chain ? w7b_ready : w7_ready);
    }
}
