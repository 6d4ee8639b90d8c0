// Bundles that lie in the repository as files: `operators/<package>/<version>/{manifests,metadata,tests}`. By their place
// alone: nothing is read.
import { firstNotBefore } from '../sorted-paths.ts'

const place = /^(?<root>operators\/(?<directory>[^/]+)\/(?<version>[^/]+))\/(?:manifests|metadata|tests)\/./

export interface BundlePlace {
  /** `operators/foo/1.2.3`. */
  readonly root: string
  /** Of the package: `foo`. */
  readonly directory: string
  /** As the directory is called: `1.2.3`. */
  readonly version: string
}

/** The bundle directory that a path lies in, as a part of what becomes its image; undefined for all other paths. */
export function bundlePlaceOf(path: string): BundlePlace | undefined {
  const { root, directory, version } = place.exec(path)?.groups ?? {}
  if (root === undefined || directory === undefined || version === undefined) return undefined
  return { root, directory, version }
}

/** Whether one of these sorted paths is a bundle's manifest below `root`: what makes a directory a published bundle. */
export function hasManifests(sortedPaths: readonly string[], root: string): boolean {
  const prefix = `${root}/manifests/`
  return sortedPaths[firstNotBefore(sortedPaths, prefix, (path) => path)]?.startsWith(prefix) === true
}
