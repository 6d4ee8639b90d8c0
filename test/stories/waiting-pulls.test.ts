// A base that moves elsewhere costs a pull request that waits nothing; one that moves under it is noticed. And with three of ten
// requests failing a pull request still lands in reasonable time.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { repositoryName } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

let world: StoryWorld
beforeAll(async () => {
  world = await openStoryWorld({ sweepSeconds: 300 })
  await world.start()
}, 60_000)
afterAll(() => world.close())

function open(id: string) {
  const story = stories.find((one) => one.id === id)
  if (story === undefined) throw new Error(`no story ${id}`)
  return world.coast.github.openPull(story.open(world.coast))
}

const said = (message: string) =>
  world.log.flatMap((line) => {
    const entry = JSON.parse(line.startsWith('{') ? line : '{}') as Record<string, unknown>
    return entry['msg'] === message ? [entry] : []
  })

describe('a pull request that waits', () => {
  test('is asked about again only when something of it is another on the new base', async () => {
    const { github, repository } = world.coast
    const pull = await open("stranger's update")
    const looks = () => said('examined').filter((entry) => entry['pull'] === pull.number).length
    await until('it waits', () => pull.comments.length === 1, 60, world.log)
    // The first sweep that sees it takes note of it.
    await github.pushToBase(repositoryName, { 'notes/1.md': '1\n' }, { by: 'harbormaster' })
    await until('the sweep has looked at it', () => looks() >= 2, 60, world.log)
    let counted = { requests: 0, times: 0 }
    await until(
      'nothing more is asked',
      () => {
        const { length } = github.requests
        counted = { requests: length, times: counted.requests === length ? counted.times + 1 : 0 }
        return counted.times > 30
      },
      60,
      world.log,
    )
    const looksBefore = looks()

    const { requests } = github
    const before = requests.length
    const shown = () => [
      pull.comments.map(({ body }) => body),
      repository.suites.flatMap(({ runs }) => runs).length,
    ]
    const shownBefore = shown()
    for (const round of ['2', '3']) {
      const moves = said('base moved').length
      await github.pushToBase(repositoryName, { 'notes/2.md': `${round}\n` }, { by: 'harbormaster' })
      await until('the sweep has seen the base', () => said('base moved').length > moves, 60, world.log)
    }
    expect(said('base moved').slice(-2)).toMatchObject([
      { moved: 1, still: 1 },
      { moved: 1, still: 1 },
    ])
    const about = requests
      .slice(before)
      .filter(
        ({ path }) =>
          path.includes(pull.headSha) || new RegExp(`/(?:pulls|issues)/${pull.number}(?:/|$)`).test(path),
      )
    expect(about).toEqual([])
    expect(shown()).toEqual(shownBefore)
    expect(looks()).toBe(looksBefore)

    // Now its author owns the package, and nobody has to say so to the bot.
    const owners = 'operators/tidepool/ci.yaml'
    await github.pushToBase(
      repositoryName,
      { [owners]: 'reviewers:\n  - bob\n  - mallory\n' },
      { by: 'harbormaster' },
    )
    await until('it is merged', () => pull.merged !== null, 60, world.log)
  }, 120_000)
})

describe('a pull request that was merged a moment ago', () => {
  test('is said to be, though GitHub still calls it open', async () => {
    const { github } = world.coast
    const catchUp = github.lag('GET /repos/{owner}/{repo}/pulls/{pull_number}')
    try {
      const pull = await open('first of two')
      const said = () => pull.comments.at(-1)?.body ?? ''
      await until('it is merged', () => pull.merged !== null, 60, world.log)
      await until('its comment says so', () => /merged/i.test(said()), 60, world.log)
      await until('every job has ended', () => world.log.at(-1)?.includes('"msg":"done"') === true, 60)
      expect(said()).not.toMatch(/already contains/)
      expect(github.checkRuns(pull).map(({ conclusion }) => conclusion)).not.toContain('failure')
    } finally {
      catchUp()
    }
  }, 120_000)
})

describe('with three of ten requests to GitHub failing', () => {
  test('a pull request still lands, once, with one comment', async () => {
    let last = 20_261_123
    let failed = 0
    // Always the same sequence: a test of chance would be one of luck.
    const take = world.coast.github.fail(
      ({ template }) => {
        last = (last * 1_103_515_245 + 12_345) % 2_147_483_648
        const fails = !template.startsWith('/{owner}/') && Math.floor(last / 65_536) % 10 < 3
        if (fails) failed += 1
        return fails
      },
      { status: 502 },
      Infinity,
    )
    try {
      const pull = await open('good update')
      await until('it is merged', () => pull.merged !== null, 120, world.log)
      const ours = () => pull.comments.filter(({ body }) => body.startsWith('<!-- catalog-bot'))
      await until(
        'its comment says so',
        () => ours().some(({ body }) => /merged/i.test(body)),
        120,
        world.log,
      )
      expect(ours()).toHaveLength(1)
      expect(failed).toBeGreaterThan(5)
    } finally {
      take()
    }
  }, 300_000)
})
