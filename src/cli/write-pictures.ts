// Writes one picture to stdout, or several to a folder, one file each. File names are derived from package names, which are
// untrusted, so nothing is ever written outside of the folder.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printToStdout, printToStderr } from './output.ts'

export interface GraphFile {
  readonly name: string
  readonly variant?: string
  draw(): string
}

export interface GraphFileOptions {
  readonly extension: string
  /** Created if missing. */
  readonly out: string | undefined
  readonly emptyMessage: string
}

/** File systems allow 255 bytes. */
const maxGraphFileNameLength = 150

/** Throws an Error if there are several pictures but no folder, or if a write fails. */
export function writeGraphFiles(
  pictures: readonly GraphFile[],
  { extension, out, emptyMessage }: GraphFileOptions,
): void {
  const [only, second] = pictures
  if (only === undefined) {
    printToStderr(emptyMessage)
    return
  }
  if (out === undefined) {
    if (second !== undefined) {
      const names = [...new Set(pictures.map(({ name }) => name))]
      const shown = names.slice(0, 5).map((name) => JSON.stringify(name))
      throw new Error(
        `there are ${pictures.length} pictures (of ${shown.join(', ')}${names.length > 5 ? ', …' : ''}): specify a folder for them with --out`,
      )
    }
    printToStdout(only.draw())
    return
  }
  mkdirSync(out, { recursive: true })
  for (const picture of pictures) {
    const isAlone = pictures.every((other) => other === picture || other.name !== picture.name)
    const name = isAlone ? picture.name : `${picture.name} ${picture.variant ?? ''}`
    const path = join(out, `${toGraphFileName(name)}.${extension}`)
    writeFileSync(path, picture.draw())
    printToStdout(path)
  }
}

/** Maps different names to different results, and keeps well-formed package names unchanged. */
function toGraphFileName(name: string): string {
  const plain = encodeURIComponent(name.toWellFormed()).replace(/^\./, '%2E').replaceAll('*', '%2A')
  if (plain.length <= maxGraphFileNameLength) return plain.replaceAll('%20', ' ')
  return `${plain.slice(0, maxGraphFileNameLength)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}
