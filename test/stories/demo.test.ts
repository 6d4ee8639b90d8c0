// Each line of the demo, as a test.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { commentOf, outcomeOf, type Told } from '../../sandbox/demo/outcome.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

describe("the demo's pull requests", () => {
  let world: StoryWorld
  const told: Told[] = []

  beforeAll(async () => {
    world = await openStoryWorld({ validateTraffic: true })
    await world.start()
    for (const story of stories)
      told.push({ story, pull: await world.coast.github.openPull(story.open(world.coast)) })
  }, 120_000)
  afterAll(() => world.close())

  test.each(stories.map((story) => [story.tells, story.id]))(
    '%s',
    async (_tells, id) => {
      const mine = told.find(({ story }) => story.id === id)
      if (mine === undefined) throw new Error('not opened')
      await until(
        `${id} comes to its end`,
        () => {
          const { asItShouldBe, isTold } = outcomeOf(mine, told, world.coast)
          return asItShouldBe && isTold
        },
        90,
        world.log,
      )
    },
    100_000,
  )

  test('exactly one of the two that pass alone and break together lands', () => {
    const landed = told.filter(({ story, pull }) => story.rival !== undefined && pull.merged !== null)
    expect(landed).toHaveLength(1)
  })

  test('each has one comment, which names the next step', () => {
    for (const { pull } of told) {
      expect(pull.comments.filter(({ body }) => body.startsWith('<!-- catalog-bot'))).toHaveLength(1)
      expect(commentOf(pull)).toMatch(/\*\*Next: |### ✅ Merged as /)
    }
  })

  test('what landed shows the channels that it changed', () => {
    const [good] = told.filter(({ pull }) => pull.merged !== null)
    expect(good && commentOf(good.pull)).toMatch(/```mermaid\nflowchart BT\n[^]*linkStyle [^]*```/)
  })

  test('asking for all of it again changes nothing', async () => {
    // What the last landing stirred up settles first.
    let quiet = { lines: -1, since: 0 }
    await until(
      'nothing happens any more',
      () => {
        if (world.log.length !== quiet.lines) quiet = { lines: world.log.length, since: performance.now() }
        return performance.now() - quiet.since > 3000
      },
      60,
      world.log,
    )
    const shown = () =>
      told.map(({ pull }) => ({
        comment: commentOf(pull),
        runs: world.coast.github.checkRuns(pull).map(({ id }) => id),
      }))
    const before = shown()
    const writes = () =>
      world.coast.github.requests.reduce(
        (sum, { path, writes: made = 0 }) => sum + (path.endsWith('/access_tokens') ? 0 : made),
        0,
      )
    const done = () =>
      world.log.filter((line) => line.includes('"msg":"done"') && line.includes('"kind":"pull"')).length
    const count = { writes: writes(), done: done() }
    const open = told.filter(({ pull }) => pull.state === 'open')
    world.coast.github.webhooks.double()
    for (const { pull } of open) await world.coast.github.label(pull, 'noise')
    await until('all were looked at again', () => done() >= count.done + open.length, 60, world.log)
    expect(shown()).toEqual(before)
    expect(writes()).toBe(count.writes)
  }, 180_000)

  test('the traffic is as GitHub documents it, and no call merges', () => {
    expect(world.coast.github.violations).toEqual([])
    expect(
      world.coast.github.requests.filter(({ template }) => /\/(merge|merges|merge-async)$/.test(template)),
    ).toEqual([])
  })
})
