// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Walks a copied stack by the tables that the compiler leaves for exceptions (.eh_frame), and by frame pointers where
// the tables say nothing. Reads the copy, and copies of the tables' entries, each with its bounds; writes nothing. The
// library with a table may be unloaded meanwhile, and a table may say anything: the result may be wrong then, and
// nothing worse.

#include "CRunLoopsStackSampling.h"

#include <string.h>

#if defined(__x86_64__)
#define FRAME_POINTER 6
#define RETURN_ADDRESS 16
#else
#define FRAME_POINTER 29
#define RETURN_ADDRESS 30
#endif
#define STACK_POINTER RL_STACK_POINTER
#define REGISTERS 33

const rl_code *rl_find_code(uint64_t address, const rl_code *code, size_t count) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    return low < count && code[low].start <= address ? &code[low] : NULL;
}

typedef enum { is_same, is_undefined, is_at, is_offset, is_register, is_unknown } kind;

typedef struct row {
    kind kinds[REGISTERS];
    uint64_t values[REGISTERS];
    uint64_t frame_register;
    uint64_t frame_offset;
    bool has_frame;
} row;

// Longer entries are those of functions with thousands of changes of the stack.
#define ENTRY_BYTES 8192
// Entries longer than four gigabytes have another form, which nobody writes.
#define LONG_FORM 0xffffffff

typedef struct cursor {
    const rl_stack_sample *sample;
    const rl_code *code;
    size_t code_count;
    rl_copy copy;
    // Pairs on the stack that may still be tried as a frame: junk must not take for ever.
    int guesses;
    uint64_t registers[REGISTERS];
    uint64_t known;
    uint64_t counter;
} cursor;

// Between two ends, which no reading function leaves; behind the end are zeros.
typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} reader;

// The values that several entries share. All arithmetic here is unsigned: an overflow gives a wrong result, and no trap.
typedef struct {
    uint64_t code_factor;
    uint64_t data_factor;
    uint8_t encoding;
    uint64_t return_register;
} common;

static uint64_t read_leb(reader *reader, bool is_signed) {
    uint64_t value = 0;
    uint8_t byte = 0;
    for (unsigned shift = 0; reader->at < reader->end;) {
        byte = *reader->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80) continue;
        return is_signed && shift < 64 && (byte & 0x40) ? value | ~(uint64_t)0 << shift : value;
    }
    return value;
}

static uint64_t read_uleb(reader *reader) { return read_leb(reader, false); }

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

static void skip(reader *reader, uint64_t count) {
    uint64_t rest = (uint64_t)(reader->end - reader->at);
    reader->at += count < rest ? count : rest;
}

static uint64_t read_encoded(reader *reader, uint8_t encoding) {
    switch (encoding & 0x07) {
    case 0x01: return read_leb(reader, encoding & 0x08);
    case 0x02: return read_bytes(reader, 2);
    case 0x03: return read_bytes(reader, 4);
    default: return read_bytes(reader, 8);
    }
}

static bool read_word(const cursor *cursor, uint64_t address, uint64_t *word) {
    const rl_stack_sample *sample = cursor->sample;
    if (address % 8 != 0 || address < sample->stack || sample->size < 8 ||
        address - sample->stack > sample->size - 8) return false;
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

static void set_rule(row *row, uint64_t number, kind kind, uint64_t value) {
    if (number >= REGISTERS) return;
    row->kinds[number] = kind;
    row->values[number] = value;
}

static void restore(row *row, uint64_t number, const struct row *initial) {
    if (number < REGISTERS) set_rule(row, number, initial->kinds[number], initial->values[number]);
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
        case 0x80: set_rule(present, number, is_at, read_uleb(&code) * common->data_factor); continue;
        case 0xc0: restore(present, number, initial); continue;
        }
        // Of two operations that differ in this alone, the later one has a factored signed number.
        bool is_signed = operation >= 0x11 && operation != 0x14;
        switch (operation) {
        case 0x00: break;
        case 0x02: case 0x03: case 0x04:
            location += read_bytes(&code, (size_t)1 << (operation - 2)) * common->code_factor;
            break;
        case 0x06: restore(present, read_uleb(&code), initial); break;
        case 0x07: set_rule(present, read_uleb(&code), is_undefined, 0); break;
        case 0x08: set_rule(present, read_uleb(&code), is_same, 0); break;
        case 0x09:
            number = read_uleb(&code);
            set_rule(present, number, is_register, read_uleb(&code));
            break;
        case 0x0a:
            if (depth == 4) return false;
            kept[depth++] = *present;
            break;
        case 0x0b:
            if (depth == 0) return false;
            *present = kept[--depth];
            break;
        case 0x0c: case 0x12:
            present->frame_register = read_uleb(&code);
            present->has_frame = true;
            // fallthrough
        case 0x0e: case 0x13:
            present->frame_offset = read_leb(&code, is_signed) * (is_signed ? common->data_factor : 1);
            break;
        case 0x0d: present->frame_register = read_uleb(&code); break;
        case 0x0f:
            skip(&code, read_uleb(&code));
            present->has_frame = false;
            break;
        case 0x10: case 0x16:
            set_rule(present, read_uleb(&code), is_unknown, 0);
            skip(&code, read_uleb(&code));
            break;
        case 0x05: case 0x11: case 0x14: case 0x15:
            number = read_uleb(&code);
            set_rule(present, number, operation < 0x14 ? is_at : is_offset,
                     read_leb(&code, is_signed) * common->data_factor);
            break;
        case 0x2d: break;  // The return address is signed from here on; the sign is taken off where it is read.
        case 0x2e: read_uleb(&code); break;
        default: return false;
        }
    }
    return true;
}

// Copies an entry without its length: false where it is not there as a whole.
static bool read_entry(const cursor *cursor, uint64_t address, uint8_t bytes[ENTRY_BYTES], reader *entry) {
    uint32_t length;
    if (cursor->copy(address, &length, 4) != 4) return false;
    if (length < 4 || length == LONG_FORM || length > ENTRY_BYTES) return false;
    *entry = (reader){bytes, bytes + length};
    return cursor->copy(address + 4, bytes, length) == length;
}

// Reads what comes before the common instructions. Without the letter z the rest could not be skipped.
static bool read_common(reader *entry, common *common) {
    if (read_bytes(entry, 4) != 0) return false;
    uint64_t version = read_bytes(entry, 1);
    const char *letters = (const char *)entry->at;
    while (read_bytes(entry, 1) != 0) {}
    if (entry->at == entry->end || letters[0] != 'z') return false;
    if (version >= 4) skip(entry, 2);
    common->code_factor = read_uleb(entry);
    common->data_factor = read_leb(entry, true);
    common->return_register = version == 1 ? read_bytes(entry, 1) : read_uleb(entry);
    common->encoding = 0;
    uint64_t size = read_uleb(entry);
    reader data = *entry;
    for (const char *letter = letters + 1; *letter != 0; letter++) {
        if (*letter == 'R') common->encoding = (uint8_t)read_bytes(&data, 1);
        else if (*letter == 'L') read_bytes(&data, 1);
        else if (*letter == 'P') read_encoded(&data, (uint8_t)read_bytes(&data, 1));
    }
    skip(entry, size);
    return true;
}

// Where the entry for an address is, and where its function begins: by the sorted table of the index.
static uint64_t find_entry(const cursor *cursor, uint64_t address, uint64_t *function) {
    const rl_code *code = rl_find_code(address, cursor->code, cursor->code_count);
    struct { uint8_t version, pointer, count, table; } form;
    struct { int32_t function, entry; } pair;
    if (code == NULL || code->index_size < 16 || cursor->copy(code->index, &form, 4) != 4) return 0;
    // A number of four bytes, then pairs of four bytes relative to the index: the form that linkers write.
    uint64_t at = code->index + 4 + ((form.pointer & 0x07) == 0x04 || (form.pointer & 0x0f) == 0 ? 8 : 4);
    uint32_t high = 0, low = 0;
    if (form.version != 1 || form.count != 0x03 || form.table != 0x3b) return 0;
    if (cursor->copy(at, &high, 4) != 4) return 0;
    at += 4;
    if (high > code->index_size / sizeof pair) return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cursor->copy(at + middle * sizeof pair, &pair, sizeof pair) != sizeof pair) return 0;
        if (code->index + (uint64_t)pair.function <= address) low = middle + 1;
        else high = middle;
    }
    if (low == 0 || cursor->copy(at + (low - 1) * sizeof pair, &pair, sizeof pair) != sizeof pair) return 0;
    *function = code->index + (uint64_t)pair.function;
    return code->index + (uint64_t)pair.entry;
}

// How to get from the frame of `counter` to its caller's.
static bool find_row(const cursor *cursor, uint64_t counter, row *result, uint64_t *return_register) {
    uint8_t own[ENTRY_BYTES], shared[ENTRY_BYTES];
    reader body, code;
    common common;
    uint64_t function, entry = find_entry(cursor, counter, &function);
    if (entry == 0 || !read_entry(cursor, entry, own, &body)) return false;
    uint64_t distance = read_bytes(&body, 4);
    if (!read_entry(cursor, entry + 4 - distance, shared, &code) || !read_common(&code, &common)) return false;
    read_encoded(&body, common.encoding);
    // The function may end before the address: the linker leaves entries of nothing between functions out.
    if (counter - function >= read_encoded(&body, common.encoding & 0x07)) return false;
    skip(&body, read_uleb(&body));
    row initial = {0};
    if (!execute(code, &common, 0, UINT64_MAX, &initial, &initial)) return false;
    *result = initial;
    *return_register = common.return_register;
    return execute(body, &common, function, counter, result, &initial) && result->has_frame;
}

static bool is_code(cursor *cursor, uint64_t address) {
    uint64_t function;
    return cursor->guesses-- > 0 && find_entry(cursor, address - 1, &function) != 0;
}

// For a thread that waits in the kernel only two registers are known. A function that keeps a frame pointer has pushed
// its caller's beside the return address: the first such pair above the stack pointer is taken as this frame's own.
static bool find_frame_pointer(cursor *cursor) {
    const rl_stack_sample *sample = cursor->sample;
    uint64_t end = sample->stack + sample->size;
    uint64_t pointer = cursor->registers[STACK_POINTER];
    uint64_t caller, address;
    // The copy may begin above the pointer.
    if (pointer < sample->stack) pointer = sample->stack;
    for (uint64_t at = (pointer + 15) & ~(uint64_t)15; read_word(cursor, at, &caller); at += 16) {
        if (caller <= at || caller >= end || caller % 16 != 0) continue;
        if (!read_word(cursor, at + 8, &address) || !is_code(cursor, address)) continue;
        learn(cursor, FRAME_POINTER, at);
        return true;
    }
    return false;
}

// Signed return addresses of arm64 have the signature above the address; on x86-64 nothing is there.
static uint64_t plain_address(uint64_t address) { return address & 0x0000ffffffffffff; }

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
    uint64_t frame = cursor->registers[row->frame_register] + row->frame_offset;
    if (frame < cursor->registers[STACK_POINTER]) return false;
    // The rules refer to the registers as they were.
    struct cursor next = *cursor;
    for (uint64_t number = 0; number < REGISTERS; number++) {
        uint64_t value = 0, rule = row->values[number];
        bool is_known = false;
        switch (row->kinds[number]) {
        case is_same: continue;
        case is_at: is_known = read_word(cursor, frame + rule, &value); break;
        case is_offset: is_known = true, value = frame + rule; break;
        case is_register: is_known = knows(cursor, rule), value = is_known ? cursor->registers[rule] : 0; break;
        case is_undefined: case is_unknown: break;
        }
        next.known &= ~((uint64_t)1 << number);
        if (is_known) learn(&next, number, value);
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
    // The address after a call may be the beginning of another function: the address of the call itself is looked up.
    bool has_left = find_row(cursor, cursor->counter - (is_innermost ? 0 : 1), &row, &return_register)
                        ? leave_by_row(cursor, &row, return_register)
                        : leave_by_frame_pointer(cursor);
    // Only the innermost frame may be empty; a chain that does not climb is wrong.
    return has_left && cursor->counter > 0xfff && (cursor->registers[STACK_POINTER] > before || is_innermost);
}

size_t rl_unwind(const rl_stack_sample *sample, const rl_code *code, size_t code_count, rl_copy copy, uint64_t *counters,
                 size_t capacity) {
    if (sample->counter == 0 || capacity == 0) return 0;
    cursor cursor = {.sample = sample, .code = code, .code_count = code_count, .copy = copy, .guesses = 64,
                     .known = sample->known, .counter = sample->counter};
    memcpy(cursor.registers, sample->registers, sizeof sample->registers);
    size_t count = 0;
    counters[count++] = cursor.counter;
    while (count < capacity && leave_frame(&cursor, count == 1)) counters[count++] = cursor.counter;
    return count;
}
