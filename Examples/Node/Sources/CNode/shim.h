// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Nothing for Swift: the add-on's C includes Node's headers itself.
