// Each line of the demo, as a test.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  findBotComment,
  evaluateDemoStory,
  type DemoStoryWithPull,
} from '../../sandbox/demo/story-outcome.ts'
import { demoStories } from '../../sandbox/demo/stories.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

describe("the demo's pull requests", () => {
  let environment: StoryEnvironment
  const opened: DemoStoryWithPull[] = []

  beforeAll(async () => {
    environment = await startStoryEnvironment({ validateTraffic: true })
    await environment.start()
    for (const story of demoStories)
      opened.push({ story, pull: await environment.demo.github.openPull(story.open(environment.demo)) })
  })
  afterAll(() => environment.close())

  test.each(demoStories.map((story) => [story.description, story.id]))('%s', async (_tells, id) => {
    const mine = opened.find(({ story }) => story.id === id)
    if (mine === undefined) throw new Error('not opened')
    await environment.waitUntil(`${id} comes to its end`, () => {
      const { isExpected, hasComment } = evaluateDemoStory(mine, opened, environment.demo)
      return isExpected && hasComment
    })
  })

  test('exactly one of the two that pass alone and break together is merged', () => {
    const merged = opened.filter(({ story, pull }) => story.rival !== undefined && pull.merged !== null)
    expect(merged).toHaveLength(1)
  })

  test('each has one comment, which names the next step', () => {
    for (const { pull } of opened) {
      expect(pull.comments.filter(({ body }) => body.startsWith('<!-- catalog-bot'))).toHaveLength(1)
      expect(findBotComment(pull)).toMatch(/\*\*Next: |### ✅ Merged as /)
    }
  })

  test('the comment on a merge shows the channels that it changed', () => {
    const [good] = opened.filter(({ pull }) => pull.merged !== null)
    expect(good && findBotComment(good.pull)).toMatch(/```mermaid\nflowchart BT\n[^]*linkStyle [^]*```/)
  })

  test('evaluating everything again changes nothing', async () => {
    // Wait until the effects of the last merge settle.
    let quiet = { lines: -1, since: 0 }
    await environment.waitUntil('nothing happens any more', () => {
      if (environment.log.length !== quiet.lines)
        quiet = { lines: environment.log.length, since: performance.now() }
      return performance.now() - quiet.since > 3000
    })
    const shown = () =>
      opened.map(({ pull }) => ({
        comment: findBotComment(pull),
        runs: environment.demo.github.checkRuns(pull).map(({ id }) => id),
      }))
    const before = shown()
    const writes = () =>
      environment.demo.github.requests.reduce(
        (sum, { path, writes: made = 0 }) => sum + (path.endsWith('/access_tokens') ? 0 : made),
        0,
      )
    const done = () =>
      environment.log.filter((line) => line.includes('"msg":"done"') && line.includes('"kind":"pull"')).length
    const count = { writes: writes(), done: done() }
    const open = opened.filter(({ pull }) => pull.state === 'open')
    environment.demo.github.webhooks.double()
    for (const { pull } of open) await environment.demo.github.label(pull, 'noise')
    await environment.waitUntil('all were looked at again', () => done() >= count.done + open.length)
    expect(shown()).toEqual(before)
    expect(writes()).toBe(count.writes)
  })

  test("the traffic matches GitHub's documents, and no call merges", () => {
    expect(environment.demo.github.violations).toEqual([])
    expect(
      environment.demo.github.requests.filter(({ template }) =>
        /\/(merge|merges|merge-async)$/.test(template),
      ),
    ).toEqual([])
  })
})
