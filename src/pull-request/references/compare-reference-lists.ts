// Compares a composite list before and after a pull request, entry by entry. If an edit affects more than entries, the
// file does not count as a list, and only maintainers can change it.
import type { TreeFileReader } from '../compare-blobs.ts'
import type { ReferenceListChange } from '../change.ts'
import type { PathChange } from '../path-change.ts'
import { canBeReferenceList, parseReferenceList } from './reference-list.ts'

/**
 * Returns the change of one list. Returns undefined if either side is not a list or a plain file, if the lines around
 * the entries differ, if the remaining entries changed their order, or if no entry differs.
 */
export function compareReferenceLists(
  change: PathChange,
  treeFiles: TreeFileReader,
): ReferenceListChange | undefined {
  const { path, before, after } = change
  if (!canBeReferenceList(path) || before?.mode !== '100644' || after?.mode !== '100644') return undefined
  const [left, right] = [treeFiles.read('base', path), treeFiles.read('result', path)]
  const base = left && parseReferenceList(left)
  const result = right && parseReferenceList(right)
  if (!base || !result || base.frame !== result.frame) return undefined
  const old = new Map(base.references.map((reference) => [reference.name, reference]))
  const now = new Map(result.references.map((reference) => [reference.name, reference]))
  const sharedNames = (names: Iterable<string>) =>
    [...names].filter((name) => old.has(name) && now.has(name)).join()
  if (sharedNames(old.keys()) !== sharedNames(now.keys())) return undefined
  const list: ReferenceListChange = {
    path,
    added: result.references
      .filter(({ name }) => !old.has(name))
      .map(({ name, image, mark, imageMark }) => ({ name, image, mark, imageMark })),
    removed: base.references.filter(({ name }) => !now.has(name)).map(({ name, image }) => ({ name, image })),
    updated: result.references.flatMap(({ name, image, mark, imageMark, text }) => {
      const was = old.get(name)
      return was && was.text !== text ? [{ name, before: was.image, after: image, mark, imageMark }] : []
    }),
    known: [...new Set(base.references.map(({ image }) => image))],
    names: base.references.map(({ name }) => name),
  }
  return list.added.length + list.removed.length + list.updated.length > 0 ? list : undefined
}
