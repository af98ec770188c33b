// swift-tools-version: 6.2
import PackageDescription

let libraries = [
    "RunLoops", "RunLoopsConcurrency", "RunLoopsDiagnostics",
    "RunLoopsEvents", "RunLoopsKit", "RunLoopsTesting",
    "LoopUI", "LoopUITerminal", "FoundationRunLoop",
]

let package = Package(
    name: "tutorial",
    dependencies: [
        .package(
            url: "REPOSITORY",
            .upToNextMinor(from: "0.1.0"))
    ],
    targets: [
        .executableTarget(
            name: "tutorial",
            dependencies: libraries.map { library in
                .product(name: library, package: "swift-run-loops")
            })
    ]
)
