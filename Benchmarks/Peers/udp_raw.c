// The floor of plain DNS: datagrams of one socket, 64 a system call, no look at the answer but its id.
//
//     udp_raw PORT IN_FLIGHT LOOKUPS            prints one line of JSON
//
// Build: cc -O2 udp_raw.c -o udp_raw
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "measure.h"

enum { BATCH = 64, ROOM = 512 };

static uint8_t octets[BATCH][ROOM];

static size_t question(uint8_t *message, uint16_t id, long number) {
    char label[24];
    int length = snprintf(label, sizeof label, "n%ld", number);
    uint8_t head[12] = {(uint8_t)(id >> 8), (uint8_t)id, 1, 0, 0, 1};
    static const uint8_t tail[] = {5, 'b', 'e', 'n', 'c', 'h', 4, 't', 'e', 's', 't', 0, 0, 1, 0, 1};
    memcpy(message, head, sizeof head);
    message[12] = (uint8_t)length;
    memcpy(message + 13, label, (size_t)length);
    memcpy(message + 13 + length, tail, sizeof tail);
    return 13 + (size_t)length + sizeof tail;
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: udp_raw PORT IN_FLIGHT LOOKUPS\n"), 2;
    int flight = atoi(arguments[2]);
    long total = atol(arguments[3]), asked = 0, answered = 0;
    if (flight < 1 || flight > 30000 || total < 1) return 2;
    int socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
    int room = 4 << 20;
    setsockopt(socket_fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(socket_fd, (struct sockaddr *)&address, sizeof address) != 0) return perror("connect"), 1;
    int64_t *latencies = calloc((size_t)total, sizeof *latencies);
    static int64_t begun[65536];
    static struct iovec parts[BATCH];
    static struct mmsghdr messages[BATCH];
    for (int each = 0; each < BATCH; each++)
        messages[each].msg_hdr = (struct msghdr){.msg_iov = &parts[each], .msg_iovlen = 1};
    int64_t start = measure_now(), computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
    while (answered < total) {
        while (asked < total && asked - answered < flight) {
            int ready = 0;
            int64_t now = measure_now();
            for (; ready < BATCH && asked < total && asked - answered < flight; ready++, asked++) {
                parts[ready] = (struct iovec){
                    octets[ready], question(octets[ready], (uint16_t)asked, asked)};
                begun[(uint16_t)asked] = now;
            }
            if (sendmmsg(socket_fd, messages, (unsigned)ready, 0) != ready) return perror("send"), 1;
        }
        struct pollfd wait = {.fd = socket_fd, .events = POLLIN};
        if (poll(&wait, 1, 2000) <= 0) break;
        for (int each = 0; each < BATCH; each++) parts[each] = (struct iovec){octets[each], ROOM};
        int got = recvmmsg(socket_fd, messages, BATCH, MSG_DONTWAIT, NULL);
        int64_t now = measure_now();
        for (int each = 0; each < got; each++) {
            uint16_t id = (uint16_t)(octets[each][0] << 8 | octets[each][1]);
            latencies[answered++] = now - begun[id];
        }
    }
    measure_report(
        "raw-udp", latencies, answered, total - answered, measure_now() - start,
        measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed);
    return 0;
}
