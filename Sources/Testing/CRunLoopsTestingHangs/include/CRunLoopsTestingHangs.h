// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Nothing that C can call: the function is declared in Swift, with a closure as its argument.
