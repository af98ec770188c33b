// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A run loop of Swift inside Node's loop: of the main thread, and of each worker that loads the add-on.

#if __has_include(<node/node_api.h>)

#define NAPI_VERSION 8
#include <node_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "Station.h"
#include "uv_host.h"

// MARK: The host

// The add-on in one environment of Node's.
typedef struct {
    napi_env env;
    uv_host host;
    napi_async_context context;
    napi_ref resource;
    napi_async_cleanup_hook_handle cleanup;
    // The number of promises and timers that keep Node alive.
    int pending;
    uv_async_t async;
    uv_check_t check;
    unsigned long polls;
    // The measurement of hops that is under way.
    struct measurement *hops;
    int handles;
} addon;

// Runs the loop as Node runs a callback: promises and process.nextTick() have their turn at the end of the scope.
static void serve(uv_host *host) {
    addon *here = host->data;
    napi_handle_scope handles;
    napi_callback_scope callbacks;
    napi_value resource;
    napi_open_handle_scope(here->env, &handles);
    napi_get_reference_value(here->env, here->resource, &resource);
    napi_open_callback_scope(here->env, resource, here->context, &callbacks);
    host->result = runloops_run_ready(host->loop, NULL, 0);
    napi_close_callback_scope(here->env, callbacks);
    napi_close_handle_scope(here->env, handles);
}

// Node goes on while something is pending, and may end when nothing is.
static void expect(addon *here, int change) {
    here->pending += change;
    uv_handle_t *handle = (uv_handle_t *)&here->host.poll;
    if (here->pending > 0) uv_ref(handle);
    else uv_unref(handle);
}

static void is_closed(addon *here) {
    here->handles -= 1;
    if (here->handles > 0) return;
    napi_delete_reference(here->env, here->resource);
    napi_async_destroy(here->env, here->context);
    napi_remove_async_cleanup_hook(here->cleanup);
    free(here);
}
static void host_is_closed(uv_host *host) { is_closed(host->data); }
static void handle_is_closed(uv_handle_t *handle) { is_closed(handle->data); }

// The environment ends: the loop's descriptor is closed with the thread, and libuv must not wait for it then.
static void clean_up(napi_async_cleanup_hook_handle hook, void *context) {
    (void)hook;
    addon *here = context;
    here->handles = 3;
    uv_host_stop(&here->host, host_is_closed);
    uv_close((uv_handle_t *)&here->async, handle_is_closed);
    uv_close((uv_handle_t *)&here->check, handle_is_closed);
}

// MARK: Promises, and functions of JavaScript's

typedef struct {
    addon *addon;
    // One of the two.
    napi_deferred deferred;
    napi_ref function;
    int32_t last;
    // A measurement's.
    uint64_t start;
    unsigned long polls;
} answer;

static answer *make_answer(addon *addon) {
    answer *one = calloc(1, sizeof *one);
    one->addon = addon;
    expect(addon, 1);
    return one;
}

static napi_value make_promise(addon *addon, answer **result) {
    napi_value promise;
    *result = make_answer(addon);
    napi_create_promise(addon->env, &(*result)->deferred, &promise);
    return promise;
}

static void end_answer(answer *one) {
    expect(one->addon, -1);
    free(one);
}

static void resolve(answer *one, napi_value value) {
    napi_resolve_deferred(one->addon->env, one->deferred, value);
    end_answer(one);
}

static napi_value number(napi_env env, double value) {
    napi_value result;
    napi_create_double(env, value, &result);
    return result;
}

static void set(napi_env env, napi_value object, const char *name, double value) {
    napi_set_named_property(env, object, name, number(env, value));
}

static bool get_number(napi_env env, napi_value value, double *result) {
    if (napi_get_value_double(env, value, result) == napi_ok) return true;
    napi_throw_type_error(env, NULL, "a number is wanted");
    return false;
}

// MARK: tick(count, milliseconds, function)

static void has_ticked(void *context, int32_t ticks) {
    answer *one = context;
    napi_env env = one->addon->env;
    napi_value function, global, error, argument = number(env, ticks);
    napi_get_reference_value(env, one->function, &function);
    napi_get_global(env, &global);
    if (napi_call_function(env, global, function, 1, &argument, NULL) == napi_pending_exception) {
        napi_get_and_clear_last_exception(env, &error);
        napi_fatal_exception(env, error);
    }
    if (ticks < one->last) return;
    napi_delete_reference(env, one->function);
    end_answer(one);
}

static napi_value tick(napi_env env, napi_callback_info info) {
    size_t count = 3;
    napi_value arguments[3];
    void *here;
    double ticks, milliseconds;
    napi_get_cb_info(env, info, &count, arguments, NULL, &here);
    if (!get_number(env, arguments[0], &ticks) || !get_number(env, arguments[1], &milliseconds)) return NULL;
    answer *one = make_answer(here);
    one->last = (int32_t)ticks;
    napi_create_reference(env, arguments[2], 1, &one->function);
    station_tick(one->last, milliseconds, has_ticked, one);
    return NULL;
}

// MARK: sum(count), an async function of Swift's

static void has_added(void *context, double sum) {
    answer *one = context;
    resolve(one, number(one->addon->env, sum));
}

static napi_value sum(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value argument;
    void *here;
    double last;
    napi_get_cb_info(env, info, &count, &argument, NULL, &here);
    if (!get_number(env, argument, &last)) return NULL;
    answer *one;
    napi_value promise = make_promise(here, &one);
    station_sum((int64_t)last, has_added, one);
    return promise;
}

// MARK: give(kind): how long work of a callback waits, and whether Node's loop has waited before

static void has_polled(uv_check_t *check) { ((addon *)check->data)->polls += 1; }

static void is_served(void *context) {
    answer *one = context;
    napi_value object;
    double delay = (uv_hrtime() - one->start) / 1e3;
    napi_create_object(one->addon->env, &object);
    set(one->addon->env, object, "delay", delay);
    set(one->addon->env, object, "polls", one->addon->polls - one->polls);
    resolve(one, object);
}

static napi_value give(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value argument;
    void *here;
    double kind;
    napi_get_cb_info(env, info, &count, &argument, NULL, &here);
    if (!get_number(env, argument, &kind)) return NULL;
    answer *one;
    napi_value promise = make_promise(here, &one);
    one->polls = one->addon->polls;
    one->start = uv_hrtime();
    if (kind < 3) station_give((int32_t)kind, is_served, one);
    else runloops_perform(one->addon->host.loop, NULL, is_served, one, NULL);
    return promise;
}

// MARK: hops(count), from a thread, by the loop and by libuv in turns; rest(seconds)

typedef struct measurement {
    answer *answer;
    int count;
    uint64_t left, *delays[2];
    int arrived[2];
    uv_sem_t done;
    double seconds;
    long sleeps;
    unsigned long waits;
} measurement;

static void arrive(measurement *one, int kind) {
    one->delays[kind][one->arrived[kind]++] = uv_hrtime() - one->left;
    uv_sem_post(&one->done);
}
static void arrive_in_loop(void *context) { arrive(context, 0); }
static void arrive_in_async(uv_async_t *async) { arrive(((addon *)async->data)->hops, 1); }

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static double median(uint64_t *delays, int count) {
    qsort(delays, count, sizeof *delays, compare);
    return delays[count / 2] / 1e3;
}

static void has_measured_hops(void *context) {
    measurement *one = context;
    napi_env env = one->answer->addon->env;
    napi_value object;
    napi_create_object(env, &object);
    set(env, object, "loop", median(one->delays[0], one->count));
    set(env, object, "async", median(one->delays[1], one->count));
    resolve(one->answer, object);
    uv_sem_destroy(&one->done);
    free(one->delays[0]);
    free(one->delays[1]);
    free(one);
}

static void *measure_hops(void *context) {
    measurement *one = context;
    addon *here = one->answer->addon;
    for (int i = 0; i < 2 * one->count; i += 1) {
        // Node's thread sleeps by now.
        usleep(1000);
        one->left = uv_hrtime();
        if (i % 2) uv_async_send(&here->async);
        else runloops_perform(here->host.loop, NULL, arrive_in_loop, one, NULL);
        uv_sem_wait(&one->done);
    }
    runloops_perform(here->host.loop, NULL, has_measured_hops, one, NULL);
    return NULL;
}

static long sleeps_of_main_thread(void) {
    char path[64], line[128];
    long count = -1;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", getpid(), getpid());
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    if (file) fclose(file);
    return count;
}

static void has_measured_rest(void *context) {
    measurement *one = context;
    napi_env env = one->answer->addon->env;
    napi_value object;
    napi_create_object(env, &object);
    set(env, object, "sleeps", one->sleeps);
    set(env, object, "waits", one->waits);
    resolve(one->answer, object);
    free(one);
}

// The fewest of three counts: Node itself may do something in one of them.
static void *measure_rest(void *context) {
    measurement *one = context;
    addon *here = one->answer->addon;
    usleep(500000);
    for (int i = 0; i == 0 || (i < 3 && one->sleeps > 0); i += 1) {
        long sleeps = sleeps_of_main_thread();
        unsigned long waits = here->host.waits;
        usleep((unsigned)(one->seconds * 1e6));
        one->sleeps = sleeps_of_main_thread() - sleeps;
        one->waits = here->host.waits - waits;
    }
    runloops_perform(here->host.loop, NULL, has_measured_rest, one, NULL);
    return NULL;
}

static napi_value measure(napi_env env, napi_callback_info info, void *(*body)(void *)) {
    size_t count = 1;
    napi_value argument;
    void *here;
    double value;
    napi_get_cb_info(env, info, &count, &argument, NULL, &here);
    if (!get_number(env, argument, &value)) return NULL;
    measurement *one = calloc(1, sizeof *one);
    napi_value promise = make_promise(here, &one->answer);
    one->count = (int)value;
    one->seconds = value;
    for (int kind = 0; kind < 2 && body == measure_hops; kind += 1) one->delays[kind] = calloc(one->count, sizeof(uint64_t));
    if (body == measure_hops) uv_sem_init(&one->done, 0);
    if (body == measure_hops) ((addon *)here)->hops = one;
    pthread_t thread;
    pthread_create(&thread, NULL, body, one);
    pthread_detach(thread);
    return promise;
}
static napi_value hops(napi_env env, napi_callback_info info) { return measure(env, info, measure_hops); }
static napi_value rest(napi_env env, napi_callback_info info) { return measure(env, info, measure_rest); }

// MARK: The add-on

NAPI_MODULE_INIT() {
    addon *here = calloc(1, sizeof *here);
    here->env = env;
    here->host.data = here;
    here->host.serve = serve;
    uv_loop_t *uv;
    napi_get_uv_event_loop(env, &uv);
    // On Node's main thread it is the main loop, with the main actor.
    int error = uv_host_start(&here->host, uv, runloops_current());
    if (error) {
        free(here);
        napi_throw_error(env, NULL, strerror(-error));
        return NULL;
    }
    napi_value resource, name;
    napi_create_object(env, &resource);
    napi_create_reference(env, resource, 1, &here->resource);
    napi_create_string_utf8(env, "run loop", NAPI_AUTO_LENGTH, &name);
    napi_async_init(env, resource, name, &here->context);
    napi_add_async_cleanup_hook(env, clean_up, here, &here->cleanup);
    uv_async_init(uv, &here->async, arrive_in_async);
    here->async.data = here;
    uv_unref((uv_handle_t *)&here->async);
    uv_check_init(uv, &here->check);
    here->check.data = here;
    uv_check_start(&here->check, has_polled);
    uv_unref((uv_handle_t *)&here->check);
    napi_property_descriptor functions[] = {
        {"tick", NULL, tick, NULL, NULL, NULL, napi_enumerable, here},
        {"sum", NULL, sum, NULL, NULL, NULL, napi_enumerable, here},
        {"give", NULL, give, NULL, NULL, NULL, napi_enumerable, here},
        {"hops", NULL, hops, NULL, NULL, NULL, napi_enumerable, here},
        {"rest", NULL, rest, NULL, NULL, NULL, napi_enumerable, here},
    };
    napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
    return exports;
}

#endif
