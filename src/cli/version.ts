import { join } from 'node:path'
import { versionIn } from '../app/version.ts'

/** Where this package lies: of the sources and of what is built, the commands are two folders deep. */
export function packageFolder(): string {
  return join(import.meta.dirname, '..', '..')
}

export function version(): string {
  return versionIn(packageFolder())
}
