// What a sleeping thread has open in the kernel, before and after its loop has a descriptor to watch.

import Glibc
import RunLoops
import RunLoopsKit

func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// The descriptors of the process that are objects of the kernel, by number.
func kernelObjects() -> [Int: String] {
    var found: [Int: String] = [:]
    for number in 0..<256 {
        var text = [CChar](repeating: 0, count: 64)
        guard readlink("/proc/self/fd/\(number)", &text, 63) > 0 else { continue }
        let name = string(text)
        if name.hasPrefix("anon_inode:") { found[number] = String(name.dropFirst(11)) }
    }
    return found
}

/// The state of a thread in `/proc`: `S` is asleep, `R` is running.
func state(of thread: Int32) -> String {
    var text = [CChar](repeating: 0, count: 512)
    guard let file = fopen("/proc/self/task/\(thread)/stat", "r") else { return "?" }
    defer { fclose(file) }
    guard fgets(&text, CInt(text.count), file) != nil else { return "?" }
    // The name in brackets may contain anything; the state follows the last bracket.
    return string(text).split(separator: ")").last.map { String($0.prefix(2).suffix(1)) } ?? "?"
}

// The main loop has an eventfd for the main queue from the start.
_ = RunLoop.main
let before = kernelObjects()
let thread = try RunLoopThread(name: "sleeper")

func report(_ what: String) {
    while !thread.loop.isWaiting || state(of: thread.identity.number) != "S" { usleep(1000) }
    let opened = kernelObjects().filter { before[$0.key] == nil }.values.sorted()
    print("\(what): the thread sleeps, and the loop has opened \(opened)")
}

thread.loop.perform(after: .seconds(3600)) {}
report("timers and blocks")

var ends: [CInt] = [-1, -1]
guard pipe(&ends) == 0 else { fatalError("no pipe: errno \(errno)") }
let readEnd = ends[0]
try thread.performAndWait { _ = try RunLoop.current.add(RunLoop.DescriptorSource(readEnd) { _, _ in }, in: .default) }
report("and a descriptor")
thread.stop()
