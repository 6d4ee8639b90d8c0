// The index of paths near the new ones finds the same collisions as a search of all paths.
import { expect, test } from '@jest/globals'
import type { TouchedPath } from '../../../src/pull-request/change.ts'
import type { BlobSha } from '../../../src/pull-request/ids.ts'
import {
  findCollidingPaths,
  indexCollidingBasePaths,
  toCaseFoldedPath,
} from '../../../src/checks/ownership/colliding-paths.ts'

let prngState = 5
const randomIntegerBelow = (below: number) => (prngState = (prngState * 48271) % 2147483647) % below

const listPathPrefixes = (path: string) =>
  [...path.matchAll(/\/|$/g)].map(({ index }) => path.slice(0, index))

/** Paths of a tree in which some names differ only by case, and none is both a file and a directory. */
function createRandomFilePaths(count: number): string[] {
  const names = ['a', 'A', 'b', 'B', 'a-b', 'A.b', 'ab']
  const paths = new Set<string>()
  for (let left = count; left > 0; left--) {
    const depth = 1 + randomIntegerBelow(3)
    const path = Array.from({ length: depth }, () => names[randomIntegerBelow(names.length)]).join('/')
    if (![...paths].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)))
      paths.add(path)
  }
  return [...paths].sort()
}

test('the index finds the same collisions as a search of all paths', () => {
  let collisions = 0
  for (let round = 0; round < 2000; round++) {
    const all = createRandomFilePaths(14)
    const base = all.filter(() => randomIntegerBelow(3) > 0)
    const added = all.filter((path) => !base.includes(path))
    const gone = new Set(base.filter(() => randomIntegerBelow(4) === 0))
    const kept = base.filter((path) => !gone.has(path)).flatMap(listPathPrefixes)
    const anywhere = new Map(kept.map((at) => [toCaseFoldedPath(at), at]))
    const near = indexCollidingBasePaths(added, base, gone)
    for (const at of added.flatMap(listPathPrefixes)) {
      const like = anywhere.get(toCaseFoldedPath(at))
      if (like !== undefined && like !== at) collisions += 1
      expect([at, near.get(toCaseFoldedPath(at))]).toEqual([at, like])
    }
  }
  expect(collisions).toBeGreaterThan(500)
})

test('a character that folds to a slash collides with a directory separator, on either side', () => {
  const entry = { mode: '100644', oid: '0'.repeat(40) as BlobSha }
  const findCollisions = (basePaths: readonly string[], path: string) =>
    findCollidingPaths({
      basePaths,
      change: {
        paths: [{ path, after: entry, role: { kind: 'infrastructure' } } satisfies TouchedPath],
        catalogs: [],
        references: [],
      },
    }).length
  expect(findCollisions(['a/b'], 'a\uff0fb')).toBe(1)
  expect(findCollisions(['a\uff0fb'], 'a/b')).toBe(1)
  expect(findCollisions(['a/c'], 'a/b')).toBe(0)
})
