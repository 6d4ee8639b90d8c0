// Where the data that lies beside the project is, for tests that use it. Never part of the project:
// every such test must also pass where it is absent, and say what it left out.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..', 'shared')

/** A path below `../shared`, or undefined (with a line on stderr) where it does not exist. */
export function sharedPath(...parts: string[]): string | undefined {
  const path = join(root, ...parts)
  if (existsSync(path)) return path
  process.stderr.write(`left out: ../shared/${parts.join('/')} is not here\n`)
  return undefined
}
