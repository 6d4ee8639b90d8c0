import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version of the package in this folder, as its package.json says. Who asks knows where that is: commands are joined into one file. */
export function versionIn(folder: string): string {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
