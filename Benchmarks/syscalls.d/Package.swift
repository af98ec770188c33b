// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "syscalls",
    dependencies: [.package(name: "swift-run-loops", path: "../..")],
    targets: [
        .executableTarget(
            name: "syscalls", dependencies: [.product(name: "RunLoops", package: "swift-run-loops")])
    ])
