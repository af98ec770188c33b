// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// The functions of GLib that this library calls, found in the running process.
///
/// A program that uses GLib has the library in its process, so this package needs neither GLib's headers nor its development package, and
/// a package that depends on this one builds where GLib is not installed. Names and signatures are those of GLib 2.36 and later, which
/// its ABI promise keeps (https://docs.gtk.org/glib/).
// Unchecked: C functions, found once.
struct GLibFunctions: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer

    /// A trap if GLib is not in the process.
    static let shared = GLibFunctions()

    // MARK: Sources

    let sourceNew = find(
        "g_source_new", as: (@convention(c) (UnsafeRawPointer, CUnsignedInt) -> Object?).self)
    let sourceUnref = find("g_source_unref", as: (@convention(c) (Object) -> Void).self)
    let sourceDestroy = find("g_source_destroy", as: (@convention(c) (Object) -> Void).self)
    let sourceAttach = find("g_source_attach", as: (@convention(c) (Object, OpaquePointer?) -> CUnsignedInt).self)
    let sourceSetPriority = find("g_source_set_priority", as: (@convention(c) (Object, CInt) -> Void).self)
    let sourceSetCanRecurse = find("g_source_set_can_recurse", as: (@convention(c) (Object, CInt) -> Void).self)
    let sourceSetName = find("g_source_set_name", as: (@convention(c) (Object, UnsafePointer<CChar>) -> Void).self)
    let sourceAddDescriptor = find(
        "g_source_add_unix_fd", as: (@convention(c) (Object, CInt, CUnsignedInt) -> Object?).self)
    let sourceQueryDescriptor = find(
        "g_source_query_unix_fd", as: (@convention(c) (Object, Object?) -> CUnsignedInt).self)

    // MARK: Contexts

    let contextDefault = find("g_main_context_default", as: (@convention(c) () -> OpaquePointer?).self)
    let contextRef = find("g_main_context_ref", as: (@convention(c) (OpaquePointer) -> OpaquePointer).self)
    let contextUnref = find("g_main_context_unref", as: (@convention(c) (OpaquePointer) -> Void).self)
    let contextAcquire = find("g_main_context_acquire", as: (@convention(c) (OpaquePointer) -> CInt).self)
    let contextRelease = find("g_main_context_release", as: (@convention(c) (OpaquePointer) -> Void).self)
    let contextPrepare = find(
        "g_main_context_prepare", as: (@convention(c) (OpaquePointer, UnsafeMutablePointer<CInt>) -> CInt).self)
    let contextQuery = find(
        "g_main_context_query",
        as: (@convention(c) (OpaquePointer, CInt, UnsafeMutablePointer<CInt>, UnsafeMutablePointer<pollfd>?, CInt) ->
            CInt).self)
    let contextCheck = find(
        "g_main_context_check",
        as: (@convention(c) (OpaquePointer, CInt, UnsafeMutablePointer<pollfd>?, CInt) -> CInt).self)
    let contextDispatch = find("g_main_context_dispatch", as: (@convention(c) (OpaquePointer) -> Void).self)

    private static func find<Function>(_ name: String, as type: Function.Type) -> Function {
        // In all libraries of the process, and in the program itself if it exports its symbols.
        guard let address = dlsym(nil, name) else {
            fatalError(
                "GLib is not in this process (it has no \(name)): link the program with glib-2.0 or GTK; link a program that has GLib in it with -rdynamic."
            )
        }
        // SAFETY: the caller names the function with the C type that GLib's documentation gives.
        return unsafeBitCast(address, to: type)
    }
}

/// GLib's `GSourceFuncs`.
struct SourceFunctions {
    typealias Object = GLibFunctions.Object

    var prepare: @convention(c) (Object, UnsafeMutablePointer<CInt>?) -> CInt
    var check: @convention(c) (Object) -> CInt
    var dispatch: @convention(c) (Object, UnsafeRawPointer?, UnsafeRawPointer?) -> CInt
    var finalize: @convention(c) (Object) -> Void
    // Private in GLib.
    var closureCallback: UnsafeRawPointer?
    var closureMarshal: UnsafeRawPointer?
}

/// The size of GLib's `GSource`, a public structure, on a machine with pointers of eight bytes.
///
/// This library's state follows it: GLib allocates as many bytes as it is asked for, and refuses fewer than its own structure has.
let sourceSize = 96

/// `G_IO_IN`, which has the value of `POLLIN`.
let inputCondition: CUnsignedInt = 1
