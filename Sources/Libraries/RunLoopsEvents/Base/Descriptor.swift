// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import Synchronization

/// A file descriptor that is closed after its last use, if this object owns it.
///
/// A source releases the descriptor when it is invalidated, on any thread; a callout under way on the loop's thread
/// holds the descriptor a little longer. So no thread reads from a number that has been given to another file in
/// between.
final class Descriptor: Sendable {
    let number: CInt
    private let isOurs: Bool
    /// A forked child closes its copy of the descriptor, and does nothing else: its parent goes on with the file.
    let generation = ForkGeneration()
    /// Called before the descriptor is closed.
    private let beforeClosing: (@Sendable () -> Void)?
    /// Whether the end of this object ends a connection.
    ///
    /// Relaxed: whoever asks for the number holds the object.
    private let endsConnection: Atomic<Bool>
    private let forksBefore = rl_forks_begun()

    init(_ number: CInt, isOurs: Bool = true, beforeClosing: (@Sendable () -> Void)? = nil) {
        self.number = number
        self.isOurs = isOurs
        self.beforeClosing = beforeClosing
        endsConnection = Atomic(false)
    }

    /// A connected socket that this library has made.
    ///
    /// To close the socket would not be enough: a child between fork and exec has a copy, and the other side would see
    /// no end until that child calls exec. So the connection is ended, unless somebody may have a copy on purpose: the
    /// program has asked for the number, or has called `fork()`, and the child may use what it inherits.
    init(connection number: CInt, beforeClosing: (@Sendable () -> Void)? = nil) {
        self.number = number
        isOurs = true
        self.beforeClosing = beforeClosing
        endsConnection = Atomic(true)
    }

    deinit {
        if !generation.isInherited {
            beforeClosing?()
            if endsConnection.load(ordering: .relaxed), rl_forks_begun() == forksBefore {
                _ = rl_end_connection(number)
            }
        }
        // The error of a close says nothing that could be mended: the number is free in any case.
        if isOurs { _ = rl_close(number) }
    }

    /// The number, for the program, which may make copies and give them away.
    func tellNumber() -> CInt {
        endsConnection.store(false, ordering: .relaxed)
        return number
    }
}
