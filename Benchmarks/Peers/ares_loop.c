// Plain DNS through c-ares from C: one channel, so many look-ups in flight.
//
//     ares_loop PORT IN_FLIGHT LOOKUPS            prints one line of JSON
//
// Build: cc -O2 ares_loop.c -o ares_loop -lcares
#include <ares.h>
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>

#include "measure.h"

static ares_channel channel;
static long total, asked, answered, failed;
static int64_t *latencies;
static struct pollfd sockets[64];
static int socket_count;

typedef struct {
    int64_t begun;
    int is_free;
} look_up;

static void ask(look_up *one);

static void on_answer(void *context, int status, int timeouts, unsigned char *octets, int count) {
    (void)timeouts;
    look_up *one = context;
    if (status == ARES_EDESTRUCTION) return;
    struct ares_addrttl addresses[8];
    int found = 8;
    if (status == ARES_SUCCESS
        && ares_parse_a_reply(octets, count, NULL, addresses, &found) == ARES_SUCCESS && found > 0) {
        latencies[answered++] = measure_now() - one->begun;
    } else {
        failed++;
    }
    one->is_free = 1;
}

static void ask(look_up *one) {
    char name[64];
    snprintf(name, sizeof name, "n%ld.bench.test", asked++);
    one->is_free = 0;
    one->begun = measure_now();
    ares_query(channel, name, 1, 1, on_answer, one);
}

static void on_socket(void *context, ares_socket_t socket, int reads, int writes) {
    (void)context;
    int at = 0;
    while (at < socket_count && sockets[at].fd != socket) at++;
    if (!reads && !writes) {
        if (at < socket_count) sockets[at] = sockets[--socket_count];
        return;
    }
    if (at == socket_count) {
        if (socket_count == 64) return;
        socket_count++;
    }
    sockets[at] = (struct pollfd){
        .fd = socket, .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: ares_loop PORT IN_FLIGHT LOOKUPS\n"), 2;
    int flight = atoi(arguments[2]);
    total = atol(arguments[3]);
    if (flight < 1 || total < 1) return 2;
    struct ares_options options = {
        .timeout = 5000, .tries = 3, .lookups = (char *)"b", .sock_state_cb = on_socket,
        .socket_receive_buffer_size = 4 << 20, .flags = ARES_FLAG_NOSEARCH};
    ares_library_init(ARES_LIB_INIT_ALL);
    if (ares_init_options(
            &channel, &options,
            ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB
                | ARES_OPT_SOCK_RCVBUF | ARES_OPT_FLAGS)
        != ARES_SUCCESS)
        return 1;
    char server[64];
    snprintf(server, sizeof server, "127.0.0.1:%s", arguments[1]);
    if (ares_set_servers_ports_csv(channel, server) != ARES_SUCCESS) return 1;
    latencies = calloc((size_t)total, sizeof *latencies);
    look_up *look_ups = calloc((size_t)flight, sizeof *look_ups);
    int64_t start = measure_now(), computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (int each = 0; each < flight; each++) look_ups[each].is_free = 1;
    while (answered + failed < total) {
        for (int each = 0; each < flight && asked < total; each++)
            if (look_ups[each].is_free) ask(&look_ups[each]);
        struct timeval most = {1, 0}, room;
        struct timeval *wait = ares_timeout(channel, &most, &room);
        int ready = poll(sockets, (nfds_t)socket_count, (int)(wait->tv_sec * 1000 + wait->tv_usec / 1000) + 1);
        if (ready <= 0) {
            ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
            continue;
        }
        struct pollfd seen[64];
        int seen_count = socket_count;
        memcpy(seen, sockets, sizeof seen);
        for (int each = 0; each < seen_count; each++) {
            if (!seen[each].revents) continue;
            ares_process_fd(
                channel, seen[each].revents & (POLLIN | POLLERR) ? seen[each].fd : ARES_SOCKET_BAD,
                seen[each].revents & POLLOUT ? seen[each].fd : ARES_SOCKET_BAD);
        }
    }
    measure_report(
        "c-ares", latencies, answered, failed, measure_now() - start,
        measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed);
    ares_destroy(channel);
    return 0;
}
