// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Something that has happened, told to another thread.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// A thread with an end one can wait for.
final class Thread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var handle = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // SAFETY: the reference passed by init; taken once.
                Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    func join() { pthread_join(handle, nil) }
}

/// A thread of this process, as the kernel sees it.
struct Task {
    let folder: String

    /// Waits until there is one.
    static func named(_ name: String) -> Task {
        while true {
            if let task = find(name) { return task }
            usleep(1000)
        }
    }

    private static func find(_ name: String) -> Task? {
        guard let tasks = opendir("/proc/self/task") else { preconditionFailure("no /proc") }
        defer { closedir(tasks) }
        while let entry = readdir(tasks) {
            let number = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let task = Task(folder: "/proc/self/task/\(number)/")
            if task.text("comm") == name + "\n" { return task }
        }
        return nil
    }

    /// How often it has gone to sleep.
    var switches: Int {
        for line in text("status").split(separator: "\n") where line.hasPrefix("voluntary_ctxt_switches:") {
            return line.split(separator: "\t").last.flatMap { Int($0) } ?? 0
        }
        return 0
    }

    private func text(_ name: String) -> String {
        guard let file = fopen(folder + name, "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
