// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Somebody else's function in a variable of the runtime's.
public enum Hooks {
    /// Puts it there.
    public static func take(_ name: String) {
        // SAFETY: the variable holds a pointer to a function, which is not called in the scene.
        dlsym(nil, name)?.storeBytes(of: UnsafeRawPointer(bitPattern: 64), as: UnsafeRawPointer?.self)
    }
}
