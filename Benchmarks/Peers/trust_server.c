// A TLS server that answers one request a connection with "ok" and closes, so that every request of a
// client costs it a handshake. Prints its port; ends when its standard input does.
//
//     trust_server CHAIN.pem KEY.pem
//
// Build: cc -O2 trust_server.c -o trust_server -lssl -lcrypto -lpthread
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void *wait_for_end(void *unused) {
    char octet;
    while (read(0, &octet, 1) > 0) continue;
    exit(0);
    return unused;
}

int main(int argc, char **argv) {
    int resumes = argc == 4 && strcmp(argv[3], "resumes") == 0;
    if (argc != 3 + resumes)
        return fprintf(stderr, "usage: trust_server CHAIN.pem KEY.pem [resumes]\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, argv[1]) != 1
        || SSL_CTX_use_PrivateKey_file(context, argv[2], SSL_FILETYPE_PEM) != 1)
        return 1;
    if (!resumes) SSL_CTX_set_num_tickets(context, 0);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64)
        || getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_end, NULL);
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    char request[8192];
    for (;;) {
        int accepted = accept(listener, NULL, NULL);
        if (accepted < 0) continue;
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        SSL *connection = SSL_new(context);
        SSL_set_fd(connection, accepted);
        if (SSL_accept(connection) == 1 && SSL_read(connection, request, sizeof request) > 0) {
            SSL_write(connection, answer, sizeof answer - 1);
            SSL_shutdown(connection);
        }
        SSL_free(connection);
        close(accepted);
    }
}
