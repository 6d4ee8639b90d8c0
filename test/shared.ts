// Where the data that lies beside the project is, for tests that use it. Never part of the project:
// every such test must also pass where it is absent, and count what it left out.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { leaveOut } from './left-out.ts'

const root = join(import.meta.dirname, '..', '..', 'shared')

/** A path below `../shared`, or undefined where it does not exist, which is counted as left out. */
export function sharedPath(...parts: string[]): string | undefined {
  const path = join(root, ...parts)
  if (existsSync(path)) return path
  leaveOut('../shared')
  return undefined
}
