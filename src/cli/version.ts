import { join } from 'node:path'
import { readPackageVersion } from '../adapters/package-version.ts'

/** The root folder of this package. The commands are two folders deep, both in the sources and in the build. */
export function findNpmPackageFolder(): string {
  return join(import.meta.dirname, '..', '..')
}

export function readCatalogBotVersion(): string {
  return readPackageVersion(findNpmPackageFolder())
}
