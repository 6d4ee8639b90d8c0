// Incremental results for a patched list are the same as results for a new list, for any difference.
import { describe, expect, test } from '@jest/globals'
import {
  createDistinctKeyCollector,
  applyPathListPatch,
  getTreeEntryPaths,
  memoizeByPathList,
  createPathListFilter,
  hasPathInDirectory,
  hasPath,
  findPathsInDirectory,
} from '../../src/pull-request/incremental-path-list.ts'
import type { BlobSha } from '../../src/pull-request/ids.ts'

type TreeFileEntry = { readonly path: string; readonly mode: string; readonly oid: BlobSha }

let prngState = 16
const generateRandomIntegerBelow = (below: number) => (prngState = (prngState * 48271) % 2147483647) % below

function createRandomTreeEntries(): Map<string, TreeFileEntry> {
  const names = ['a', 'a-', 'a.b', 'b', 'B', 'é', '\u{1f4a5}', '\uffee']
  const entries = new Map<string, TreeFileEntry>()
  for (let left = generateRandomIntegerBelow(30); left > 0; left--) {
    const path = Array.from(
      { length: 1 + generateRandomIntegerBelow(3) },
      () => names[generateRandomIntegerBelow(names.length)],
    ).join('/')
    entries.set(path, { path, mode: '100644', oid: String(generateRandomIntegerBelow(3)) as BlobSha })
  }
  return entries
}

const sortTreeEntries = (entries: Map<string, TreeFileEntry>) =>
  [...entries.values()].sort((one, other) => (one.path < other.path ? -1 : 1))

function createPatchBetweenTrees(before: Map<string, TreeFileEntry>, after: Map<string, TreeFileEntry>) {
  const differs = ([path, { oid }]: [string, TreeFileEntry], others: Map<string, TreeFileEntry>) =>
    others.get(path)?.oid !== oid
  return {
    removed: sortTreeEntries(new Map([...before].filter((one) => differs(one, after)))),
    added: sortTreeEntries(new Map([...after].filter((one) => differs(one, before)))),
  }
}

test('a patched list and its derived values are the same as for a new list', () => {
  const onlyA = createPathListFilter<TreeFileEntry>(({ path }) => path.startsWith('a'))
  const first = createDistinctKeyCollector<TreeFileEntry>(({ path }) =>
    path.includes('/') ? path.split('/')[0] : undefined,
  )
  const plainly = (entries: readonly TreeFileEntry[]) => ({
    a: entries.filter(({ path }) => path.startsWith('a')),
    keys: [
      ...new Set(entries.filter(({ path }) => path.includes('/')).map(({ path }) => path.split('/')[0])),
    ].sort(),
    paths: entries.map(({ path }) => path),
  })
  for (let round = 0; round < 100; round++) {
    let now = createRandomTreeEntries()
    let list: readonly TreeFileEntry[] = sortTreeEntries(now)
    for (let step = 0; step < 5; step++) {
      // Some lists have no derived values, so that the next list must start from an older one.
      if (generateRandomIntegerBelow(3) > 0) void [onlyA(list), first(list), getTreeEntryPaths(list)]
      const next = generateRandomIntegerBelow(4) === 0 ? new Map(now) : createRandomTreeEntries()
      list = applyPathListPatch(list, createPatchBetweenTrees(now, next))
      now = next
      expect(list).toEqual(sortTreeEntries(now))
    }
    const { a, keys, paths } = plainly(list)
    expect(onlyA(list)).toEqual(a)
    expect([...first(list)].sort()).toEqual(keys)
    expect(getTreeEntryPaths(list)).toEqual(paths)
  }
})

describe('a derived value', () => {
  const entry = (path: string, oid = '1'): TreeFileEntry => ({ path, mode: '100644', oid: oid as BlobSha })

  test('stays the same object and is not computed again for entries that do not differ', () => {
    let lookupCount = 0
    const counted = createPathListFilter<TreeFileEntry>(({ path }) => (lookupCount++, path.startsWith('a')))
    const before = [entry('a/1'), entry('b/1')]
    const known = [counted(before), getTreeEntryPaths(before)]
    const after = applyPathListPatch(before, { removed: [entry('b/1')], added: [entry('b/1', '2')] })
    expect(after).not.toBe(before)
    expect([counted(after), getTreeEntryPaths(after)]).toEqual(known)
    expect(counted(after)).toBe(known[0])
    expect(getTreeEntryPaths(after)).toBe(known[1])
    expect(lookupCount).toBe(4)
    expect(applyPathListPatch(before, { removed: [], added: [] })).toBe(before)
  })

  test('is computed once for each list', () => {
    let made = 0
    const size = memoizeByPathList<string, number>(
      (list) => (made++, list.length),
      (value) => value,
    )
    const list = ['a']
    expect([size(list), size(list), made]).toEqual([1, 1, 1])
  })
})

test('a search in sorted paths finds the same paths as a linear search', () => {
  for (let round = 0; round < 200; round++) {
    const paths = sortTreeEntries(createRandomTreeEntries()).map(({ path }) => path)
    for (const one of [...paths, 'a', 'a/b', 'a.b', 'é', '', 'zz']) {
      expect(hasPath(paths, one)).toBe(paths.includes(one))
      const below = paths.filter((path) => one === '' || path.startsWith(`${one}/`))
      expect(findPathsInDirectory(paths, one)).toEqual(below)
      expect(hasPathInDirectory(paths, one)).toBe(below.length > 0)
    }
  }
})
