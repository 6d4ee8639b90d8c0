// One request for many pull requests: it says that one is still as its snapshot says, or nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pullNumber } from '../../src/change/ids.ts'
import type { Snapshot } from '../../src/change/snapshot.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { LandingWorld, type Scene } from '../landing/landing-world.ts'

let world: LandingWorld
let scene: Scene
beforeAll(async () => {
  world = await LandingWorld.open()
  scene = await world.scene({ behind: false })
}, 60_000)
afterAll(async () => {
  await scene.close()
  await world.stop()
})

async function open(title: string): Promise<Pull> {
  const pull = await scene.github.openPull({
    repository: scene.full,
    author: 'alice',
    title,
    changes: { [`${title}.yaml`]: 'x: 1\n' },
  })
  await scene.github.label(pull, 'catalog')
  scene.github.comment(pull, 'bob', '/hold')
  scene.github.review(pull, 'bob', 'approve')
  return pull
}

const read = async ({ number }: Pull): Promise<Snapshot> => {
  const snapshot = await scene.options.forge.readSnapshot(pullNumber(number))
  if (snapshot === null) throw new Error('no pull request')
  return snapshot
}

const changes: readonly (readonly [string, (pull: Pull) => unknown])[] = [
  ['a push', (pull) => scene.github.pushToPull(pull, { 'more.yaml': 'y: 1\n' })],
  ['a label', (pull) => scene.github.label(pull, 'wait')],
  ['a label less', (pull) => scene.github.unlabel(pull, 'catalog')],
  ['a comment', (pull) => scene.github.comment(pull, 'bob', '/unhold')],
  ['another title', (pull) => (pull.title = 'Other')],
  ['a draft', (pull) => (pull.draft = true)],
  ['another base', (pull) => (pull.baseRef = 'other')],
  ['a comment that says something else', ({ comments }) => comments.forEach((it) => (it.body = '/help'))],
  ['a comment less', (pull) => (pull.comments = [])],
  ['a dismissed review', ({ reviews }) => reviews.forEach((it) => (it.state = 'DISMISSED'))],
  ['another review', (pull) => scene.github.review(pull, 'bob', 'changes')],
  ['a deleted fork', (pull) => (pull.headRepo = null)],
  [
    'more than a page',
    (pull) => {
      for (let count = 0; count < 31; count++) scene.github.comment(pull, 'bob', `${count}`)
    },
  ],
  ['its end', (pull) => (pull.state = 'closed')],
]

test('whatever changes is seen, and only there', async () => {
  const quiet = await open('quiet')
  const before = await read(quiet)
  const changed: (readonly [string, Snapshot])[] = []
  for (const [index, [name, change]] of changes.entries()) {
    const pull = await open(`changed-${index}`)
    changed.push([name, await read(pull)])
    await change(pull)
  }
  const asked = world.it.github.requests.length
  const same = await scene.options.forge.stillAs?.([before, ...changed.map(([, snapshot]) => snapshot)])
  expect(world.it.github.requests.length - asked).toBe(1)
  expect(changed.filter(([, { pull }]) => same?.has(pull)).map(([name]) => name)).toEqual([])
  expect([...(same ?? [])]).toEqual([quiet.number])
}, 60_000)

test('a word that is said behind a full page is seen', async () => {
  const pull = await open('talkative')
  for (let count = 1; count < 30; count++) scene.github.comment(pull, 'bob', `${count}`)
  const before = await read(pull)
  expect(before.comments).toHaveLength(30)
  expect([...((await scene.options.forge.stillAs?.([before])) ?? [])]).toEqual([pull.number])
  scene.github.comment(pull, 'bob', '/hold')
  expect([...((await scene.options.forge.stillAs?.([before])) ?? [])]).toEqual([])
}, 60_000)

test('of what GitHub does not answer nothing is said', async () => {
  const snapshot = await read(await open('unanswered'))
  world.it.github.fail('POST /graphql', { status: 502 })
  expect([...((await scene.options.forge.stillAs?.([snapshot])) ?? [])]).toEqual([])
  expect([...((await scene.options.forge.stillAs?.([{ ...snapshot, stacked: true }])) ?? [])]).toEqual([])
})
