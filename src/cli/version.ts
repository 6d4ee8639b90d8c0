import { join } from 'node:path'
import { readPackageVersion } from '../app/version.ts'

/** Where this package lies: of the sources and of what is built, the commands are two folders deep. */
export function findPackageFolder(): string {
  return join(import.meta.dirname, '..', '..')
}

export function readVersion(): string {
  return readPackageVersion(findPackageFolder())
}
