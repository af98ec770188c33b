// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// The reason why a message was not sent, a port has no name, or no answer was received.
    public enum PortError: Error, Hashable, Sendable {
        /// The time limit passed before there was room, a connection, or an answer.
        case timedOut
        /// The port's queue is full, or its process has no room for another connection; and the caller's limit was
        /// zero, or only the caller could make room.
        case full
        /// The port is invalid, its thread has ended or its process has ended.
        case dead
        /// The receiver has dropped the message without an answer.
        case noReply
        /// No process has published a port of this name.
        case noSuchPort(String)
        /// The message is longer than the receiver accepts; the number is the receiver's limit.
        case tooLarge(Int)
        /// The message has more descriptors than the receiver accepts; the number is the receiver's limit.
        case tooManyDescriptors(Int)
        /// A descriptor of the message was closed or taken before it was sent.
        case invalidDescriptor
        /// The text is not a name of 1 to 64 of the characters `A–Z a–z 0–9 . - _`, the first of which is not a dot.
        case invalidName(String)
        /// A living port, of this process or another, has the name.
        case nameTaken(String)
        /// One side refuses the user of the other side.
        case notPermitted
        /// Another user could change the directory for names; the text says how.
        case unsafeDirectory(String)
        /// The other side does not use the protocol of this package.
        case notUnderstood
        /// Another system call failed.
        case system(RunLoop.SystemCallError)
    }
}

extension RunLoop.PortError: CustomStringConvertible {
    /// The reason in a sentence without a full stop.
    public var description: String {
        switch self {
        case .timedOut: "the time is over"
        case .full: "the port has no room"
        case .dead: "the port is gone"
        case .noReply: "the message was dropped without a reply"
        case .noSuchPort(let name): "there is no port '\(name)'"
        case .tooLarge(let most): "the message is longer than \(most) bytes"
        case .tooManyDescriptors(let most): "the message has more than \(most) descriptors"
        case .invalidDescriptor: "a descriptor of the message is not open"
        case .invalidName(let name): "'\(name)' is not a name of 1 to 64 of A-Z a-z 0-9 . - _ that begins with no dot"
        case .nameTaken(let name): "there is a living port '\(name)' already"
        case .notPermitted: "the user of the other process has no right to this port"
        case .unsafeDirectory(let reason): "the directory for names is not safe: \(reason)"
        case .notUnderstood: "the other process speaks another protocol"
        case .system(let error): "\(error)"
        }
    }
}
