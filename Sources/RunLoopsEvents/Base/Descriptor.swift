internal import CLinuxKernel

/// A file descriptor, closed when nobody uses it any more, if it is ours.
///
/// A source gives it up when it is invalidated, by whatever thread; a callout under way on the loop's thread holds it a
/// little longer. So nobody reads from a number that has been given to another file in between.
final class Descriptor: Sendable {
    let number: CInt
    private let isOurs: Bool
    /// What is to be done before it is closed.
    private let beforeClosing: (@Sendable () -> Void)?

    init(_ number: CInt, isOurs: Bool = true, beforeClosing: (@Sendable () -> Void)? = nil) {
        self.number = number
        self.isOurs = isOurs
        self.beforeClosing = beforeClosing
    }

    deinit {
        beforeClosing?()
        // The error of a close tells nothing that could be mended: the number is free in any case.
        if isOurs { _ = rl_close(number) }
    }
}
