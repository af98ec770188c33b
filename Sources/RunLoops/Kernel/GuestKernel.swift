/// A kernel whose loop can be a guest: whoever waits for one descriptor waits for all that the loop waits for.
///
/// The manual kernel is none: nobody can wait for time that stands still.
package protocol GuestKernel: Kernel {
    /// Makes the descriptor, and all that is needed to keep it truthful: nothing is made later, so that nothing can be
    /// refused later.
    func makeGuest() throws(RunLoop.SystemCallError) -> any GuestDescriptor
}

/// One descriptor that is readable when a loop has something to do.
///
/// It stands for the sleep of a thread that does not sleep: what would end the sleep makes it readable. All but what says
/// otherwise is called with the loop's lock held.
package protocol GuestDescriptor: AnyObject {
    /// Stays the same, whatever the loop is asked to wait for; readable, and nothing is to be read from it.
    var descriptor: CInt { get }

    /// From now on readable at these instants too, and not at those that were set before.
    func set(_ limit: WaitLimit)

    /// From now on readable while anything in `readiness` is, and while nothing else is that was linked before.
    ///
    /// Returns false if something is ready that a descriptor cannot show: then ``Kernel/wake(_:_:)`` has to. Comes before
    /// ``set(_:)``, which is where a link that was refused is made up for.
    func link(_ readiness: any Readiness) -> Bool

    /// Takes the wake-up that has made it readable, if one has: it is silent until the next one.
    ///
    /// The loop's thread, without the lock.
    func awaken()

    /// Closes all that was made.
    func close()
}
