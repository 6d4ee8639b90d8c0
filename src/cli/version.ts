import { join } from 'node:path'
import { readPackageMetadata, type ReleaseDistribution } from '../adapters/package-metadata.ts'

/** The root folder of this package. The commands are two folders deep, both in the sources and in the build. */
export function findNpmPackageFolder(): string {
  return join(import.meta.dirname, '..', '..')
}

export function readCatalogBotVersion(): string {
  return readPackageMetadata(findNpmPackageFolder()).version
}

/** Undefined in a checkout. */
export function readReleaseDistribution(): ReleaseDistribution | undefined {
  return readPackageMetadata(findNpmPackageFolder()).distribution
}

export function describeAppInstallation(): string {
  const repository = readReleaseDistribution()?.repository
  return repository === undefined
    ? 'Run the App from a checkout of catalog-bot.'
    : `To run the App, see https://github.com/${repository}#readme.`
}
