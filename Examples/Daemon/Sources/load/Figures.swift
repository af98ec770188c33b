// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the kernel says of a process.
struct Figures {
    let resident: Int
    let threads: Int
    let descriptors: Int
    let children: [CInt]

    init(of process: CInt) {
        let status = Figures.text("/proc/\(process)/status")
        resident = Figures.number("VmRSS", in: status)
        threads = Figures.number("Threads", in: status)
        descriptors = Figures.entries("/proc/\(process)/fd").count
        children = Figures.children(of: process)
    }

    static func children(of process: CInt) -> [CInt] {
        entries("/proc/\(process)/task").flatMap { thread in
            text("/proc/\(process)/task/\(thread)/children").split(separator: " ").compactMap { CInt($0) }
        }
    }

    /// What the descriptors are, and how many of each.
    static func kinds(of process: CInt) -> String {
        var counts: [String: Int] = [:]
        for name in entries("/proc/\(process)/fd") {
            var target = [UInt8](repeating: 0, count: 256)
            let count = target.withUnsafeMutableBytes {
                readlink("/proc/\(process)/fd/\(name)", $0.baseAddress!, $0.count)
            }
            let kind = String(decoding: target.prefix(max(0, count)), as: UTF8.self)
            counts[String(kind.prefix { !$0.isNumber }), default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    static func parent(of process: CInt) -> CInt? { CInt(number("PPid", in: text("/proc/\(process)/status"))) }

    static func entries(_ path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // SAFETY: the kernel ends names with a zero, within the 256 bytes of the field.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { return "" }
        defer { close(file) }
        var (bytes, portion) = ([UInt8](), [UInt8](repeating: 0, count: 16384))
        while true {
            let count = read(file, &portion, portion.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += portion.prefix(count)
        }
    }

    static func number(_ name: String, in status: String) -> Int {
        for line in status.split(separator: "\n") where line.hasPrefix(name + ":") {
            return Int(line.dropFirst(name.count + 1).split { $0 == " " || $0 == "\t" }.first ?? "") ?? 0
        }
        return 0
    }
}

/// How often the threads of a process have waited, also the threads that have ended: as they were last seen.
struct SwitchMeter {
    let process: CInt
    private var counts: [String: Int] = [:]

    init(_ process: CInt) { self.process = process }

    mutating func sample() -> Int {
        for thread in Figures.entries("/proc/\(process)/task") {
            let status = Figures.text("/proc/\(process)/task/\(thread)/status")
            if !status.isEmpty { counts[thread] = Figures.number("voluntary_ctxt_switches", in: status) }
        }
        return counts.values.reduce(0, +)
    }

    /// How many threads there have been.
    var threads: Int { counts.count }
}

/// Time on a processor, of the process and of the children that it has waited for, in milliseconds.
func processorTime(of process: CInt) -> (own: Int, children: Int) {
    // The name in parentheses may contain anything.
    let fields = Figures.text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 14 else { return (0, 0) }
    let ticks = fields[11...14].map { (Int($0) ?? 0) * 1000 / sysconf(CInt(_SC_CLK_TCK)) }
    return (ticks[0] + ticks[1], ticks[2] + ticks[3])
}
