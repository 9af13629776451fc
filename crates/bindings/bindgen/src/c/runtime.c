#include "@namespace@.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What the library and this file exchange: bytes that the library allocates, and the outcome of a call. */
typedef struct {
    uint64_t capacity;
    uint64_t length;
    uint8_t *data;
} rust_buffer;

typedef struct {
    int32_t length;
    const uint8_t *data;
} foreign_bytes;

typedef struct {
    int8_t code;
    rust_buffer error;
} call_status;

enum { CALL_SUCCESS = 0, CALL_ERROR = 1 };

rust_buffer ffi_@crate@_rustbuffer_from_bytes(foreign_bytes bytes, call_status *status);
void ffi_@crate@_rustbuffer_free(rust_buffer buffer, call_status *status);
uint32_t ffi_@crate@_uniffi_contract_version(void);

static const char NO_MEMORY[] = "there is no memory left";
static const char TOO_LONG[] = "a text, list or byte string is too long";
static const char NOT_UTF8[] = "a text is not UTF-8";
static const char NO_VALUE[] = "a required argument is NULL";
static const char MISMATCH[] =
    "the library has another interface than this file; generate it again from the library";
static const char UNEXPECTED[] = "the library failed unexpectedly";

static void release(rust_buffer buffer) {
    call_status status = {0};
    if (buffer.data != NULL) {
        ffi_@crate@_rustbuffer_free(buffer, &status);
    }
}

/* Bytes on their way to the library. After a fault nothing is added. */
typedef struct {
    uint8_t *data;
    size_t length;
    size_t capacity;
    const char *fault;
} writer;

static void put(writer *to, const void *bytes, size_t length) {
    if (to->fault != NULL) {
        return;
    }
    if (length > (size_t)INT32_MAX || to->length > (size_t)INT32_MAX - length) {
        to->fault = TOO_LONG;
        return;
    }
    if (length > to->capacity - to->length) {
        size_t capacity = 2 * to->length + length + 64;
        uint8_t *data = realloc(to->data, capacity);
        if (data == NULL) {
            to->fault = NO_MEMORY;
            return;
        }
        to->data = data;
        to->capacity = capacity;
    }
    if (length > 0) {
        memcpy(to->data + to->length, bytes, length);
        to->length += length;
    }
}

static void put_number(writer *to, uint64_t number, size_t width) {
    uint8_t bytes[8];
    for (size_t at = 0; at < width; at++) {
        bytes[at] = (uint8_t)(number >> (8 * (width - 1 - at)));
    }
    put(to, bytes, width);
}

static void put_count(writer *to, size_t count) {
    if (count > (size_t)INT32_MAX) {
        to->fault = TOO_LONG;
    }
    put_number(to, count, 4);
}

/* Returns the length of the character at text, or 0 if the bytes are none (RFC 3629). */
static size_t character(const uint8_t *text, size_t left) {
    uint8_t first = text[0];
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t at = 1; at < length; at++) {
        if ((text[at] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((first == 0xE0 && text[1] < 0xA0) || (first == 0xED && text[1] > 0x9F) ||
        (first == 0xF0 && text[1] < 0x90) || (first == 0xF4 && text[1] > 0x8F)) {
        return 0;
    }
    return length;
}

/* The library trusts that a text is UTF-8, so it is checked here. NULL is the empty text. */
static void put_text(writer *to, const char *text) {
    size_t length = text == NULL ? 0 : strlen(text);
    for (size_t at = 0; at < length;) {
        size_t step = character((const uint8_t *)text + at, length - at);
        if (step == 0) {
            to->fault = NOT_UTF8;
            return;
        }
        at += step;
    }
    put(to, text, length);
}

/* Hands the bytes to the library and frees them. Returns the fault, or NULL. */
static const char *lower(writer *from, rust_buffer *to) {
    call_status status = {0};
    if (from->fault == NULL) {
        foreign_bytes bytes = {(int32_t)from->length, from->data};
        *to = ffi_@crate@_rustbuffer_from_bytes(bytes, &status);
        if (status.code != CALL_SUCCESS) {
            release(status.error);
            from->fault = UNEXPECTED;
        }
    }
    free(from->data);
    return from->fault;
}

static const char *lower_text(const char *text, rust_buffer *to) {
    writer bytes = {0};
    put_text(&bytes, text);
    return lower(&bytes, to);
}

/* Bytes from the library. After a fault everything read is 0. */
typedef struct {
    const uint8_t *data;
    size_t left;
    const char *fault;
} reader;

static const uint8_t *get(reader *from, size_t length) {
    if (from->fault == NULL && length > from->left) {
        from->fault = MISMATCH;
    }
    if (from->fault != NULL) {
        return NULL;
    }
    const uint8_t *bytes = from->data;
    from->data += length;
    from->left -= length;
    return bytes;
}

static uint64_t get_number(reader *from, size_t width) {
    const uint8_t *bytes = get(from, width);
    uint64_t number = 0;
    for (size_t at = 0; bytes != NULL && at < width; at++) {
        number = number << 8 | bytes[at];
    }
    return number;
}

/* A count of things of at least one byte each: the bytes that are left bound it before anything is allocated. */
static size_t get_count(reader *from) {
    uint64_t count = get_number(from, 4);
    if (count > from->left) {
        from->fault = MISMATCH;
        return 0;
    }
    return (size_t)count;
}

static void *get_memory(reader *from, size_t count, size_t size) {
    if (from->fault != NULL) {
        return NULL;
    }
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL) {
        from->fault = NO_MEMORY;
    }
    return memory;
}

static char *get_text(reader *from, size_t length) {
    const uint8_t *bytes = get(from, length);
    char *text = get_memory(from, length + 1, 1);
    if (text != NULL && length > 0) {
        memcpy(text, bytes, length);
    }
    return text;
}

static char *copy_of(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

void @namespace@_string_free(const char *text) {
    free((void *)text);
}
