// Which files of a tree belong to the catalog in it: all but the ignored ones, whatever they are called.
import type { IgnoreFile } from './indexignore.ts'
import { IgnoreRules, ignoreFileError, ignoreFileName } from './indexignore.ts'
import { compareWalk } from '../../go/walk-order.ts'

export interface Selection {
  /** Paths below the catalog's root, in walk order. */
  readonly files: readonly string[]
  /** opm's error where an ignore file cannot be read; it then reads nothing at all. */
  readonly loadError?: { readonly file: string; readonly message: string }
}

/** Whether the path names an ignore file, at any depth. */
export function isIgnoreFile(path: string): boolean {
  return path === ignoreFileName || path.endsWith(`/${ignoreFileName}`)
}

/**
 * Selects among all files of a tree (paths relative to the catalog's root, `/` between components).
 * `ignoreFiles` holds the text of every .indexignore among them, by path.
 */
export function selectFiles(paths: Iterable<string>, ignoreFiles: ReadonlyMap<string, string>): Selection {
  const walked = [...paths].sort(compareWalk)
  const found: IgnoreFile[] = []
  for (const file of walked) {
    const text = isIgnoreFile(file) ? ignoreFiles.get(file) : undefined
    if (text === undefined) continue
    const message = ignoreFileError(text)
    if (message !== undefined) return { files: [], loadError: { file, message } }
    found.push({ directory: file.slice(0, Math.max(file.length - ignoreFileName.length - 1, 0)), text })
  }
  const rules = new IgnoreRules(found)
  return { files: walked.filter((path) => !isIgnoreFile(path) && !rules.ignores(path)) }
}
