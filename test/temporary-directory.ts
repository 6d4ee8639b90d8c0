import { afterAll } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a directory that is removed after the tests of the file or of the describe block. */
export function createSelfRemovingDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `${name}-`))
  afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }))
  return directory
}
