// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import RunLoops
import RunLoopsFoundation

/// The process has no descriptors left for Foundation's main loop when this loop is first run.
@MainActor
func playFewDescriptors() {
    let mine = Ours.Timer(.every(.milliseconds(1))) { _ in Ours.main.stop() }
    Ours.main.add(mine, in: .default)
    var whole = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    getrlimit(resource, &whole)
    var few = whole
    few.rlim_cur = 64
    setrlimit(resource, &few)
    var filler: [CInt] = []
    while case let one = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), one >= 0 { filler.append(one) }
    // For this loop's own epoll, and the main queue's descriptor.
    for _ in 0..<3 { close(filler.removeLast()) }
    print("this loop runs:", Ours.main.run() == .stopped, "limitation:", FoundationGuest.limitation != nil)
    for one in filler { close(one) }
    setrlimit(resource, &whole)
    // From here on Foundation's loop is served.
    let said = Said()
    let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in said("tick") }
    Driver.run.drive { said.all.count >= 3 }
    timer.invalidate()
    print("with descriptors: served, limitation:", FoundationGuest.limitation ?? "none")
}

/// The system, or Core Foundation, is not as it was expected: timers and closures of the main thread are served, and nothing
/// is touched.
@MainActor
func playMisfit(_ kind: String) {
    let read = FoundationGuest.readInformation
    switch kind {
    // As where proc(5) says nothing about epoll descriptors.
    case "no-information": FoundationGuest.readInformation = { _ in nil }
    // As where every epoll descriptor lists every descriptor.
    case "wrong-sets":
        FoundationGuest.readInformation = { descriptor in
            guard let text = read(descriptor), text.contains("tfd:") else { return nil }
            // Numbers that are none of the process's, as a library with other offsets would show.
            return text.split(separator: "\n").map { line in
                line.hasPrefix("tfd:") ? "tfd: 1000 events: 19 data: 1000" : String(line)
            }.joined(separator: "\n")
        }
    // As where wake-ups go somewhere else.
    case "no-wake-ups":
        FoundationGuest.readInformation = { read($0)?.replacingOccurrences(of: "eventfd-count:", with: "count:") }
    default: return
    }
    let said = Said()
    // No look of a driver's: the loop wakes for Foundation's timers alone.
    let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { timer in
        said("tick")
        Theirs.main.perform { said("performed") }
        if said.count("tick") > 3, said.count("performed") >= 3, said.count("performed from this loop") == 1 {
            timer.invalidate()
            MainActor.assumeIsolated { Ours.main.stop() }
        }
    }
    // By a closure of this loop's, after Foundation's first turn.
    Ours.main.add(
        Ours.Timer(.after(.milliseconds(20))) { _ in Theirs.main.perform { said("performed from this loop") } },
        in: .default)
    // Wakes nothing meanwhile.
    Ours.main.add(Ours.Timer(.every(.seconds(3600))) { _ in }, in: .default)
    while timer.isValid { Ours.main.run(in: .default, until: nil) }
    print(
        "timer: \(said.count("tick") >= 3), closures: \(said.count("performed") >= 3), from this loop: "
            + "\(said.count("performed from this loop") == 1)")
    print("limitation:", FoundationGuest.limitation.map { _ in "said" } ?? "none")
    print("a run of Foundation's in progress:", CFRunLoopCopyCurrentMode(CFRunLoopGetMain()) != nil)
}

/// A child of fork has a main loop of its own without a guest, and takes nothing from its parent's.
@MainActor
func playFork() {
    let said = Said()
    let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { _ in said("tick") }
    Driver.run.drive { said.all.count >= 3 }
    print("before: served")
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { return }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
        var fires = 0
        let own = Ours.Timer(.every(.milliseconds(2))) { _ in
            fires += 1
            if fires == 50 { Ours.main.stop() }
        }
        Ours.main.add(own, in: .default)
        _ = said.take()
        Ours.main.run()
        _exit(said.all.isEmpty && fires == 50 ? 0 : 1)
    }
    let before = said.all.count
    onThread {
        let timer = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in said("of a thread") }
        Theirs.main.add(timer, forMode: .default)
    }
    Driver.run.drive { said.all.count >= before + 20 && said.count("of a thread") == 1 }
    var status: CInt = 0
    waitpid(child, &status, 0)
    print("parent: served, child:", status == 0 ? "has its own loop" : "failed")
    timer.invalidate()
}

/// The program was started without a standard input: no descriptor of Foundation's main loop gets its number.
@MainActor
func playClosedStreams() {
    let mode = Ours.Mode("Another")
    try Ours.main.addCommonMode(mode)
    Ours.main.run(in: .default, for: .milliseconds(1))
    Ours.main.run(in: mode, for: .milliseconds(1))
    print("standard input:", fcntl(STDIN_FILENO, F_GETFD) < 0 ? "closed" : "taken")
}
