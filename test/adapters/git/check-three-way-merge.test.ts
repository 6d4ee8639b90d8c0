import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { toBlobSha, toPullNumber } from '../../../src/pull-request/ids.ts'
import type { GitMirror } from '../../../src/adapters/git/mirror.ts'
import { computeExpectedMergeResult } from '../../../src/adapters/git/merge.ts'
import {
  createNumberedLines,
  createOriginRepository,
  createTemporaryDirectory,
  type OriginRepository,
  openAnonymousMirror,
} from './origin.ts'

describe('the plain three-way rule', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => ({ mode: '100644', oid: toBlobSha(digit.repeat(40)) }))

  test('takes entries that one side changed, and merges or rejects entries that both sides changed', () => {
    expect(computeExpectedMergeResult(a, a, a)).toEqual({ kind: 'exactly', entry: a })
    expect(computeExpectedMergeResult(a, b, a)).toEqual({ kind: 'exactly', entry: b })
    expect(computeExpectedMergeResult(a, undefined, a)).toEqual({ kind: 'exactly', entry: undefined })
    expect(computeExpectedMergeResult(a, a, b)).toEqual({ kind: 'exactly', entry: b })
    expect(computeExpectedMergeResult(a, a, undefined)).toEqual({ kind: 'exactly', entry: undefined })
    expect(computeExpectedMergeResult(a, b, b)).toEqual({ kind: 'exactly', entry: b })
    expect(computeExpectedMergeResult(undefined, undefined, b)).toEqual({ kind: 'exactly', entry: b })
    expect(computeExpectedMergeResult(a, b, c)).toEqual({ kind: 'merged' })
    expect(computeExpectedMergeResult(a, undefined, c)).toEqual({ kind: 'conflict' })
    expect(computeExpectedMergeResult(a, b, undefined)).toEqual({ kind: 'conflict' })
    if (a)
      expect(computeExpectedMergeResult(a, a, { ...a, mode: '120000' })).toMatchObject({
        entry: { mode: '120000' },
      })
  })
})

describe('random histories with moves, copies, and edits', () => {
  const folder = createTemporaryDirectory('plain')
  let origin: OriginRepository
  let mirror: GitMirror
  beforeAll(async () => {
    origin = createOriginRepository(join(folder.path, 'origin.git'))
    mirror = await openAnonymousMirror(join(folder.path, 'mirror.git'), origin.url)
  })
  afterAll(async () => {
    await mirror.close()
    folder.remove()
  })

  test('change only paths that the pull request itself changes, with its content (T14)', async () => {
    let seed = 20261120
    const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below
    const pick = <T>(items: readonly T[]): T | undefined => items[random(items.length)]
    const directories = ['a', 'b', 'c']
    const change = (files: Record<string, string>): Record<string, string> => {
      const next = { ...files }
      for (let step = 0; step <= random(3); step++) {
        const path = pick(Object.keys(next)) ?? 'a/f0'
        const content = next[path] ?? createNumberedLines('new', 20)
        const target = `${pick(directories) ?? 'a'}/f${random(5)}`
        switch (random(5)) {
          case 0:
            next[path] = content.replace(/^(.*)$/m, `$1 edited ${random(1000)}`)
            break
          case 1:
            delete next[path]
            next[target] = content
            break
          case 2:
            delete next[path]
            next[target] = `${content}appended ${random(1000)}\n`
            break
          case 3:
            // An entire directory moves.
            for (const name of Object.keys(next).filter((name) => name.startsWith('a/'))) {
              next[`d/${name.slice(2)}`] = next[name] ?? ''
              delete next[name]
            }
            break
          default:
            next[target] = createNumberedLines(`added ${random(1000)}`, 15)
        }
      }
      return next
    }
    const kinds: Record<string, number> = {}
    for (let round = 0; round < 60; round++) {
      const start = Object.fromEntries(
        Array.from({ length: 6 }, (_, at) => [
          `${directories[at % 3] ?? 'a'}/f${at}`,
          createNumberedLines(`file ${at}`, 20),
        ]),
      )
      const [ours, theirs] = [change(start), change(start)]
      const root = origin.commit(start)
      const base = origin.commit(ours, [root])
      const head = origin.commit(theirs, [root])
      origin.branch('main', base)
      origin.pull(1, head)
      await mirror.fetch('main', toPullNumber(1))
      const result = await mirror.merge(base, head, 'Merge')
      const kind = result.kind === 'conflict' ? `${result.kind} ${result.reason ?? ''}` : result.kind
      kinds[kind] = (kinds[kind] ?? 0) + 1
      if (result.kind !== 'clean') continue
      const mergedEntries = await mirror.list(result.tree)
      const at = new Map(
        await Promise.all(
          mergedEntries.map(
            async ({ path, oid }) => [path, Buffer.from(await mirror.read(oid)).toString()] as const,
          ),
        ),
      )
      for (const path of new Set([
        ...Object.keys(start),
        ...Object.keys(ours),
        ...Object.keys(theirs),
        ...at.keys(),
      ])) {
        if (theirs[path] === start[path] || theirs[path] === ours[path])
          expect([path, at.get(path)]).toEqual([path, ours[path]])
        else if (ours[path] === start[path]) expect([path, at.get(path)]).toEqual([path, theirs[path]])
        else
          expect([path, typeof at.get(path), typeof ours[path], typeof theirs[path]]).toEqual([
            path,
            'string',
            'string',
            'string',
          ])
      }
    }
    console.log(`60 merges: ${JSON.stringify(kinds)}`)
    // The test proves something only if all three outcomes occurred.
    expect(Object.keys(kinds)).toEqual(
      expect.arrayContaining(['clean', 'conflict content', 'conflict rename']),
    )
  })
})
