// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A kernel whose loop can be a guest: a host that waits for one descriptor waits for all that the loop waits for.
///
/// The manual kernel is no guest kernel: no descriptor can wait for time that stands still.
package protocol GuestKernel: Kernel {
    /// Makes the descriptor, and everything that keeps it correct: nothing is made later, so that nothing can be
    /// refused later.
    func makeGuest() throws(RunLoop.SystemCallError) -> any GuestDescriptor
}

/// One descriptor that is readable when a loop has something to do.
///
/// It stands for the sleep of a thread that does not sleep: what would end the sleep makes it readable. The members are
/// called with the loop's lock held, unless a comment says otherwise.
package protocol GuestDescriptor: AnyObject {
    /// Never changes, whatever the loop waits for. It becomes readable, and nothing is to be read from it.
    var descriptor: CInt { get }

    /// From now on the descriptor is readable at these instants too, and no longer at the instants that were set
    /// before.
    func set(_ limit: WaitLimit)

    /// From now on the descriptor is readable while anything in `readiness` is, and no longer for what was linked
    /// before.
    ///
    /// Returns false if something is ready that a descriptor cannot show: then ``Kernel/wake(_:_:)`` has to show it.
    /// Call this before ``set(_:)``, which makes up for a link that was refused.
    func link(_ readiness: any Readiness) -> Bool

    /// From now on nothing makes the descriptor readable.
    func silence()

    /// From now on a wake-up makes the descriptor readable again, and so does what is linked and set anew.
    ///
    /// A wake-up of the silence does not, not even for a moment: a host may watch from another thread.
    func speak()

    /// Takes the wake-up that has made the descriptor readable, if any: the descriptor is silent until the next one.
    ///
    /// The loop's thread, without the lock.
    func awaken()

    /// Closes all that was made.
    func close()
}
