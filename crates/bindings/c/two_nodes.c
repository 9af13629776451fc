/* Two nodes in one program, on loopback: one publishes a message and the other receives it.
 *
 * Arguments: two empty folders, one for the files of each node. */
#include "undertone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const TOPIC = "/example/1/greeting/utf8";

/* Ends the program unless the call has succeeded. */
static void check(bool succeeded, undertone_node_error *error) {
    if (!succeeded) {
        fprintf(stderr, "error: %s\n", error != NULL && error->reason != NULL ? error->reason : "unknown");
        undertone_node_error_free(error);
        exit(1);
    }
}

static undertone_node *start(const char *folder) {
    undertone_string_string_map_entry settings[] = {
        {"data-dir", folder}, {"listen-address", "127.0.0.1"}, {"tcp-port", "0"}, {"rest", "false"}, {"rln", "false"},
    };
    undertone_string_string_map map = {settings, sizeof settings / sizeof *settings};
    undertone_node *node = NULL;
    undertone_node_error *error = NULL;
    check(undertone_node_start("network = \"local\"", &map, &node, &error), error);
    return node;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: two_nodes FOLDER FOLDER\n");
        return 2;
    }
    undertone_node *receiver = start(arguments[1]);
    undertone_node *sender = start(arguments[2]);
    undertone_node_error *error = NULL;

    const char *topics[] = {TOPIC};
    undertone_string_list list = {topics, 1};
    check(undertone_node_subscribe(receiver, &list, NULL, &error), error);
    undertone_node_details *details = NULL;
    check(undertone_node_info(receiver, &details, &error), error);
    check(undertone_node_connect(sender, details->addresses.items[0], &error), error);

    const char *text = "hello";
    undertone_outgoing_message message = {
        .content_topic = TOPIC,
        .payload = {(const uint8_t *)text, strlen(text)},
    };
    undertone_message_receipt *receipt = NULL;
    /* The peer tells its topics some milliseconds after the connection. */
    while (!undertone_node_publish(sender, &message, &receipt, &error)) {
        if (error == NULL || error->kind != UNDERTONE_NODE_ERROR_NO_PEERS) {
            check(false, error);
        }
        undertone_node_error_free(error);
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }

    undertone_received_message *received = NULL;
    check(undertone_node_receive(receiver, 60 * 1000, &received, &error), error);
    if (received == NULL || strcmp(received->hash, receipt->hash) != 0) {
        fprintf(stderr, "error: the message did not arrive\n");
        return 1;
    }
    printf("%s received \"%.*s\"\n", details->peer_id, (int)received->payload.length,
           (const char *)received->payload.data);

    undertone_received_message_free(received);
    undertone_message_receipt_free(receipt);
    undertone_node_details_free(details);
    undertone_node_stop(sender);
    undertone_node_stop(receiver);
    undertone_node_free(sender);
    undertone_node_free(receiver);
    return 0;
}
