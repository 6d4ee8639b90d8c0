// What is worked out of a list from what differs is what working it out anew gives, whatever differs.
import { describe, expect, test } from '@jest/globals'
import { keysOf, patchList, pathsOf, perList, sublist } from '../../src/change/patched-list.ts'
import type { BlobSha } from '../../src/change/ids.ts'
import { hasBelow, hasPath, pathsBelow } from '../../src/change/sorted-paths.ts'

type Entry = { readonly path: string; readonly mode: string; readonly oid: BlobSha }

let seed = 16
const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below

function randomEntries(): Map<string, Entry> {
  const names = ['a', 'a-', 'a.b', 'b', 'B', 'é', '\u{1f4a5}', '\uffee']
  const entries = new Map<string, Entry>()
  for (let left = random(30); left > 0; left--) {
    const path = Array.from({ length: 1 + random(3) }, () => names[random(names.length)]).join('/')
    entries.set(path, { path, mode: '100644', oid: String(random(3)) as BlobSha })
  }
  return entries
}

const sorted = (entries: Map<string, Entry>) =>
  [...entries.values()].sort((one, other) => (one.path < other.path ? -1 : 1))

function patchBetween(before: Map<string, Entry>, after: Map<string, Entry>) {
  const differs = ([path, { oid }]: [string, Entry], others: Map<string, Entry>) =>
    others.get(path)?.oid !== oid
  return {
    removed: sorted(new Map([...before].filter((one) => differs(one, after)))),
    added: sorted(new Map([...after].filter((one) => differs(one, before)))),
  }
}

test('a patched list, and what is worked out of it, is what a new one would be', () => {
  const onlyA = sublist<Entry>(({ path }) => path.startsWith('a'))
  const first = keysOf<Entry>(({ path }) => (path.includes('/') ? path.split('/')[0] : undefined))
  const plainly = (entries: readonly Entry[]) => ({
    a: entries.filter(({ path }) => path.startsWith('a')),
    keys: [
      ...new Set(entries.filter(({ path }) => path.includes('/')).map(({ path }) => path.split('/')[0])),
    ].sort(),
    paths: entries.map(({ path }) => path),
  })
  for (let round = 0; round < 100; round++) {
    let now = randomEntries()
    let list: readonly Entry[] = sorted(now)
    for (let step = 0; step < 5; step++) {
      // Some lists are never asked: then the way to a known one is longer.
      if (random(3) > 0) void [onlyA(list), first(list), pathsOf(list)]
      const next = random(4) === 0 ? new Map(now) : randomEntries()
      list = patchList(list, patchBetween(now, next))
      now = next
      expect(list).toEqual(sorted(now))
    }
    const { a, keys, paths } = plainly(list)
    expect(onlyA(list)).toEqual(a)
    expect([...first(list)].sort()).toEqual(keys)
    expect(pathsOf(list)).toEqual(paths)
  }
})

describe('what does not differ', () => {
  const entry = (path: string, oid = '1'): Entry => ({ path, mode: '100644', oid: oid as BlobSha })

  test('stays the same object, and is not worked out again', () => {
    let looked = 0
    const counted = sublist<Entry>(({ path }) => (looked++, path.startsWith('a')))
    const before = [entry('a/1'), entry('b/1')]
    const known = [counted(before), pathsOf(before)]
    const after = patchList(before, { removed: [entry('b/1')], added: [entry('b/1', '2')] })
    expect(after).not.toBe(before)
    expect([counted(after), pathsOf(after)]).toEqual(known)
    expect(counted(after)).toBe(known[0])
    expect(pathsOf(after)).toBe(known[1])
    expect(looked).toBe(4)
    expect(patchList(before, { removed: [], added: [] })).toBe(before)
  })

  test('is worked out once for each list', () => {
    let made = 0
    const size = perList<string, number>(
      (list) => (made++, list.length),
      (value) => value,
    )
    const list = ['a']
    expect([size(list), size(list), made]).toEqual([1, 1, 1])
  })
})

test('paths are found among sorted ones as a walk through all would find them', () => {
  for (let round = 0; round < 200; round++) {
    const paths = sorted(randomEntries()).map(({ path }) => path)
    for (const one of [...paths, 'a', 'a/b', 'a.b', 'é', '', 'zz']) {
      expect(hasPath(paths, one)).toBe(paths.includes(one))
      const below = paths.filter((path) => one === '' || path.startsWith(`${one}/`))
      expect(pathsBelow(paths, one)).toEqual(below)
      expect(hasBelow(paths, one)).toBe(below.length > 0)
    }
  }
})
