// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CSystemd

/// Called with a message, which is gone afterwards.
typealias Handler = (OpaquePointer) -> Void

extension Bus {
    /// Calls a method without arguments; the handler gets the answer, which may be an error.
    func call(_ service: String, _ path: String, _ interface: String, _ method: String, _ handler: Kept) throws {
        var message: OpaquePointer?
        try Failure.check(sd_bus_message_new_method_call(pointer, &message, service, path, interface, method))
        defer { sd_bus_message_unref(message) }
        try Failure.check(sd_bus_call_async(pointer, nil, message, handler.function, handler.pointer, handler.limit))
    }

    /// The handler gets each signal of this name.
    func match(_ interface: String, _ signal: String, _ handler: Kept) throws {
        try Failure.check(
            sd_bus_match_signal_async(
                pointer, nil, nil, nil, interface, signal, handler.function, nil, handler.pointer))
    }
}

/// A handler for sd-bus, which keeps a pointer to it.
final class Kept {
    private let handler: Handler
    /// Microseconds until a call without an answer fails.
    let limit: UInt64

    init(limit: Duration = .seconds(600), _ handler: @escaping Handler) {
        self.handler = handler
        self.limit = UInt64(limit / .microseconds(1))
    }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    var function: sd_bus_message_handler_t {
        { message, me, _ in
            // SAFETY: whoever makes the call keeps the handler as long as the bus.
            Unmanaged<Kept>.fromOpaque(me.unsafelyUnwrapped).takeUnretainedValue().handler(message.unsafelyUnwrapped)
            return 0
        }
    }
}

/// The next string of a message.
func readText(_ message: OpaquePointer) -> String? {
    var text: UnsafePointer<CChar>?
    let result = withUnsafeMutablePointer(to: &text) {
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), $0)
    }
    return result > 0 ? text.map { String(cString: $0) } : nil
}
