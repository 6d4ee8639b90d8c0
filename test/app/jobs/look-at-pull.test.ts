// What is too large to check is looked at once, and again when something about it is another. The looks themselves are
// the test's own.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { blobSha, commitSha, pullNumber, treeSha } from '../../../src/change/ids.ts'
import type { Snapshot } from '../../../src/change/snapshot.ts'
import { lookAtPull } from '../../../src/app/jobs/look-at-pull.ts'
import { readSettings } from '../../../src/app/settings.ts'
import { usualBudget, type LookBudget } from '../../../src/examine/looks/look-budget.ts'
import type { LookAnswer } from '../../../src/examine/looks/look-order.ts'
import type { Store } from '../../../src/ports/store.ts'
import { openMadeStore } from '../../store/made-store.ts'
import { aGateInput, aSnapshot, sha } from '../../gate/build.ts'
import { clock } from '../../store/sample-records.ts'

let store: Store
beforeAll(async () => {
  store = await openMadeStore({ clock })
}, 60_000)
afterAll(() => store.close())

const seen: LookAnswer = {
  kind: 'seen',
  configDigest: 'default',
  epoch: 0,
  commands: [],
  told: { changeLines: [], commandLines: [] },
  gate: aGateInput(),
}

let config: string | undefined
let budget: LookBudget
let becomes: LookAnswer
let looks: number
let pulls = 0
let snapshot: Snapshot
beforeEach(() => {
  config = undefined
  budget = usualBudget
  becomes = { kind: 'too-large', why: 'it has 7 paths; at most 6 are checked' }
  looks = 0
  snapshot = aSnapshot({ pull: pullNumber(++pulls) })
})

async function verdictOn(differences: Partial<Snapshot> = {}): Promise<string> {
  const place = {
    app: {
      store,
      clock,
      settings: { ...readSettings({}), budget },
      registries: { forOneLook: () => undefined },
      looks: {
        look: async () => {
          looks += 1
          return becomes
        },
      },
    },
    repository: {
      treeOf: async () => treeSha(sha('d')),
      entry: async () => config && { mode: '100644', oid: blobSha(config) },
    },
    forge: {},
    mirror: '/nowhere',
  } as unknown as Parameters<typeof lookAtPull>[1]
  const { verdict } = await lookAtPull({ ...snapshot, ...differences }, place)
  return `${verdict.kind}: ${verdict.reasons.map(({ text }) => text).join(', ')}`
}

const tooLarge = 'blocked: this pull request is too large to check: it has 7 paths; at most 6 are checked'

test('what is too large is looked at once, and keeps its verdict with the number', async () => {
  expect(await verdictOn()).toBe(tooLarge)
  expect(await verdictOn()).toBe(tooLarge)
  // Neither a comment nor a base branch that moved makes it smaller.
  expect(await verdictOn({ title: 'Please', base: commitSha(sha('9')) })).toBe(tooLarge)
  expect(looks).toBe(1)
})

test.each([
  ['its head', () => verdictOn({ head: commitSha(sha('8')) })],
  ['its base branch', () => verdictOn({ baseRef: 'release' })],
  ['the configuration', () => ((config = sha('7')), verdictOn())],
  ['the budget', () => ((budget = { ...usualBudget, time: 120_000 }), verdictOn())],
])('it is looked at again when %s is another', async (_, another) => {
  await verdictOn()
  becomes = seen
  expect(await another()).toMatch(/^merge/)
  expect(looks).toBe(2)
})

test('another pull request with the same head is looked at for itself', async () => {
  await verdictOn()
  becomes = seen
  expect(await verdictOn({ pull: pullNumber(++pulls) })).toMatch(/^merge/)
})

test('what has more comments than are read is not looked at at all', async () => {
  const text = 'it has more than 5,000 comments'
  expect(await verdictOn({ excess: text })).toBe(`blocked: this pull request is too large to check: ${text}`)
  expect(looks).toBe(0)
})
