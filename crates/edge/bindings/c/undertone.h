/* An Undertone node for programs in C. Made by cbindgen from crates/edge/bindings/c/src; changes belong there.
 *
 * Texts are UTF-8 and end in a zero byte, structs are JSON (docs/use/bindings.md). A call that succeeds returns
 * UNDERTONE_STATUS_OK and sets *answer to what it returns, or to NULL if that is nothing; any other call sets it to an error such
 * as {"kind":"ARGUMENT","argument":"address","reason":"…"}. Each text in *answer is the program's, which gives it back to
 * undertone_string_free. Who wants none passes NULL for answer. All calls block, and may come from any thread. */

#ifndef UNDERTONE_H
#define UNDERTONE_H

#include <stdbool.h>
#include <stdint.h>

// Outcome of a call: success, or who is at fault.
typedef enum {
  // The call has succeeded.
  UNDERTONE_STATUS_OK = 0,
  // The configuration is invalid.
  UNDERTONE_STATUS_CONFIGURATION = 1,
  // The node cannot start: a port is taken, or a file or database cannot be used.
  UNDERTONE_STATUS_START = 2,
  // An argument is invalid: NULL, not UTF-8, not the JSON that is expected, no node, or not of the node's network.
  UNDERTONE_STATUS_ARGUMENT = 3,
  // No peer is known that could do what was asked for.
  UNDERTONE_STATUS_NO_PEERS = 4,
  // A peer could not be reached, did not answer in time, or refused.
  UNDERTONE_STATUS_PEER = 5,
  // The messages of this epoch that the node's membership allows are used up.
  UNDERTONE_STATUS_RATE_LIMIT = 6,
  // The node's membership cannot prove the message.
  UNDERTONE_STATUS_MEMBERSHIP = 7,
  // The node's own archive or another part of it cannot do its work now.
  UNDERTONE_STATUS_UNAVAILABLE = 8,
  // The node has stopped.
  UNDERTONE_STATUS_STOPPED = 9,
  // A defect of this library: it panicked, and standard error has the message.
  UNDERTONE_STATUS_INTERNAL = 10,
} undertone_status;

// Number of a node. No number is given twice, and 0 is none.
typedef uint64_t undertone_node;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Frees a text that a call has returned. Does nothing for NULL.
//
// # Safety
// `text` is NULL, or came from a call of this library, and was not freed before.
void undertone_string_free(char *text);

// Returns the version of the library, which is not to be freed.
const char *undertone_version(void);

// Answers all configuration keys of a node: a list of {name, expected, defaultValue, help}.
//
// # Safety
// `answer` is NULL or can be written to.
undertone_status undertone_configuration_keys(char **answer);

// Writes log lines of all nodes of this process to standard error from now on; once in a process. `level` is such as
// "info", `format` "text" or "json".
//
// # Safety
// `level` and `format` are NULL or texts, `answer` is NULL or can be written to.
undertone_status undertone_enable_logging(const char *level, const char *format, char **answer);

// Starts a node, waits until it listens, and sets *node; to 0 if it does not start.
//
// `toml` is a configuration as a file has it, `settings` an object with keys and values, all texts, that override it, such as
// {"tcp-port": "0"}. NULL stands for none. Nodes of one process need a `data-dir` each.
//
// # Safety
// `toml` and `settings` are NULL or texts, `node` can be written to, `answer` is NULL or can be written to.
undertone_status undertone_start(const char *toml,
                                 const char *settings,
                                 undertone_node *node,
                                 char **answer);

// Stops the node, and waits until its threads have ended and its files are closed. Messages that have arrived can still be
// received.
undertone_status undertone_stop(undertone_node node);

// Stops the node and forgets it. Later calls on it are errors.
undertone_status undertone_destroy(undertone_node node);

// Answers identity, addresses and subscriptions of the node.
//
// # Safety
// `answer` is NULL or can be written to.
undertone_status undertone_info(undertone_node node, char **answer);

// Answers the node's health.
//
// # Safety
// `answer` is NULL or can be written to.
undertone_status undertone_health(undertone_node node, char **answer);

// Answers a list of all peers that the node knows.
//
// # Safety
// `answer` is NULL or can be written to.
undertone_status undertone_peers(undertone_node node, char **answer);

// Connects to a peer by its address, such as "/ip4/192.0.2.1/tcp/60000/p2p/16Uiu…", and waits until the attempt has ended.
//
// # Safety
// `address` is NULL or a text, `answer` is NULL or can be written to.
undertone_status undertone_connect(undertone_node node,
                                   const char *address,
                                   char **answer);

// Receives messages with these content topics, a list of texts, from now on; without any (NULL), all of the pubsub topic.
// Without a pubsub topic (NULL), each content topic's shard is joined by automatic sharding.
//
// # Safety
// `content_topics` and `pubsub_topic` are NULL or texts, `answer` is NULL or can be written to.
undertone_status undertone_subscribe(undertone_node node,
                                     const char *content_topics,
                                     const char *pubsub_topic,
                                     char **answer);

// Receives no more messages of a subscription. Those that have arrived can still be received.
//
// # Safety
// `content_topics` and `pubsub_topic` are NULL or texts, `answer` is NULL or can be written to.
undertone_status undertone_unsubscribe(undertone_node node,
                                       const char *content_topics,
                                       const char *pubsub_topic,
                                       char **answer);

// Waits for a message of a subscription, `timeout_ms` at most, and answers it; nothing if there is none by then.
//
// # Safety
// `answer` is NULL or can be written to.
undertone_status undertone_receive(undertone_node node, uint64_t timeout_ms, char **answer);

// Publishes a message, {contentTopic, payload, …}, and waits until it was sent to a peer; answers its hash.
//
// # Safety
// `message` is NULL or a text, `answer` is NULL or can be written to.
undertone_status undertone_publish(undertone_node node, const char *message, char **answer);

// Accepts a message that the node answers for, over restarts, and answers its number.
//
// # Safety
// `message` is NULL or a text, `answer` is NULL or can be written to.
undertone_status undertone_send(undertone_node node, const char *message, char **answer);

// Waits for the next step of any message that was given to undertone_send, `timeout_ms` at most, and answers it; nothing if there
// is none by then.
//
// # Safety
// `answer` is NULL or can be written to.
undertone_status undertone_receive_report(undertone_node node,
                                          uint64_t timeout_ms,
                                          char **answer);

// Answers a list of the steps that the node keeps, the oldest first: of the message with number *id, or of all (NULL). With
// `forget`, they are kept no longer.
//
// # Safety
// `id` is NULL or can be read, `answer` is NULL or can be written to.
undertone_status undertone_send_reports(undertone_node node,
                                        const uint64_t *id,
                                        bool forget,
                                        char **answer);

// Answers a page of history from a store, or from this node's archive if it has one and no store is named:
// {messages, next}. `query` is an object, all of whose fields may be left out; NULL stands for an empty one.
//
// # Safety
// `query` is NULL or a text, `answer` is NULL or can be written to.
undertone_status undertone_query_store(undertone_node node, const char *query, char **answer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* UNDERTONE_H */
