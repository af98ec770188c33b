// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view controller, as its view and its window see it.
///
/// Views and windows do not name ``ViewController``: they call what is here, and the controllers are above them.
@MainActor protocol ViewOwner: Responder {
    var title: String? { get }
    /// The view, which is made when it is first read.
    var view: View { get }
    /// The view, if it was made.
    var loadedView: View? { get }

    func updateViewConstraints()
    func viewWillLayoutSubviews()
    func viewDidLayoutSubviews()

    /// Calls what a program has for a view that appears, or disappears.
    func appear()
    func disappear()
    /// Ends all presentations in front of the owner.
    func dismissPresented()
    /// Tells the owner, and those that are presented in front of it, that the window gets another size.
    func announceTransition(to size: Size)
}
