// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// sd-bus in a run loop: a call, signals, a blocking call in a callout of the loop, and a call that nobody answers.

import CSystemd
import RunLoops
import RunLoopsEvents

@main struct SDBusExample {
    private static let (service, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus")

    static func main() throws {
        let before = try Rest.countDescriptors()
        try show()
        print("descriptors left open: \(try Rest.countDescriptors() - before)")
    }

    private static func show() throws {
        let (bus, mute, loop) = (try Bus(), try SilentPeer(), RunLoop.current)
        let late = Kept(limit: .milliseconds(300)) { message in
            let error = sd_bus_message_get_error(message).map { String(cString: $0.pointee.name) }
            print("no answer: \(error ?? "none")")
            loop.stop()
        }
        let owner = Kept { message in
            let (name, _, new) = (readText(message), readText(message), readText(message))
            guard name == "org.example.RunLoops" else { return }
            print("NameOwnerChanged: \(new == "" ? "free" : "owned")")
            guard new == "" else { return }
            do { try bus.call(mute.name, "/", "org.example", "Nothing", late) } catch { print("no call: \(error)") }
        }
        let timer = RunLoop.Timer(.after(.zero)) { _ in
            // Each blocks. The signal of the first comes while the second waits, and leaves the descriptor silent.
            sd_bus_request_name(bus.pointer, "org.example.RunLoops", 0)
            sd_bus_release_name(bus.pointer, "org.example.RunLoops")
        }
        let id = Kept { message in
            print("GetId: \(readText(message)?.count ?? 0) digits")
            loop.add(timer, in: .default)
        }
        try bus.match(service, "NameOwnerChanged", owner)
        try bus.call(service, path, service, "GetId", id)
        print("run: \(loop.run(in: .default, for: .seconds(600)))")
        print("wake-ups in a quiet second: \(Rest.countWakes())")
        withExtendedLifetime((bus, id, owner, late)) {}
    }
}

/// A connection that nobody reads.
private final class SilentPeer {
    private var bus: OpaquePointer?
    let name: String

    init() throws {
        try Failure.check(sd_bus_open_user(&bus))
        var text: UnsafePointer<CChar>?
        try Failure.check(sd_bus_get_unique_name(bus, &text))
        name = String(cString: text.unsafelyUnwrapped)
    }

    deinit { sd_bus_flush_close_unref(bus) }
}
