import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the version in the folder's package.json. The caller passes the folder, because commands are bundled into one
 * file.
 */
export function readPackageVersion(folder: string): string {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
