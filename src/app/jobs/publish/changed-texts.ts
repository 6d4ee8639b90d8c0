// Reads files that differ between two trees, to describe the change. Files that are too large count as different.
import type { Texts } from '../../../change/blob-text.ts'
import type { PathChange, TreeEntry } from '../../../change/path-change.ts'
import type { Repository } from '../../../ports/repository.ts'

/** Limit for all files together. */
const mostBytes = 256 * 1024 * 1024

export async function changedTextsOf(
  paths: readonly PathChange[],
  { read }: Pick<Repository, 'read'>,
): Promise<Texts> {
  const texts = { base: new Map<string, Uint8Array>(), result: new Map<string, Uint8Array>() }
  let left = mostBytes
  const take = async (side: 'base' | 'result', path: string, entry: TreeEntry | undefined) => {
    if (entry?.mode.startsWith('100') !== true || left <= 0) return
    const bytes = await read(entry.oid)
    left -= bytes.length
    texts[side].set(path, bytes)
  }
  for (const { path, before, after } of paths) {
    await take('base', path, before)
    await take('result', path, after)
  }
  return { read: (side, path) => texts[side].get(path) }
}
