// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "DispatchSignals.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

// libdispatch's own headers are not among those that a C target finds. On Linux its objects are plain pointers.
extern const char _dispatch_source_type_signal;
extern void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue);
extern void *dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
extern void dispatch_set_context(void *object, void *context);
extern void dispatch_source_set_event_handler_f(void *source, void (*handler)(void *));
extern void dispatch_source_set_cancel_handler_f(void *source, void (*handler)(void *));
extern void dispatch_source_set_registration_handler_f(void *source, void (*handler)(void *));
extern uintptr_t dispatch_source_get_data(void *source);
extern void dispatch_source_cancel(void *source);
extern void *dispatch_semaphore_create(intptr_t value);
extern intptr_t dispatch_semaphore_signal(void *semaphore);
extern intptr_t dispatch_semaphore_wait(void *semaphore, uint64_t time);
extern uint64_t dispatch_time(uint64_t when, int64_t nanoseconds);
extern void dispatch_resume(void *object);
extern void dispatch_release(void *object);
extern bool _dispatch_is_fork_of_multithreaded_parent(void);

#define OVERCOMMIT 2
#define SECOND 1000000000

typedef struct {
    void *source;
    void *registered;
    void *context;
    void (*told)(void *, uint64_t);
    void (*ended)(void *);
} watch;

static void on_signals(void *context) {
    watch *watch = context;
    watch->told(watch->context, dispatch_source_get_data(watch->source));
}

static void on_registration(void *context) { dispatch_semaphore_signal(((watch *)context)->registered); }

static void on_end(void *context) {
    watch *watch = context;
    watch->ended(watch->context);
    dispatch_release(watch->registered);
    free(watch);
}

bool rl_signal_is_dispatchs(int signal) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) < 0) return false;
    // The two members share their place.
    void *handler = (void *)action.sa_sigaction;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return false;
    // The handler has no name that could be found; where it lies says whose it is, if that is not the program itself,
    // into which libdispatch was linked. There a handler of the program's own is taken for libdispatch's.
    Dl_info of_handler, of_dispatch;
    return dladdr(handler, &of_handler) && dladdr((void *)dispatch_source_create, &of_dispatch) &&
        of_handler.dli_fbase == of_dispatch.dli_fbase;
}

void *rl_dispatch_signals_begin(int signal, void *context, void (*told)(void *, uint64_t), void (*ended)(void *)) {
    if (_dispatch_is_fork_of_multithreaded_parent()) return NULL;
    watch *made = malloc(sizeof *made);
    if (made == NULL) return NULL;
    // Overcommit: a queue that gets a thread even if all threads of the pool are blocked, maybe by this very call.
    void *queue = dispatch_get_global_queue(0, OVERCOMMIT);
    *made = (watch){
        .source = dispatch_source_create(&_dispatch_source_type_signal, (uintptr_t)signal, 0, queue),
        .registered = dispatch_semaphore_create(0),
        .context = context,
        .told = told,
        .ended = ended,
    };
    if (made->source == NULL) {
        dispatch_release(made->registered);
        free(made);
        return NULL;
    }
    dispatch_set_context(made->source, made);
    dispatch_source_set_event_handler_f(made->source, on_signals);
    dispatch_source_set_cancel_handler_f(made->source, on_end);
    dispatch_source_set_registration_handler_f(made->source, on_registration);
    dispatch_resume(made->source);
    // Not for ever: a libdispatch that cannot make a thread tells nobody anything.
    dispatch_semaphore_wait(made->registered, dispatch_time(0, SECOND));
    return made->source;
}

void rl_dispatch_signals_end(void *source) {
    dispatch_source_cancel(source);
    dispatch_release(source);
}
