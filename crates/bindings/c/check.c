/* Test of the calls in C: mistakes of the caller, every type that is given and taken, and nothing leaked.
 *
 * Argument: an empty folder. Compiled with the sanitizers, which find what is used after it was freed, or not freed. */
#include "undertone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

static const char *folder;

static bool start(const char *toml, const char *key, const char *value, undertone_node **node,
                  undertone_node_error **error) {
    undertone_string_string_map_entry settings[] = {
        {"data-dir", folder}, {"listen-address", "127.0.0.1"}, {"tcp-port", "0"}, {"rest", "false"},
        {"rln", "false"},     {"store", "true"},               {key, value},
    };
    undertone_string_string_map map = {settings, sizeof settings / sizeof *settings};
    return undertone_node_start(toml, &map, node, error);
}

static void bad_configuration_names_the_key(void) {
    undertone_node *node = NULL;
    undertone_node_error *error = NULL;
    CHECK(!start(NULL, "tcp-port", "many", &node, &error));
    CHECK(node == NULL && error->kind == UNDERTONE_NODE_ERROR_CONFIGURATION);
    CHECK(strcmp(error->key, "tcp-port") == 0 && strstr(error->reason, "many") != NULL);
    undertone_node_error_free(error);

    CHECK(!start("relai = true", "relay", "true", &node, &error));
    CHECK(strcmp(error->key, "relai") == 0 && strstr(error->reason, "configuration text:1") != NULL);
    undertone_node_error_free(error);

    /* Who does not want to know the reason passes NULL. */
    CHECK(!start("relai = true", "relay", "true", &node, NULL));
}

static void mistakes_of_the_caller_are_errors(undertone_node *node) {
    undertone_node_error *error = NULL;
    CHECK(!undertone_node_connect(node, "no\xff", &error));
    CHECK(error->kind == UNDERTONE_NODE_ERROR_INTERNAL && strstr(error->reason, "UTF-8") != NULL);
    undertone_node_error_free(error);
    /* An encoded surrogate, and a character cut off. */
    CHECK(!undertone_node_connect(node, "\xed\xa0\x80", NULL));
    CHECK(!undertone_node_connect(node, "\xe2\x82", NULL));

    CHECK(!undertone_node_connect(NULL, "/ip4/127.0.0.1/tcp/1", &error));
    CHECK(strstr(error->reason, "NULL") != NULL);
    undertone_node_error_free(error);
    undertone_message_receipt *receipt = NULL;
    CHECK(!undertone_node_publish(node, NULL, &receipt, NULL));

    CHECK(!undertone_node_connect(node, "hither", &error));
    CHECK(error->kind == UNDERTONE_NODE_ERROR_ARGUMENT && strcmp(error->argument, "address") == 0);
    undertone_node_error_free(error);

    CHECK(!undertone_node_subscribe(node, NULL, NULL, &error));
    CHECK(strcmp(error->argument, "content_topics") == 0);
    undertone_node_error_free(error);

    undertone_message_page *page = NULL;
    const char *hashes[] = {"0x12"};
    undertone_store_query query = {.hashes = {hashes, 1}};
    CHECK(!undertone_node_query_store(node, &query, &page, &error));
    CHECK(page == NULL && strcmp(error->argument, "hashes") == 0);
    undertone_node_error_free(error);
}

static void all_types_cross_and_come_back(undertone_node *node) {
    const char *topics[] = {"/example/1/\xc3\xa9t\xc3\xa9/utf8", "/example/1/hiver/utf8"};
    undertone_string_list list = {topics, 2};
    CHECK(undertone_node_subscribe(node, &list, NULL, NULL));

    uint8_t payload[] = {0, 1, 0, 255};
    int64_t early = -1;
    uint32_t limit = 5;
    undertone_store_query query = {
        .content_topics = list, .start_ns = &early, .newest_first = true, .limit = &limit};
    undertone_message_page *page = NULL;
    CHECK(undertone_node_query_store(node, &query, &page, NULL));
    CHECK(page->messages.count == 0 && page->next == NULL);
    undertone_message_page_free(page);

    undertone_outgoing_message message = {.content_topic = topics[1], .payload = {payload, sizeof payload}};
    undertone_message_receipt *receipt = NULL;
    undertone_node_error *error = NULL;
    CHECK(!undertone_node_publish(node, &message, &receipt, &error));
    CHECK(error->kind == UNDERTONE_NODE_ERROR_NO_PEERS && error->key == NULL);
    undertone_node_error_free(error);

    undertone_received_message *received = NULL;
    CHECK(undertone_node_receive(node, 1, &received, NULL) && received == NULL);

    undertone_node_details *details = NULL;
    CHECK(undertone_node_info(node, &details, NULL));
    CHECK(details->addresses.count >= 1 && details->rest_address == NULL && details->may_publish);
    CHECK(details->pubsub_topics.count == 8 && strncmp(details->peer_id, "1", 1) == 0);
    undertone_node_details_free(details);

    undertone_health_details *health = NULL;
    CHECK(undertone_node_health(node, &health, NULL));
    CHECK(health->connection == UNDERTONE_RELAY_CONNECTION_DISCONNECTED && health->protocols.count > 1);
    CHECK(health->protocols.items[0].name[0] != 0);
    undertone_health_details_free(health);

    undertone_peer_details_list *peers = NULL;
    CHECK(undertone_node_peers(node, &peers, NULL) && peers->count == 0);
    undertone_peer_details_list_free(peers);
}

static void functions_without_errors_work(void) {
    const char *version = NULL;
    CHECK(undertone_version(&version) && strchr(version, '.') != NULL);
    undertone_string_free(version);
    undertone_key_description_list *keys = NULL;
    CHECK(undertone_configuration_keys(&keys) && keys->count > 50);
    bool has_port = false;
    for (size_t at = 0; at < keys->count; at++) {
        const undertone_key_description *key = &keys->items[at];
        bool is_port = strcmp(key->name, "tcp-port") == 0;
        has_port = has_port || (is_port && strcmp(key->default_value, "60000") == 0);
    }
    CHECK(has_port);
    undertone_key_description_list_free(keys);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    folder = arguments[1];
    functions_without_errors_work();
    bad_configuration_names_the_key();
    undertone_node *node = NULL;
    CHECK(start("", "relay", "true", &node, NULL));
    mistakes_of_the_caller_are_errors(node);
    all_types_cross_and_come_back(node);

    CHECK(undertone_node_stop(node) && undertone_node_stop(node));
    undertone_node_error *error = NULL;
    undertone_node_details *details = NULL;
    CHECK(!undertone_node_info(node, &details, &error) && error->kind == UNDERTONE_NODE_ERROR_STOPPED);
    CHECK(error->reason == NULL);
    undertone_node_error_free(error);
    undertone_node_free(node);
    undertone_node_free(NULL);
    undertone_node_error_free(NULL);
    puts("good");
    return 0;
}
