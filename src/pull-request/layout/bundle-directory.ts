// Bundles as files in the repository: `operators/<package>/<version>/{manifests,metadata,tests}`. Recognized by path
// only.
import { findLowerBound } from '../sorted-paths.ts'

const bundlePathPattern =
  /^(?<root>operators\/(?<directory>[^/]+)\/(?<version>[^/]+))\/(?:manifests|metadata|tests)\/./

export interface BundleDirectory {
  /** `operators/foo/1.2.3`. */
  readonly root: string
  /** The directory of the package, such as `foo`. */
  readonly directory: string
  /** The name of the directory, such as `1.2.3`. */
  readonly version: string
}

/** Returns undefined for paths that aren't part of a bundle image. */
export function parseBundlePath(path: string): BundleDirectory | undefined {
  const { root, directory, version } = bundlePathPattern.exec(path)?.groups ?? {}
  if (root === undefined || directory === undefined || version === undefined) return undefined
  return { root, directory, version }
}

/** Whether the directory contains manifests. A directory with manifests is a published bundle. */
export function hasManifests(sortedPaths: readonly string[], root: string): boolean {
  const prefix = `${root}/manifests/`
  return sortedPaths[findLowerBound(sortedPaths, prefix, (path) => path)]?.startsWith(prefix) === true
}
