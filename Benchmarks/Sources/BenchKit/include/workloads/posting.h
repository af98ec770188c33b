// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Posting for peers that only bring a wake-up: malloc'ed nodes in a list under a mutex, one wake-up when the list was
// empty. Needs struct wake; included before all.h.

typedef void post_function(void *);

#define POST_CALLBACK(name, argument) static void name(void *argument)

struct post_node {
    struct post_node *next;
    post_function *run;
    void *argument;
};

static struct post_queue {
    pthread_mutex_t lock;
    struct post_node *first;
    struct post_node **end;
    struct wake wake;
} post_queue;

WAKE_CALLBACK(post_drain, wake) {
    (void) wake;
    pthread_mutex_lock(&post_queue.lock);
    struct post_node *node = post_queue.first;
    post_queue.first = NULL;
    post_queue.end = &post_queue.first;
    pthread_mutex_unlock(&post_queue.lock);
    while (node != NULL) {
        struct post_node *next = node->next;
        node->run(node->argument);
        free(node);
        node = next;
    }
}

static void post_open(struct loop *loop) {
    pthread_mutex_init(&post_queue.lock, NULL);
    post_queue.end = &post_queue.first;
    wake_open(loop, &post_queue.wake, post_drain);
}

static void post(struct loop *loop, post_function *run, void *argument) {
    (void) loop;
    struct post_node *node = malloc(sizeof *node);
    *node = (struct post_node){NULL, run, argument};
    pthread_mutex_lock(&post_queue.lock);
    bool was_empty = post_queue.first == NULL;
    *post_queue.end = node;
    post_queue.end = &node->next;
    pthread_mutex_unlock(&post_queue.lock);
    if (was_empty) wake_send(&post_queue.wake);
}

static void post_here(struct loop *loop, post_function *run, void *argument) { post(loop, run, argument); }
