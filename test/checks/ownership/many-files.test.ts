// What a change of many files costs, counted: how often git is asked, and how often anything is judged.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { catalogLoader } from '../../../src/examine/catalogs/catalog-loader.ts'
import { examine } from '../../../src/examine/examine.ts'
import { openReaderPool } from '../../../src/examine/catalogs/reader-pool.ts'
import { pullNumber } from '../../../src/change/ids.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { ownership } from '../../../src/checks/ownership/ownership.ts'
import { answersFrom } from '../../../src/checks/questions.ts'
import type { Repository } from '../../../src/ports/repository.ts'
import { forgetfulCache, forgetfulMemory } from '../../../src/examine/forgetful.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('many-files')
})
afterAll(() => world.close())

const mine: Files = {
  'catalogs/v4.16/mine/catalog.yaml': catalogFile('mine', ['1.0.0']),
  OWNERS: 'approvers: [maria]\n',
}

/** The repository, and what it was asked for. */
function counting(repository: Repository) {
  const asked: Record<'list' | 'diff' | 'entry' | 'read', string[]> = {
    list: [],
    diff: [],
    entry: [],
    read: [],
  }
  const counted: Repository = {
    ...repository,
    list: (...words) => (asked.list.push(words.join(' ')), repository.list(...words)),
    diff: (...words) => (asked.diff.push(words.join(' ')), repository.diff(...words)),
    entry: (...words) => (asked.entry.push(words.join(' ')), repository.entry(...words)),
    read: (...words) => (asked.read.push(words[0]), repository.read(...words)),
  }
  return { counted, asked }
}

test('a look at hundreds of files lists each tree once and reads each blob once', async () => {
  const head: Record<string, Files[string]> = { ...mine }
  for (let at = 0; at < 300; at++) {
    head[`catalogs/v4.16/p${at}/catalog.yaml`] = catalogFile(`p${at}`, ['1.0.0'])
    head[`catalogs/v4.16/p${at}/OWNERS`] = `approvers: [owner-of-${at}]\n`
    head[`catalogs/v4.16/link${at}.yaml`] = { mode: '120000', content: `p${at}/catalog.yaml` }
  }
  const from = world.origin.commit(mine)
  const to = world.origin.commit(head, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, to)
  await world.mirror.fetch('main', pullNumber(7))
  const { counted, asked } = counting(world.mirror)
  const pool = openReaderPool()
  try {
    const { verdict, change } = await examine(
      aSnapshot({ author: world.people.person('alice'), base: from, head: to }),
      {
        repository: counted,
        loader: catalogLoader(pool, forgetfulCache),
        ask: async (question) =>
          ['image', 'bundle', 'install'].includes(question.kind)
            ? { kind: 'unknown', reason: 'nobody is asked', retryAfter: 0 }
            : world.people.answer(question),
        memory: forgetfulMemory,
      },
    )
    expect(change.paths).toHaveLength(900)
    expect(verdict.kind).not.toBe('merge')
  } finally {
    await pool.close()
  }
  // Besides, what lies where the configuration would: there is none here.
  expect(asked.list.filter((tree) => !tree.includes(' '))).toHaveLength(2)
  expect(asked.list).toHaveLength(3)
  expect(asked.diff).toHaveLength(1)
  // Where the configuration would lie, and the folder above.
  expect(asked.entry).toHaveLength(2)
  expect(asked.read.length).toBe(new Set(asked.read).size)
})

describe('the same change', () => {
  /** A text that counts how often it is looked at. */
  const watched = (texts: ReadonlyMap<string, string>) => {
    const looks = { count: 0 }
    const map = new Map(texts)
    const get = map.get.bind(map)
    map.get = (key) => ((looks.count += 1), get(key))
    return { map, looks }
  }

  async function anInput(): Promise<CheckInput> {
    const from = world.origin.commit(mine)
    const to = world.origin.commit(
      { ...mine, 'catalogs/v4.16/mine/catalog.yaml': catalogFile('mine', ['1.0.0', '1.1.0']) },
      [from],
    )
    return (await world.judge(from, to, { author: 'alice' })).input
  }

  test('is surveyed once, whatever people answer and whoever approves', async () => {
    const made = await anInput()
    const { map, looks } = watched(made.ownerFiles.base)
    const input = { ...made, ownerFiles: { ...made.ownerFiles, base: map } }
    ownership.judge(input, answersFrom(new Map()))
    const first = looks.count
    expect(first).toBeGreaterThan(0)
    const role = (name: 'read' | 'admin') =>
      answersFrom(new Map([[`role ${input.snapshot.author?.id ?? ''}`, { kind: 'role', role: name }]]))
    ownership.ask(input, role('read'))
    ownership.judge(input, role('admin'))
    const approval = { ...aReview(input), user: world.people.person('maria').id, login: 'maria' }
    ownership.judge({ ...input, approvals: [approval] }, role('read'))
    expect(looks.count).toBe(first)
  })

  test('is surveyed anew when an owner file, the configuration or the author is another', async () => {
    const input = await anInput()
    const maria = world.people.person('maria')
    const answers = answersFrom(
      new Map([
        [`role ${maria.id}`, { kind: 'role' as const, role: 'read' as const }],
        ['user maria', { kind: 'person' as const, person: maria }],
      ]),
    )
    const byMaria = { ...input, snapshot: { ...input.snapshot, author: maria } }
    expect(ownership.judge(input, answers).unanswered).not.toEqual([])
    expect(ownership.judge(byMaria, answers).waiting).toEqual([])
    const others = { base: new Map([['OWNERS', 'approvers: [otto]\n']]), result: input.ownerFiles.result }
    expect(ownership.judge({ ...byMaria, ownerFiles: others }, answers).waiting).not.toEqual([])
    expect(ownership.judge(byMaria, answers).waiting).toEqual([])
  })

  test('is judged alike by the same answers, and otherwise by every other', async () => {
    const input = await anInput()
    const key = `role ${input.snapshot.author?.id ?? ''}`
    const unknown = answersFrom(new Map())
    const before = ownership.judge(input, unknown)
    expect(ownership.judge(input, answersFrom(new Map()))).toEqual(before)
    const reader = answersFrom(new Map([[key, { kind: 'role', role: 'read' }]]))
    const refused = ownership.judge(input, reader)
    expect(refused.waiting).not.toEqual([])
    const asked = ownership.ask(input, reader)
    expect(ownership.judge(input, reader)).toEqual(refused)
    expect(ownership.ask(input, reader)).toEqual(asked)
    // Rights that somebody has lost since are gone in the next judgement of the same input.
    const admin = answersFrom(new Map([[key, { kind: 'role', role: 'admin' }]]))
    expect(ownership.judge(input, admin).waiting).toEqual([])
    expect(ownership.judge(input, reader).waiting).not.toEqual([])
    expect(ownership.judge(input, unknown).unanswered).toEqual(before.unanswered)
  })
})

function aReview({ snapshot }: CheckInput) {
  const { head, baseRef } = snapshot
  return { head, baseRef, epoch: 0, source: 'review' as const, sourceId: 1 }
}

test('each of many new paths in a directory that looks like another one is told', async () => {
  const twin = 'catalogs/v4.16/Mine'
  const from = world.origin.commit(mine)
  const to = world.origin.commit(
    {
      ...mine,
      [`${twin}/catalog.yaml`]: catalogFile('other', ['1.0.0']),
      [`${twin}/deep/down/notes.yaml`]: 'schema: x\n',
      'catalogs/v4.16/new/One.yaml': 'schema: x\n',
      'catalogs/v4.16/new/one.yaml': 'schema: x\n',
    },
    [from],
  )
  const { outcome } = await world.judge(from, to, { author: 'alice' })
  const told = outcome.findings
    .filter(({ rule, data }) => rule === 'confusable-name' && typeof data?.['path'] === 'string')
    .map(({ data }) => [data?.['path'], data?.['name'], data?.['like']])
  expect(told).toEqual(
    expect.arrayContaining([
      [`${twin}/catalog.yaml`, twin, 'catalogs/v4.16/mine'],
      [`${twin}/deep/down/notes.yaml`, twin, 'catalogs/v4.16/mine'],
      ['catalogs/v4.16/new/one.yaml', 'catalogs/v4.16/new/one.yaml', 'catalogs/v4.16/new/One.yaml'],
    ]),
  )
})
