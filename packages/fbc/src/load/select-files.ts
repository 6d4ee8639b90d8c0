// Selects the files in a tree that belong to the catalog: all files that are not ignored, regardless of their names.
import type { IgnoreFile } from './indexignore.ts'
import { IgnoreRules, findIgnoreFileError, ignoreFileName } from './indexignore.ts'
import { comparePathsInWalkOrder } from '../go/walk-order.ts'

export interface CatalogFileSelection {
  /** Relative to the catalog's root, in walk order. */
  readonly files: readonly string[]
  /** opm's error for an unreadable ignore file. In this case, opm does not read any file. */
  readonly loadError?: { readonly file: string; readonly message: string }
}

/** At any depth. */
export function isIgnoreFile(path: string): boolean {
  return path === ignoreFileName || path.endsWith(`/${ignoreFileName}`)
}

/** `paths` are relative to the catalog's root and use `/`. `ignoreFiles` has the text of each .indexignore by path. */
export function selectCatalogFiles(
  paths: Iterable<string>,
  ignoreFiles: ReadonlyMap<string, string>,
): CatalogFileSelection {
  const walked = [...paths].sort(comparePathsInWalkOrder)
  const found: IgnoreFile[] = []
  for (const file of walked) {
    const text = isIgnoreFile(file) ? ignoreFiles.get(file) : undefined
    if (text === undefined) continue
    const message = findIgnoreFileError(text)
    if (message !== undefined) return { files: [], loadError: { file, message } }
    found.push({ directory: file.slice(0, Math.max(file.length - ignoreFileName.length - 1, 0)), text })
  }
  const rules = new IgnoreRules(found)
  return { files: walked.filter((path) => !isIgnoreFile(path) && !rules.ignores(path)) }
}
