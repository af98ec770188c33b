// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import CRunLoopsStackSampling
import CRunLoopsTerminalRestore
import Glibc

/// The C functions that take a length or a text which another program has chosen.
///
/// libFuzzer's buffer ends with the input, and the copies here end with theirs: the address sanitizer sees each byte too far.
extension Reader {
    func readEntries(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        var entry = rl_directory_entry()
        while rl_directory_next(bytes.baseAddress, bytes.count, &place, &entry) == 1 {
            precondition(strlen(entry.name) == entry.length && entry.length < bytes.count, "\(entry.length) bytes")
        }
        precondition(place <= bytes.count, "\(place) of \(bytes.count)")
    }

    /// Paths and hosts of any length into addresses, and any bytes of an address into text.
    func readAddresses(_ bytes: UnsafeRawBufferPointer) {
        let room = Int(RL_ADDRESS_ROOM)
        let text = bytes.map { CChar(bitPattern: $0) }
        let ended = text + [0]
        withExactly(room) { address in
            let length = text.withUnsafeBufferPointer { rl_address_unix(address, $0.baseAddress, $0.count) }
            precondition(length < 0 || Int(length) <= room, "an address of \(length) bytes")
            _ = rl_address_internet(address, ended, 1)
            address.copyMemory(from: Array(bytes.prefix(room)), byteCount: min(bytes.count, room))
            _ = rl_address_family(address)
            _ = rl_address_port(address)
            // The room of the one caller, and less.
            for capacity in [64, 16, 1] {
                withExactly(capacity) { host in
                    let host = host.assumingMemoryBound(to: CChar.self)
                    rl_address_host(address, host, capacity)
                    precondition(strnlen(host, capacity) < capacity, "a host without an end")
                }
            }
        }
        _ = rl_port_bind(-1, ended)
        // Locks only directories that exist; paths from the fuzzer are relative to an empty one.
        if bytes.first != UInt8(ascii: "/"), !bytes.contains(UInt8(ascii: ".")) {
            let lock = rl_lock_directory_of(ended)
            if lock >= 0 { rl_unlock_directory(lock) }
        }
        bytes.withMemoryRebound(to: UInt8.self) { ct_prepare($0.baseAddress, $0.count) }
    }

    /// A packet of any length with any number of descriptors, received into any room.
    func readPackets(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 3 else { return }
        let (wanted, capacity) = (Int(bytes[0]), Int(bytes[1]) << 2)
        let body = UnsafeRawBufferPointer(rebasing: bytes[2...])
        var ends: [CInt] = [-1, -1]
        guard rl_port_pair(&ends) == 0 else { return }
        defer { for end in ends { close(end) } }
        let passed = [CInt](repeating: ends[0], count: wanted)
        let sent = rl_port_send(ends[0], body.baseAddress, body.count, nil, 0, passed, CInt(wanted))
        precondition((sent == 0) == (wanted <= Int(RL_MAX_PASSED)), "\(wanted) descriptors: \(sent)")
        withExactly(capacity) { space in
            withExactly(Int(RL_MAX_PASSED) * MemoryLayout<CInt>.size) { numbers in
                let numbers = numbers.assumingMemoryBound(to: CInt.self)
                var packet = rl_packet()
                let result = rl_port_receive(ends[1], space, capacity, numbers, &packet)
                precondition(result == (sent == 0 ? 1 : -EAGAIN) || capacity == 0, "received: \(result)")
                precondition(packet.length <= capacity, "\(packet.length) of \(capacity)")
                for index in 0..<Int(packet.passed_count) { close(numbers[index]) }
            }
        }
    }

    /// The tables and the stack of a sample are any bytes.
    func unwind(_ bytes: UnsafeRawBufferPointer) {
        let words = 8
        guard bytes.count > words * 8 else { return }
        let sample = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)
        defer { sample.deallocate() }
        memset(sample, 0, MemoryLayout<rl_stack_sample>.size)
        let word = { (index: Int) in bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
        withUnsafeMutableBytes(of: &sample.pointee.registers) { registers in
            for (index, byte) in bytes.prefix(registers.count).enumerated() { registers[index] = byte }
        }
        sample.pointee.known = word(0)
        // In a small space, so that addresses meet what is there.
        sample.pointee.counter = 4096 + word(1) % 4096
        sample.pointee.stack = word(2) % 4 == 0 ? word(3) : 65536
        sample.pointee.size = min(UInt64(bytes.count), UInt64(RL_SAMPLE_BYTES)) & ~7
        // The last field, which Swift does not import.
        let room = Int(RL_SAMPLE_BYTES)
        let copy = UnsafeMutableRawPointer(sample) + (MemoryLayout<rl_stack_sample>.size - room)
        copy.copyMemory(from: bytes.baseAddress!, byteCount: min(bytes.count, room))
        tables = UnsafeRawBufferPointer(rebasing: bytes[(words * 8)...])
        defer { tables = UnsafeRawBufferPointer(start: nil, count: 0) }
        let code = [rl_code(start: 4096, end: 8192, bias: 0, index: 0, index_size: UInt64(tables.count))]
        for capacity in [64, 1, 0] {
            withExactly(capacity * 8) { counters in
                let count = rl_unwind(
                    sample, code, 1, copyTables, counters.assumingMemoryBound(to: UInt64.self), capacity)
                precondition(count <= capacity, "\(count) frames")
            }
        }
    }

    /// Any numbers, also negative ones.
    func readStamps(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 16 else { return }
        let number = bytes.loadUnaligned(as: UInt64.self)
        let time = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
        var (found, thread): (Int64, Int32) = (0, 0)
        rl_stamp_signal(number, time, 1)
        precondition(number == 0 || rl_find_signal(number, &found, &thread), "signal \(number)")
        let job = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: number))
        rl_stamp_job(job, time, 1)
        precondition(number >> 4 == 0 || rl_find_job(job, &found, &thread), "job \(number)")
        rl_stamp_wake(time, 1)
        precondition(time == 0 || rl_find_waker(time) == 1, "wake-up \(time)")
    }
}

/// The bytes that the fuzzed unwinder reads in place of the memory of the process.
nonisolated(unsafe) private var tables = UnsafeRawBufferPointer(start: nil, count: 0)

private func copyTables(_ from: UInt64, _ to: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    guard from < UInt64(tables.count), let to else { return 0 }
    let part = UnsafeRawBufferPointer(rebasing: tables[Int(from)...].prefix(size))
    part.baseAddress.map { to.copyMemory(from: $0, byteCount: part.count) }
    return part.count
}

/// Calls `body` with an allocation of exactly `count` bytes, so that the address sanitizer reports an access past its end.
private func withExactly(_ count: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
    let room = malloc(count)!
    defer { free(room) }
    memset(room, 0xAA, count)
    body(room)
}
