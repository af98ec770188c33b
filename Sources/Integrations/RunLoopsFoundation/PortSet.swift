// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsFoundation
internal import CRunLoopsKernel
@preconcurrency internal import CoreFoundation
internal import RunLoopsLibC

/// The epoll descriptor that a mode of Foundation's main loop sleeps on, found without knowledge of Core Foundation's memory
/// layout.
///
/// To find it, a source of version 1 with a new descriptor is added to the mode. The epoll descriptor that lists the new
/// descriptor afterwards (proc(5): `tfd`) is the mode's.
@MainActor
struct PortSet {
    let descriptor: CInt

    /// - Throws: The ``Misfit`` that says what differs from the expected.
    static func find(in mode: CFString, of loop: CFRunLoop) throws(Misfit) -> PortSet {
        let probe = rl_eventfd_create()
        guard probe >= 0 else { throw .refused("eventfd", -probe) }
        defer { _ = rl_close(probe) }
        let before = try epolls(with: probe)
        let source = makeSource(probe)
        CFRunLoopAddSource(loop, source, mode)
        defer {
            CFRunLoopRemoveSource(loop, source, mode)
            CFRunLoopSourceInvalidate(source)
        }
        let found = try epolls(with: probe).filter { !before.contains($0) }
        guard found.count == 1 else { throw .portSets(found.count) }
        return PortSet(descriptor: found[0])
    }

    /// Makes a source whose port is this descriptor.
    private static func makeSource(_ descriptor: CInt) -> CFRunLoopSource? {
        var context = CFRunLoopSourceContext1()
        context.version = 1
        context.info = UnsafeMutableRawPointer(bitPattern: Int(descriptor))
        context.getPort = { CInt(Int(bitPattern: $0)) }
        context.perform = { _ in }
        // The two versions of the context begin alike, and CFRunLoopSourceCreate looks at `version` to tell them apart.
        return withUnsafeMutableBytes(of: &context) { bytes in
            // SAFETY: version is 1, so that as many bytes are read as a CFRunLoopSourceContext1 has.
            CFRunLoopSourceCreate(nil, 0, bytes.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
        }
    }

    // MARK: Wake-ups

    /// Checks that a wake-up by another thread makes exactly one descriptor of the set readable, and that the thread
    /// finds all locks free.
    func showsWakeUps(of loop: CFRunLoop, _ mode: CFString) throws(Misfit) {
        let counts = try eventCounts()
        guard
            rl_foundation_answers(
                UnsafeRawPointer(Unmanaged.passUnretained(loop).toOpaque()),
                UnsafeRawPointer(Unmanaged.passUnretained(mode).toOpaque()), Self.patience)
        else { throw .locked }
        let risen = try eventCounts().filter { $0.value > counts[$0.key] ?? 0 }
        guard risen.count == 1 else { throw .wakeUps(risen.count) }
        guard rl_poll(descriptor, Int16(POLLIN)) != 0 else { throw .wakeUps(0) }
    }

    /// How long another thread may take to find a lock free, in milliseconds.
    private static var patience: CInt { 10_000 }

    /// Returns the counts of the eventfds in the set.
    private func eventCounts() throws(Misfit) -> [CInt: UInt64] {
        var counts: [CInt: UInt64] = [:]
        for member in try Self.members(of: descriptor) ?? [] {
            for line in Self.information(member) ?? [] where line.first == "eventfd-count:" && line.count > 1 {
                counts[member] = UInt64(line[1], radix: 16)
            }
        }
        return counts
    }

    // MARK: /proc/self

    /// Returns the epoll descriptors of the process that list `member`.
    private static func epolls(with member: CInt) throws(Misfit) -> [CInt] {
        guard let directory = opendir("/proc/self/fd") else { throw .refused("opendir", errno) }
        defer { closedir(directory) }
        var found: [CInt] = []
        while let entry = readdir(directory) {
            // SAFETY: the C library ends the name with a zero. The name may be longer than the 256 bytes of its field in Swift.
            let field = UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            let name = String(cString: field.assumingMemoryBound(to: CChar.self))
            guard let number = CInt(name), try members(of: number)?.contains(member) == true else { continue }
            found.append(number)
        }
        return found
    }

    /// Returns the descriptors that an epoll descriptor lists; `nil` for any other descriptor.
    private static func members(of epoll: CInt) throws(Misfit) -> [CInt]? {
        let members = (information(epoll) ?? []).filter { $0.first == "tfd:" && $0.count > 1 }.compactMap {
            CInt($0[1])
        }
        return members.isEmpty ? nil : members
    }

    /// The function that returns the information of proc(5) on a descriptor of this process; tests replace it.
    static var readInformation: @MainActor (CInt) -> String? = { descriptor in
        let file = open("/proc/self/fdinfo/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while case let count = read(file, &part, part.count), count > 0 { text += part[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the lines of proc(5)'s information on a descriptor, each as a list of words.
    private static func information(_ descriptor: CInt) -> [[Substring]]? {
        readInformation(descriptor)?.split(separator: "\n").map { line in
            line.split { $0 == " " || $0 == "\t" }
        }
    }
}

/// The first property of Foundation's main loop or of the system that does not allow a complete guest.
enum Misfit: Error {
    case refused(String, CInt)
    case portSets(Int)
    case locked
    case wakeUps(Int)

    var text: String {
        switch self {
        case .refused(let call, let code): "\(call) was refused (\(String(cString: strerror(code))))"
        case .portSets(let count):
            "\(count) descriptors in /proc/self/fdinfo, and not one, list what was added to Foundation's main loop"
        case .locked: "Core Foundation holds a lock during the callout of an observer"
        case .wakeUps(let count):
            "a wake-up of Foundation's main loop shows on \(count) of its descriptors, and not on one"
        }
    }
}
