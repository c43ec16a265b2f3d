import Foundation
import PackagePlugin

/// Turns every `*.json` of the target's folder into Swift, so that adding a provider needs no Swift
/// and reading one needs no file at run time.
@main
struct EmbedProfiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = target.directoryURL
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedProfiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(files.count) resolver profiles",
                executable: try context.tool(named: "HTTPDNSProfileEmbedder").url,
                arguments: [output.path] + files.map(\.path),
                inputFiles: files, outputFiles: [output])
        ]
    }
}
