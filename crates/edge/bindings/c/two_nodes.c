/* Two nodes in one program, on loopback: one publishes a message and the other receives it.
 *
 * Arguments: two empty folders, one for the files of each node. */
#include "undertone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const TOPICS = "[\"/example/1/greeting/utf8\"]";
static const char *const HELLO = "{\"contentTopic\": \"/example/1/greeting/utf8\", \"payload\": \"aGVsbG8=\"}";

/* Ends the program unless the call has succeeded. */
static void check(undertone_status status, char *error) {
    if (status != UNDERTONE_STATUS_OK) {
        fprintf(stderr, "error: %s\n", error);
        undertone_string_free(error);
        exit(1);
    }
}

static undertone_node start(const char *folder) {
    char settings[4096];
    snprintf(settings, sizeof settings,
             "{\"data-dir\": \"%s\", \"listen-address\": \"127.0.0.1\", \"tcp-port\": \"0\", \"rest\": \"false\", "
             "\"rln\": \"false\"}",
             folder);
    undertone_node node;
    char *error;
    check(undertone_start("network = \"local\"", settings, &node, &error), error);
    return node;
}

/* Copies the text that follows `key` in `json`. A program with a library for JSON would use that. */
static void copy(const char *json, const char *key, char *text, size_t size) {
    const char *found = json != NULL ? strstr(json, key) : NULL;
    if (found == NULL) {
        fprintf(stderr, "error: no %s in %s\n", key, json != NULL ? json : "nothing");
        exit(1);
    }
    found += strlen(key);
    snprintf(text, size, "%.*s", (int)strcspn(found, "\""), found);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: two_nodes FOLDER FOLDER\n");
        return 2;
    }
    undertone_node receiver = start(arguments[1]);
    undertone_node sender = start(arguments[2]);
    char *answer;
    check(undertone_subscribe(receiver, TOPICS, NULL, &answer), answer);
    check(undertone_info(receiver, &answer), answer);
    char address[256];
    copy(answer, "\"addresses\":[\"", address, sizeof address);
    undertone_string_free(answer);
    check(undertone_connect(sender, address, &answer), answer);

    undertone_status status;
    /* The peer tells its topics some milliseconds after the connection. */
    while ((status = undertone_publish(sender, HELLO, &answer)) == UNDERTONE_STATUS_NO_PEERS) {
        undertone_string_free(answer);
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
    check(status, answer);
    char sent[80], received[80], payload[80];
    copy(answer, "\"hash\":\"", sent, sizeof sent);
    undertone_string_free(answer);

    check(undertone_receive(receiver, 60 * 1000, &answer), answer);
    copy(answer, "\"hash\":\"", received, sizeof received);
    copy(answer, "\"payload\":\"", payload, sizeof payload);
    undertone_string_free(answer);
    if (strcmp(sent, received) != 0) {
        fprintf(stderr, "error: another message arrived\n");
        return 1;
    }
    printf("%s received %s\n", address, payload);
    undertone_destroy(sender);
    undertone_destroy(receiver);
    return 0;
}
