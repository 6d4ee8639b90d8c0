import { join } from 'node:path'
import { versionIn } from '../app/version.ts'

/** This package's version, as its package.json says. */
export function version(): string {
  return versionIn(join(import.meta.dirname, '..', '..'))
}
