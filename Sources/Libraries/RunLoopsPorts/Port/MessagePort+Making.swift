// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.MessagePort {
    /// A port whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - limits: The limits of the port.
    ///   - label: The name in descriptions and tools; where the port was made, if `nil`.
    ///   - fileID: Where the port was made.
    ///   - line: Where the port was made.
    ///   - handler: Called with each message; its result is sent to the message's ``MessagePort/Message/replyTo``.
    ///
    /// Adding the port to the loop of another thread traps.
    /// Corresponds to `CFMessagePortCreateLocal`.
    public convenience init(
        limits: Limits = Limits(), label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (Message) -> Message?
    ) {
        self.init(limits, ItemLabel(label, fileID, line), allowedThread: SystemCalls.threadID, Self.messages(handler))
    }

    /// A port whose closure may run on any thread: it can be added to any one loop.
    ///
    /// The parameters are those of ``init(limits:label:fileID:line:handler:)``.
    public static func sendable(
        limits: Limits = Limits(), label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Message) -> Message?
    ) -> RunLoop.MessagePort {
        RunLoop.MessagePort(limits, ItemLabel(label, fileID, line), allowedThread: 0, messages(handler))
    }

    /// A port whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(limits:label:fileID:line:handler:)``.
    public static func mainActor(
        limits: Limits = Limits(), label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (Message) -> Message?
    ) -> RunLoop.MessagePort {
        RunLoop.MessagePort(limits, ItemLabel(label, fileID, line), allowedThread: SystemCalls.mainThreadID) {
            delivery in
            guard delivery.kind != .noReply else { return nil }
            return MainActor.assumeIsolated { handler(delivery.message) }
        }
    }

    /// Only a port that waits for an answer needs the news that there will be none, and a plain port does not wait.
    private static func messages(_ handler: @escaping (Message) -> Message?) -> (Delivery) -> Message? {
        { delivery in delivery.kind == .noReply ? nil : handler(delivery.message) }
    }
}
