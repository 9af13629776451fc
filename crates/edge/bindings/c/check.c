/* Test of the calls in C: mistakes of the caller, every call and kind of answer, and nothing leaked.
 *
 * Argument: an empty folder. Compiled with the sanitizers, which find what is used after it was freed, or not freed. */
#include "undertone.h"

#include <pthread.h>
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

/* Checks what a call returns, and that its answer contains a text; NULL stands for no answer. */
#define ANSWERS(call, expected, part)                       \
    do {                                                    \
        undertone_status status_ = call;                    \
        answers(__LINE__, #call, status_, expected, part);  \
    } while (0)
#define ERROR(call, kind, part) ANSWERS(call, UNDERTONE_STATUS_##kind, "{\"kind\":\"" #kind "\"" part)
#define OK(call, part) ANSWERS(call, UNDERTONE_STATUS_OK, part)

static const char *folder;
static char *answer;

static void answers(int line, const char *call, undertone_status status, undertone_status expected, const char *part) {
    bool is_good = part != NULL ? answer != NULL && strstr(answer, part) != NULL : answer == NULL;
    if (status != expected || !is_good) {
        fprintf(stderr, "%s:%d: %s: %d, %s\n", __FILE__, line, call, (int)status, answer != NULL ? answer : "NULL");
        exit(1);
    }
    undertone_string_free(answer);
    answer = NULL;
}

static undertone_status start(const char *toml, const char *key, const char *value, undertone_node *node) {
    char settings[4096];
    snprintf(settings, sizeof settings,
             "{\"data-dir\": \"%s\", \"listen-address\": \"127.0.0.1\", \"tcp-port\": \"0\", \"rest\": \"false\", "
             "\"rln\": \"false\", \"store\": \"true\", \"%s\": \"%s\"}",
             folder, key, value);
    return undertone_start(toml, settings, node, &answer);
}

static void bad_configuration_names_the_key(void) {
    undertone_node node = 7;
    ERROR(start(NULL, "tcp-port", "many", &node), CONFIGURATION, ",\"key\":\"tcp-port\",\"reason\":\"");
    CHECK(node == 0);
    ERROR(start("relai = true", "relay", "true", &node), CONFIGURATION, ",\"key\":\"relai\",\"reason\":\"configuration text:1");
    ERROR(undertone_start(NULL, "{\"tcp-port\": 0}", &node, &answer), ARGUMENT, ",\"argument\":\"settings\"");
    ERROR(undertone_start(NULL, NULL, NULL, &answer), ARGUMENT, ",\"argument\":\"node\"");
    ERROR(undertone_enable_logging("loud", "text", &answer), CONFIGURATION, ",\"key\":\"log-level\"");
    /* Who does not want to know the reason passes NULL. */
    CHECK(undertone_start("relai = true", NULL, &node, NULL) == UNDERTONE_STATUS_CONFIGURATION);
}

static void mistakes_of_the_caller_are_errors(undertone_node node) {
    ERROR(undertone_connect(node, "no\xff", &answer), ARGUMENT, ",\"argument\":\"address\",\"reason\":\"not UTF-8");
    /* An encoded surrogate, and a character cut off. */
    CHECK(undertone_connect(node, "\xed\xa0\x80", NULL) == UNDERTONE_STATUS_ARGUMENT);
    CHECK(undertone_connect(node, "\xe2\x82", NULL) == UNDERTONE_STATUS_ARGUMENT);
    ERROR(undertone_connect(node, NULL, &answer), ARGUMENT, ",\"argument\":\"address\",\"reason\":\"NULL");
    ERROR(undertone_connect(node, "hither", &answer), ARGUMENT, ",\"argument\":\"address\"");

    ERROR(undertone_publish(node, NULL, &answer), ARGUMENT, ",\"argument\":\"message\",\"reason\":\"NULL");
    ERROR(undertone_publish(node, "{", &answer), ARGUMENT, ",\"argument\":\"message\"");
    const char *misspelt = "{\"contentTopic\": \"/example/1/a/utf8\", \"payload\": \"\", \"metta\": \"\"}";
    ERROR(undertone_publish(node, misspelt, &answer), ARGUMENT, ",\"argument\":\"message\",\"reason\":\"not the JSON that is expected: "
                                                                "unknown field `metta`");
    const char *no_base64 = "{\"contentTopic\": \"/example/1/a/utf8\", \"payload\": \"a\"}";
    ERROR(undertone_send(node, no_base64, &answer), ARGUMENT, ",\"argument\":\"message\",\"reason\":\"not the JSON that is expected: "
                                                              "not base64");

    ERROR(undertone_subscribe(node, NULL, NULL, &answer), ARGUMENT, ",\"argument\":\"content_topics\"");
    ERROR(undertone_subscribe(node, "[1]", NULL, &answer), ARGUMENT, ",\"argument\":\"content_topics\"");
    ERROR(undertone_query_store(node, "{\"hashes\": [\"0x12\"]}", &answer), ARGUMENT, ",\"argument\":\"hashes\"");
}

static void all_calls_work(undertone_node node) {
    const char *topics = "[\"/example/1/\xc3\xa9t\xc3\xa9/utf8\", \"/example/1/hiver/utf8\"]";
    OK(undertone_subscribe(node, topics, NULL, &answer), NULL);
    OK(undertone_query_store(node, "{\"startNs\": -1, \"newestFirst\": true, \"limit\": 5}", &answer),
       "{\"messages\":[],\"next\":null}");
    OK(undertone_query_store(node, NULL, &answer), "{\"messages\":[]");
    OK(undertone_receive(node, 1, &answer), NULL);

    const char *message = "{\"contentTopic\": \"/example/1/hiver/utf8\", \"payload\": \"AAEA/w==\", \"timestamp\": 1700000000123456789, "
                          "\"ephemeral\": true, \"meta\": \"bWV0YQ==\", \"version\": 1}";
    ERROR(undertone_publish(node, message, &answer), NO_PEERS, ",\"reason\":\"");
    /* A node receives its own messages too. */
    OK(undertone_receive(node, 60 * 1000, &answer),
       "\"contentTopic\":\"/example/1/hiver/utf8\",\"payload\":\"AAEA/w==\",\"timestamp\":1700000000123456789,\"meta\":\"bWV0YQ==\","
       "\"version\":1,\"ephemeral\":true,\"proof\":null,\"senderPeer\":null}");
    OK(undertone_unsubscribe(node, topics, NULL, &answer), NULL);

    CHECK(undertone_send(node, message, &answer) == UNDERTONE_STATUS_OK);
    uint64_t id = strtoull(answer, NULL, 10), other = id + 1;
    undertone_string_free(answer);
    OK(undertone_receive_report(node, 60 * 1000, &answer), "\"step\":\"QUEUED\",\"isEnd\":false,\"reason\":null");
    OK(undertone_send_reports(node, &other, false, &answer), "[]");
    OK(undertone_send_reports(node, &id, true, &answer), "\"step\":\"QUEUED\"");

    OK(undertone_info(node, &answer), "{\"peerId\":\"1");
    OK(undertone_info(node, &answer), ",\"restAddress\":null,\"mayPublish\":true,\"droppedMessages\":0}");
    OK(undertone_health(node, &answer), "\"connection\":\"DISCONNECTED\",\"protocols\":[{\"name\":\"");
    OK(undertone_peers(node, &answer), "[]");
    OK(undertone_configuration_keys(&answer), "{\"name\":\"tcp-port\",");
    CHECK(strchr(undertone_version(), '.') != NULL);
}

static void *receive(void *node) {
    char *text;
    undertone_status status = undertone_receive(*(undertone_node *)node, 60 * 1000, &text);
    undertone_string_free(text);
    /* Stopped while it waits, or destroyed before it came to wait. */
    return status == UNDERTONE_STATUS_STOPPED || status == UNDERTONE_STATUS_ARGUMENT ? node : NULL;
}

static void a_node_that_is_gone_is_an_error(undertone_node node) {
    CHECK(undertone_stop(node) == UNDERTONE_STATUS_OK && undertone_stop(node) == UNDERTONE_STATUS_OK);
    ANSWERS(undertone_info(node, &answer), UNDERTONE_STATUS_STOPPED, "{\"kind\":\"STOPPED\"}");

    undertone_node other;
    OK(start("", "relay", "true", &other), NULL);
    CHECK(other != node);
    pthread_t thread;
    void *is_good;
    CHECK(pthread_create(&thread, NULL, receive, &other) == 0);
    CHECK(undertone_destroy(other) == UNDERTONE_STATUS_OK);
    CHECK(pthread_join(thread, &is_good) == 0 && is_good != NULL);

    CHECK(undertone_destroy(node) == UNDERTONE_STATUS_OK);
    CHECK(undertone_destroy(node) == UNDERTONE_STATUS_ARGUMENT && undertone_stop(node) == UNDERTONE_STATUS_ARGUMENT);
    ERROR(undertone_info(node, &answer), ARGUMENT, ",\"argument\":\"node\"");
    CHECK(undertone_destroy(0) == UNDERTONE_STATUS_ARGUMENT);
    undertone_string_free(NULL);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    folder = arguments[1];
    bad_configuration_names_the_key();
    undertone_node node;
    OK(start("", "relay", "true", &node), NULL);
    mistakes_of_the_caller_are_errors(node);
    all_calls_work(node);
    a_node_that_is_gone_is_an_error(node);
    puts("good");
    return 0;
}
