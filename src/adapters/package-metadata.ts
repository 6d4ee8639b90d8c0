import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the artifacts of a release are published. scripts/release.ts adds it to package.json; a checkout has none. */
export interface ReleaseArtifactLocations {
  /** `OWNER/NAME` on GitHub. */
  readonly repository: string
  /** The npm packages: for authors, and the App's. */
  readonly package: string
  readonly appPackage: string
  /** Without a tag. */
  readonly image: string
  /** The OCI reference of the Helm chart. */
  readonly chart: string
  /** For `uses` in a workflow. */
  readonly action: string
  /** The documentation, with a trailing slash. */
  readonly site: string
}

interface PackageMetadata {
  readonly version: string
  readonly distribution?: ReleaseArtifactLocations
}

/** Reads the folder's package.json. The caller passes the folder, because commands are bundled into one file. */
export function readPackageMetadata(folder: string): PackageMetadata {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageMetadata
}

export const readPackageVersion = (folder: string): string => readPackageMetadata(folder).version
