// What every store must remember about pull requests.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { commitSha, pullNumber, userId } from '../../src/change/ids.ts'
import type { CommandRecord } from '../../src/gate/commands.ts'
import type { Store } from '../../src/ports/store.ts'
import { openStore } from '../../src/store/store.ts'
import { clock } from './wares.ts'

let names = 0
const a = commitSha('a'.repeat(40))
const b = commitSha('b'.repeat(40))
const pull = pullNumber(7)

describe('the embedded store', () => {
  let opened: Store
  beforeAll(async () => {
    opened = await openStore({ clock })
  }, 60_000)
  afterAll(() => opened.close())
  pullMemoryContract(() => opened)
})

function pullMemoryContract(store: () => Store): void {
  const repository = () => ({ owner: 'Memory', name: `Repository-${++names}` })

  describe('what is remembered of a pull request', () => {
    test('an epoch begins whenever head, base branch or configuration differ from the last look (T18, T21)', async () => {
      const of = repository()
      const look = (head = a, baseRef = 'main', config = 'c1') =>
        store().observe(of, pull, { head, baseRef, config })
      expect(await look()).toBe(0)
      expect(await look()).toBe(0)
      expect(await look(b)).toBe(1)
      expect(await look(a)).toBe(2)
      expect(await look(a, 'staging')).toBe(3)
      expect(await look(a, 'main')).toBe(4)
      expect(await look(a, 'main', 'c2')).toBe(5)
      expect(await look(a, 'main', 'c2')).toBe(5)
      expect(await store().observe(of, pullNumber(8), { head: a, baseRef: 'main', config: 'c1' })).toBe(0)
    })
    test('two looks at once begin one epoch', async () => {
      const of = repository()
      const looks = await Promise.all(
        [1, 2, 3, 4].map(() => store().observe(of, pull, { head: a, baseRef: 'main', config: 'c' })),
      )
      expect(looks).toEqual([0, 0, 0, 0])
    })
    test('a head keeps the time it was first shown at', async () => {
      const of = repository()
      await store().recordShown(of, pull, { head: a, epoch: 0, at: '2026-01-01T00:00:05Z' })
      await store().recordShown(of, pull, { head: a, epoch: 0, at: '2026-01-01T00:09:00Z' })
      await store().recordShown(of, pull, { head: b, epoch: 1, at: '2026-01-01T00:01:00Z' })
      expect(await store().shownHeads(of, pull)).toEqual([
        { head: a, epoch: 0, at: '2026-01-01T00:00:05Z' },
        { head: b, epoch: 1, at: '2026-01-01T00:01:00Z' },
      ])
    })
    test('a command is recorded once, and as it was', async () => {
      const of = repository()
      const record: CommandRecord = {
        comment: 4_000_000_000_123,
        command: 'approve',
        user: userId(7),
        login: 'olga',
        outcome: 'done',
        head: a,
        baseRef: 'main',
        epoch: 3,
        config: 'c',
        covers: new Map([['foo', '"catalog/foo/x.yaml" none 100644 ☃']]),
      }
      expect(await store().recordCommand(of, pull, record)).toBe('new')
      expect(await store().recordCommand(of, pull, { ...record, outcome: 'denied' })).toBe('duplicate')
      const { config: _config, covers: _covers, ...plain } = record
      await store().recordCommand(of, pull, { ...plain, comment: 5, command: 'hold' })
      expect(await store().commands(of, pull)).toEqual([{ ...plain, comment: 5, command: 'hold' }, record])
      expect(await store().commands(of, pullNumber(8))).toEqual([])
    })
    test('a review stays in the epoch it was first seen in (T21)', async () => {
      const of = repository()
      expect(await store().firstSeenReviews(of, pull, 1, [11, 12])).toEqual(
        new Map([
          [11, 1],
          [12, 1],
        ]),
      )
      expect(await store().firstSeenReviews(of, pull, 3, [12, 3_000_000_000_000])).toEqual(
        new Map([
          [12, 1],
          [3_000_000_000_000, 3],
        ]),
      )
    })
    test('a login stays with the account it was first seen with (T25)', async () => {
      const of = repository()
      await store().firstSeenAccounts(of, new Map([['Alice', userId(1)]]))
      expect(await store().firstSeenAccounts(of, new Map([['alice', userId(2)]]))).toEqual(
        new Map([['alice', userId(1)]]),
      )
      expect(await store().firstSeenAccounts(repository(), new Map())).toEqual(new Map())
    })
  })
}
