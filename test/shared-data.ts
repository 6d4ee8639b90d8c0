// Where the data that lies beside the project is, for tests that use it. Never part of the project:
// every such test must also pass where it is absent, and count what it left out.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { reportSkipped } from './left-out.ts'

const sharedDirectory = join(import.meta.dirname, '..', '..', 'shared')

/** A path below `../shared`, or undefined where it does not exist, which is counted as left out. */
export function findSharedPath(...parts: string[]): string | undefined {
  const path = join(sharedDirectory, ...parts)
  if (existsSync(path)) return path
  reportSkipped('../shared')
  return undefined
}
