internal import CLinuxKernel

/// A descriptor of the inspector's: closed with the object, and in a child made by fork.
final class InspectorDescriptor: Sendable {
    let number: CInt

    init(adopting number: CInt) {
        self.number = number
        rl_inspect_keep_from_children(number)
    }

    deinit {
        // First: between the two, somebody else's descriptor could get the number, and a child close that.
        rl_inspect_give_up(number)
        _ = rl_close(number)
    }
}
