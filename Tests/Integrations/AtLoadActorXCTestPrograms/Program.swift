// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import AtLoadScenes

@main struct Program {
    @MainActor static func main() async { await runScenes() }
}
