// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// A file descriptor that is closed when nobody uses it any more, if this object owns it.
///
/// A source releases the descriptor when it is invalidated, on any thread; a callout under way on the loop's thread
/// holds the descriptor a little longer. So no thread reads from a number that has been given to another file in
/// between.
final class Descriptor: Sendable {
    let number: CInt
    private let isOurs: Bool
    /// What has to be done before the descriptor is closed.
    private let beforeClosing: (@Sendable () -> Void)?

    init(_ number: CInt, isOurs: Bool = true, beforeClosing: (@Sendable () -> Void)? = nil) {
        self.number = number
        self.isOurs = isOurs
        self.beforeClosing = beforeClosing
    }

    deinit {
        beforeClosing?()
        // The error of a close says nothing that could be mended: the number is free in any case.
        if isOurs { _ = rl_close(number) }
    }
}
