// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsTerminal

// A program on a terminal, without views: it prints each event as a line.
//
//   program [option…] [action]: `x` does the action, `q` ends the program.

let arguments = CommandLine.arguments.dropFirst()
let names: [(String, RawTerminal.Options)] = [
    ("control", .controlKeys), ("screen", .alternateScreen), ("mouse", .mouse), ("paste", .paste), ("focus", .focus),
    ("releases", .keyReleases),
]
var options: RawTerminal.Options = []
for (name, option) in names where arguments.contains(name) { options.insert(option) }
let action = arguments.last ?? ""

/// Writes a line; a screen of the program's own needs the return.
@MainActor func show(_ text: String) { terminal.write(text + (options.contains(.alternateScreen) ? "\r\n" : "\n")) }

@MainActor func act() {
    switch action {
    case "abort": abort()
    case "trap":
        let numbers = [Int](CommandLine.arguments.indices)
        print(numbers[numbers.count])
    case "fatalError": fatalError("as asked")
    case "exit": exit(3)
    case "segv": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
    case "print": print("as printed")
    case "suspend": terminal.suspend()
    case "ask": terminal.ask("\u{1B}[6n")
    case "flood":
        // More than any terminal takes at once; the loop goes on meanwhile.
        for _ in 0..<16 { terminal.write([UInt8](repeating: 0x2E, count: 1 << 14)) }
        show("\nunwritten \(terminal.hasUnwrittenBytes).")
    case "twice":
        do { _ = try RawTerminal() } catch { show("refused: \(error)") }
        terminal.close()
        do {
            terminal = try RawTerminal(options)
            terminal.eventHandler = handle
            show("open again")
        } catch {
            print(error)
        }
    case "cat":
        // A child reads a line as from any terminal.
        Task {
            let status = await terminal.withTerminalReleased { system("read line; echo \"read $line.\"") }
            show("child \(status).")
        }
    default: break
    }
}

@MainActor func handle(_ event: RawTerminal.Event) {
    switch event {
    case .key(let press):
        let modifiers = press.modifiers.isEmpty ? "" : " \(press.modifiers.rawValue)"
        show("key \(press.key)\(modifiers) \(press.phase).")
        guard press.phase == .began else { return }
        if press.key == .character("x") { act() }
        if press.key == .character("q") { end() }
    case .paste(let text, let isLast): show("paste \(text) \(isLast).")
    case .mouse(let mouse): show("mouse \(mouse.action) \(mouse.button) \(mouse.column) \(mouse.row).")
    case .focus(let isFocused): show("focus \(isFocused).")
    case .resized(let size): show("size \(size.columns) \(size.rows).")
    case .reply(let reply): show("reply \(reply).")
    case .hungUp: exit(7)
    }
}

@MainActor func end() {
    terminal.close()
    exit(0)
}

var terminal: RawTerminal
do {
    terminal = try RawTerminal(options)
} catch {
    print("refused: \(error)")
    exit(4)
}
if arguments.contains("handled") {
    terminal.terminationHandler = { signal in
        show("signal \(signal).")
        end()
    }
}
show("ready \(terminal.size.columns) \(terminal.size.rows).")
switch action {
case "task":
    Task {
        for await event in terminal.events() { handle(event) }
        // The terminal is gone.
        exit(8)
    }
case "late":
    // Reads one event, and the others a moment later.
    Task {
        var count = 0
        for await event in terminal.events() {
            count += 1
            if count == 1 { try? await Task.sleep(for: .milliseconds(200)) }
            if event == .key(.init(.character("q"))) {
                show("events \(count).")
                await terminal.flush()
                end()
            }
        }
    }
default: terminal.eventHandler = handle
}
RunLoop.main.run()
