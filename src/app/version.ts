import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** This package's version, as its package.json says. */
export function version(): string {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
