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
            branch: "main")
    ],
    targets: [
        .executableTarget(
            name: "tutorial",
            dependencies: libraries.map { library in
                .product(name: library, package: "swift-run-loops")
            })
    ]
)
