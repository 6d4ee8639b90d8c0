// Reads files that differ between two trees, to describe the change. Files that are too large count as different.
import type { TreeFileReader } from '../pull-request/compare-blobs.ts'
import type { PathChange, TreeEntry } from '../pull-request/path-change.ts'
import type { GitRepository } from '../ports/repository.ts'

/** Limit for all files together. */
const maxTotalChangedTextBytes = 256 * 1024 * 1024

export async function readChangedFileTexts(
  paths: readonly PathChange[],
  { read }: Pick<GitRepository, 'read'>,
): Promise<TreeFileReader> {
  const contentsBySide = { base: new Map<string, Uint8Array>(), result: new Map<string, Uint8Array>() }
  let remainingBytes = maxTotalChangedTextBytes
  const readSide = async (side: 'base' | 'result', path: string, entry: TreeEntry | undefined) => {
    if (entry?.mode.startsWith('100') !== true || remainingBytes <= 0) return
    const bytes = await read(entry.oid)
    remainingBytes -= bytes.length
    contentsBySide[side].set(path, bytes)
  }
  for (const { path, before, after } of paths) {
    await readSide('base', path, before)
    await readSide('result', path, after)
  }
  return { read: (side, path) => contentsBySide[side].get(path) }
}
