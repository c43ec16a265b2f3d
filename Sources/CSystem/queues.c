#include "chttpdns_system.h"

// Declared here, not taken from <dispatch/dispatch.h>: that header needs -fblocks, which a C target
// of a package cannot ask for without unsafe flags.
extern void *dispatch_get_current_queue(void);
extern void dispatch_retain(void *object);
extern void dispatch_release(void *object);
extern void dispatch_async_f(void *queue, void *context, void (*work)(void *));

void *httpdns_current_queue_retained(void) {
    void *queue = dispatch_get_current_queue();
    if (queue) dispatch_retain(queue);
    return queue;
}

void httpdns_queue_async(void *queue, void *context, void (*work)(void *)) {
    dispatch_async_f(queue, context, work);
}

void httpdns_queue_release(void *queue) { dispatch_release(queue); }
