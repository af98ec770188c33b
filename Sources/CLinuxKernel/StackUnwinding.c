// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Walks a copied stack by the tables that the compiler leaves for exceptions (.eh_frame), and by frame pointers where
// the tables say nothing. Reads only the copy and writes nothing, so that it may go wrong but never harm.
//
// The libraries that unwind (libgcc, LLVM's) begin with the registers of the thread that they run on; what they share
// with this file is finding the table's entry.

#include "StackSampling.h"

#include <string.h>

#if defined(__x86_64__)
#define FRAME_POINTER 6
#define STACK_POINTER 7
#define RETURN_ADDRESS 16
#elif defined(__aarch64__)
#define FRAME_POINTER 29
#define STACK_POINTER 31
#define RETURN_ADDRESS 30
#endif

#ifdef FRAME_POINTER

// The same in libgcc and in LLVM's libunwind.
struct bases {
    void *text;
    void *data;
    void *function;
};
extern const void *_Unwind_Find_FDE(void *counter, struct bases *bases);

#define REGISTERS 33

typedef enum { is_same, is_undefined, is_at, is_offset, is_register, is_unknown } kind;

typedef struct {
    kind kinds[REGISTERS];
    int64_t values[REGISTERS];
    uint64_t frame_register;
    int64_t frame_offset;
    bool has_frame;
} row;

typedef struct cursor {
    const rl_stack_sample *sample;
    uint64_t registers[REGISTERS];
    uint64_t known;
    uint64_t counter;
} cursor;

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} reader;

// What entries have in common.
typedef struct {
    uint64_t code_factor;
    int64_t data_factor;
    uint8_t encoding;
    uint64_t return_register;
} common;

static uint64_t read_uleb(reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) break;
    }
    return value;
}

static int64_t read_sleb(reader *reader) {
    int64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    while (reader->at < reader->end) {
        byte = *reader->at++;
        if (shift < 64) value |= (int64_t)(byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) == 0) break;
    }
    if (shift < 64 && (byte & 0x40)) value |= -((int64_t)1 << shift);
    return value;
}

static uint64_t read_bytes(reader *reader, size_t count) {
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < count) {
        reader->at = reader->end;
        return 0;
    }
    memcpy(&value, reader->at, count);
    reader->at += count;
    return value;
}

static void skip_encoded(reader *reader, uint8_t encoding) {
    switch (encoding & 0x0f) {
    case 0x01: read_uleb(reader); return;
    case 0x09: read_sleb(reader); return;
    case 0x02: case 0x0a: read_bytes(reader, 2); return;
    case 0x03: case 0x0b: read_bytes(reader, 4); return;
    default: read_bytes(reader, 8); return;
    }
}

static bool read_word(const cursor *cursor, uint64_t address, uint64_t *word) {
    const rl_stack_sample *sample = cursor->sample;
    if (address % 8 != 0 || address < sample->stack || address - sample->stack + 8 > sample->size) return false;
    *word = sample->bytes[(address - sample->stack) / 8];
    return true;
}

static bool knows(const cursor *cursor, uint64_t number) {
    return number < REGISTERS && (cursor->known >> number & 1);
}

static void learn(cursor *cursor, uint64_t number, uint64_t value) {
    cursor->registers[number] = value;
    cursor->known |= (uint64_t)1 << number;
}

static void set_rule(row *row, uint64_t number, kind kind, int64_t value) {
    if (number >= REGISTERS) return;
    row->kinds[number] = kind;
    row->values[number] = value;
}

// Executes a table's entry until `counter`. False where that is impossible: at an unknown operation.
// Expressions, which occur in signal trampolines and in linkage tables, leave their register unknown.
static bool execute(reader code, const common *common, uint64_t location, uint64_t counter, row *present,
                    const row *initial) {
    row kept[4];
    int depth = 0;
    while (code.at < code.end && location <= counter) {
        uint8_t operation = *code.at++;
        uint64_t number = operation & 0x3f;
        switch (operation & 0xc0) {
        case 0x40: location += number * common->code_factor; continue;
        case 0x80: set_rule(present, number, is_at, (int64_t)read_uleb(&code) * common->data_factor); continue;
        case 0xc0:
            if (number < REGISTERS) set_rule(present, number, initial->kinds[number], initial->values[number]);
            continue;
        }
        switch (operation) {
        case 0x00: break;
        case 0x02: location += read_bytes(&code, 1) * common->code_factor; break;
        case 0x03: location += read_bytes(&code, 2) * common->code_factor; break;
        case 0x04: location += read_bytes(&code, 4) * common->code_factor; break;
        case 0x05:
            number = read_uleb(&code);
            set_rule(present, number, is_at, (int64_t)read_uleb(&code) * common->data_factor);
            break;
        case 0x06:
            number = read_uleb(&code);
            if (number < REGISTERS) set_rule(present, number, initial->kinds[number], initial->values[number]);
            break;
        case 0x07: set_rule(present, read_uleb(&code), is_undefined, 0); break;
        case 0x08: set_rule(present, read_uleb(&code), is_same, 0); break;
        case 0x09:
            number = read_uleb(&code);
            set_rule(present, number, is_register, (int64_t)read_uleb(&code));
            break;
        case 0x0a:
            if (depth == 4) return false;
            kept[depth++] = *present;
            break;
        case 0x0b:
            if (depth == 0) return false;
            *present = kept[--depth];
            break;
        case 0x0c:
            present->frame_register = read_uleb(&code);
            present->frame_offset = (int64_t)read_uleb(&code);
            present->has_frame = true;
            break;
        case 0x0d: present->frame_register = read_uleb(&code); break;
        case 0x0e: present->frame_offset = (int64_t)read_uleb(&code); break;
        case 0x0f:
            code.at += read_uleb(&code);
            present->has_frame = false;
            break;
        case 0x10:
        case 0x16:
            set_rule(present, read_uleb(&code), is_unknown, 0);
            code.at += read_uleb(&code);
            break;
        case 0x11:
            number = read_uleb(&code);
            set_rule(present, number, is_at, read_sleb(&code) * common->data_factor);
            break;
        case 0x12:
            present->frame_register = read_uleb(&code);
            present->frame_offset = read_sleb(&code) * common->data_factor;
            present->has_frame = true;
            break;
        case 0x13: present->frame_offset = read_sleb(&code) * common->data_factor; break;
        case 0x14:
            number = read_uleb(&code);
            set_rule(present, number, is_offset, (int64_t)read_uleb(&code) * common->data_factor);
            break;
        case 0x15:
            number = read_uleb(&code);
            set_rule(present, number, is_offset, read_sleb(&code) * common->data_factor);
            break;
        case 0x2d: break;  // The return address is signed from here on; the sign is taken off where it is read.
        case 0x2e: read_uleb(&code); break;
        default: return false;
        }
    }
    return true;
}

// Reads the letters of the augmentation, and finds the common instructions.
static bool read_common(const uint8_t *entry, common *common, reader *code) {
    uint32_t length;
    memcpy(&length, entry, 4);
    reader reader = {entry + 8, entry + 4 + length};
    uint8_t version = (uint8_t)read_bytes(&reader, 1);
    const char *letters = (const char *)reader.at;
    reader.at += strlen(letters) + 1;
    if (version >= 4) reader.at += 2;
    common->code_factor = read_uleb(&reader);
    common->data_factor = read_sleb(&reader);
    common->return_register = version == 1 ? read_bytes(&reader, 1) : read_uleb(&reader);
    common->encoding = 0;
    // Without a length the rest could not be skipped.
    if (letters[0] != 'z') return false;
    uint64_t size = read_uleb(&reader);
    code->at = reader.at + size;
    code->end = reader.end;
    for (const char *letter = letters + 1; *letter != 0; letter++) {
        if (*letter == 'R') common->encoding = (uint8_t)read_bytes(&reader, 1);
        else if (*letter == 'L') read_bytes(&reader, 1);
        else if (*letter == 'P') skip_encoded(&reader, (uint8_t)read_bytes(&reader, 1));
    }
    return true;
}

// How to get from the frame of `counter` to its caller's.
static bool find_row(uint64_t counter, row *result, uint64_t *return_register) {
    struct bases bases = {0};
    const uint8_t *entry = _Unwind_Find_FDE((void *)counter, &bases);
    if (entry == NULL) return false;
    uint32_t length;
    int32_t distance;
    memcpy(&length, entry, 4);
    memcpy(&distance, entry + 4, 4);
    // Entries longer than four gigabytes have another form, which nobody writes.
    if (length == 0xffffffff) return false;
    common common;
    reader code;
    row initial = {0};
    if (!read_common(entry + 4 - distance, &common, &code)) return false;
    if (!execute(code, &common, 0, UINT64_MAX, &initial, &initial)) return false;
    reader body = {entry + 8, entry + 4 + length};
    skip_encoded(&body, common.encoding);
    skip_encoded(&body, common.encoding & 0x0f);
    uint64_t size = read_uleb(&body);
    body.at += size;
    *result = initial;
    *return_register = common.return_register;
    return execute(body, &common, (uint64_t)bases.function, counter, result, &initial) && result->has_frame;
}

static bool is_code(uint64_t address) {
    struct bases bases = {0};
    return _Unwind_Find_FDE((void *)(address - 1), &bases) != NULL;
}

// For a thread that waits in the kernel only two registers are known. A function that keeps a frame pointer has pushed
// its caller's beside the return address: the first such pair above the stack pointer is taken as this frame's own.
static bool find_frame_pointer(cursor *cursor) {
    uint64_t end = cursor->sample->stack + cursor->sample->size;
    uint64_t caller, address;
    for (uint64_t at = (cursor->registers[STACK_POINTER] + 15) & ~(uint64_t)15; read_word(cursor, at, &caller); at += 16) {
        if (caller <= at || caller >= end || caller % 16 != 0) continue;
        if (!read_word(cursor, at + 8, &address) || !is_code(address)) continue;
        learn(cursor, FRAME_POINTER, at);
        return true;
    }
    return false;
}

// Signed return addresses have the signature above the address.
static uint64_t plain_address(uint64_t address) {
#if defined(__aarch64__)
    return address & 0x0000ffffffffffff;
#else
    return address;
#endif
}

static bool leave_by_frame_pointer(cursor *cursor) {
    uint64_t caller, address;
    uint64_t base = cursor->registers[FRAME_POINTER];
    if (!knows(cursor, FRAME_POINTER) || base < cursor->registers[STACK_POINTER]) return false;
    if (!read_word(cursor, base, &caller) || !read_word(cursor, base + 8, &address)) return false;
    cursor->known = 0;
    learn(cursor, FRAME_POINTER, caller);
    learn(cursor, STACK_POINTER, base + 16);
    cursor->counter = plain_address(address);
    return true;
}

static bool leave_by_row(cursor *cursor, const row *row, uint64_t return_register) {
    if (!knows(cursor, row->frame_register) && row->frame_register == FRAME_POINTER) find_frame_pointer(cursor);
    if (!knows(cursor, row->frame_register)) return false;
    uint64_t frame = cursor->registers[row->frame_register] + (uint64_t)row->frame_offset;
    if (frame < cursor->registers[STACK_POINTER]) return false;
    // The rules refer to the registers as they were.
    struct cursor next = *cursor;
    for (uint64_t number = 0; number < REGISTERS; number++) {
        uint64_t value = 0;
        bool is_known = false;
        switch (row->kinds[number]) {
        case is_same: continue;
        case is_at: is_known = read_word(cursor, frame + (uint64_t)row->values[number], &value); break;
        case is_offset:
            value = frame + (uint64_t)row->values[number];
            is_known = true;
            break;
        case is_register:
            is_known = knows(cursor, (uint64_t)row->values[number]);
            if (is_known) value = cursor->registers[row->values[number]];
            break;
        case is_undefined:
        case is_unknown: break;
        }
        next.registers[number] = value;
        if (is_known) next.known |= (uint64_t)1 << number;
        else next.known &= ~((uint64_t)1 << number);
    }
    *cursor = next;
    // A thread's first function is marked as having no caller: its return address is undefined.
    if (!knows(cursor, return_register)) return false;
    cursor->counter = plain_address(cursor->registers[return_register]);
    // On x86-64 the return address is a register in the tables only; the caller's own is not known yet.
    if (return_register != STACK_POINTER && RETURN_ADDRESS == 16) cursor->known &= ~((uint64_t)1 << RETURN_ADDRESS);
    learn(cursor, STACK_POINTER, frame);
    return true;
}

static bool leave_frame(cursor *cursor, bool is_innermost) {
    row row;
    uint64_t return_register = RETURN_ADDRESS;
    uint64_t before = cursor->registers[STACK_POINTER];
    // What follows a call may be another function's first instruction: the call itself is looked up.
    bool has_left = find_row(cursor->counter - (is_innermost ? 0 : 1), &row, &return_register)
                        ? leave_by_row(cursor, &row, return_register)
                        : leave_by_frame_pointer(cursor);
    // Only the innermost frame may be empty; a chain that does not climb is wrong.
    return has_left && cursor->counter > 0xfff && (cursor->registers[STACK_POINTER] > before || is_innermost);
}

size_t rl_unwind(const rl_stack_sample *sample, uint64_t *counters, size_t capacity) {
    if (sample->counter == 0 || capacity == 0) return 0;
    cursor cursor = {.sample = sample, .known = sample->known, .counter = sample->counter};
    memcpy(cursor.registers, sample->registers, sizeof sample->registers);
    size_t count = 0;
    counters[count++] = cursor.counter;
    while (count < capacity && leave_frame(&cursor, count == 1)) counters[count++] = cursor.counter;
    return count;
}

#else

// Only the innermost function.
size_t rl_unwind(const rl_stack_sample *sample, uint64_t *counters, size_t capacity) {
    if (sample->counter == 0 || capacity == 0) return 0;
    counters[0] = sample->counter;
    return 1;
}

#endif
