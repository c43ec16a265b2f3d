// Plain DNS through c-ares from C as safe as it can be had: a channel, and with it a port, for each
// question.
//
//     ares_ports PORT IN_FLIGHT LOOKUPS            prints one line of JSON
//
// Build: cc -O2 ares_ports.c -o ares_ports -lcares
#include <ares.h>
#include <arpa/inet.h>
#include <string.h>
#include <sys/epoll.h>

#include "measure.h"

typedef struct {
    ares_channel channel;
    int socket;
    int64_t begun;
    int is_over;
} look_up;

static struct ares_options options;
static int options_set, events;
static long total, asked, answered, failed;
static int64_t *latencies;

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
    one->is_over = 1;
}

static void on_socket(void *context, ares_socket_t socket, int reads, int writes) {
    look_up *one = context;
    if (!reads && !writes) return;  // closed: the system forgets it
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
    one->socket = socket;
    epoll_ctl(events, EPOLL_CTL_ADD, socket, &event);
}

static void ask(look_up *one) {
    char name[64];
    snprintf(name, sizeof name, "n%ld.bench.test", asked++);
    one->is_over = 0;
    one->begun = measure_now();
    options.sock_state_cb_data = one;
    if (ares_init_options(&one->channel, &options, options_set) != ARES_SUCCESS) exit(1);
    ares_query(one->channel, name, 1, 1, on_answer, one);
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: ares_ports PORT IN_FLIGHT LOOKUPS\n"), 2;
    int flight = atoi(arguments[2]);
    total = atol(arguments[3]);
    if (flight < 1 || total < 1) return 2;
    ares_library_init(ARES_LIB_INIT_ALL);
    events = epoll_create1(0);
    static struct in_addr server;
    server.s_addr = htonl(INADDR_LOOPBACK);
    // All that it would else read from files, so that it reads none.
    options = (struct ares_options){
        .timeout = 5000, .tries = 3, .ndots = 1, .lookups = (char *)"b", .servers = &server, .nservers = 1,
        .udp_port = (unsigned short)atoi(arguments[1]), .sock_state_cb = on_socket, .flags = ARES_FLAG_NOSEARCH};
    options_set = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_LOOKUPS | ARES_OPT_SERVERS
                  | ARES_OPT_UDP_PORT | ARES_OPT_SOCK_STATE_CB | ARES_OPT_FLAGS | ARES_OPT_DOMAINS
                  | ARES_OPT_SORTLIST;
    latencies = calloc((size_t)total, sizeof *latencies);
    look_up *look_ups = calloc((size_t)flight, sizeof *look_ups);
    int64_t start = measure_now(), computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (int each = 0; each < flight && asked < total; each++) ask(&look_ups[each]);
    while (answered + failed < total) {
        struct epoll_event ready[128];
        int seen = epoll_wait(events, ready, 128, 1000);
        for (int each = 0; each < seen; each++) {
            look_up *one = ready[each].data.ptr;
            ares_process_fd(one->channel, one->socket, ARES_SOCKET_BAD);
            if (!one->is_over) continue;
            ares_destroy(one->channel);
            one->channel = NULL;
            if (asked < total) ask(one);
        }
        for (int each = 0; seen == 0 && each < flight; each++)
            if (look_ups[each].channel) ares_process_fd(look_ups[each].channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    }
    measure_report(
        "c-ares-ports", latencies, answered, failed, measure_now() - start,
        measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed);
    return 0;
}
