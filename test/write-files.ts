import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type FilesByPath = Readonly<Record<string, string | Uint8Array>>

/** Writes files below a directory, and creates the directories between. */
export function writeFiles(
  directory: string,
  files: FilesByPath | Iterable<readonly [path: string, content: string | Uint8Array]>,
): void {
  for (const [path, content] of Symbol.iterator in files ? files : Object.entries(files)) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}
