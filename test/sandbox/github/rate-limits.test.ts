// The sandbox limits requests as GitHub does: by the hour of each resource, and by what comes within a minute.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { furnish, full, name, type Furnished } from './sample-world.ts'

let now = Date.now()
let it: Furnished
let issue_number: number
beforeAll(async () => {
  it = await furnish({ clock: { now: () => now } })
  const pull = await it.github.openPull({
    repository: full,
    author: 'alice',
    title: 'Alpha',
    changes: { a: '1' },
  })
  issue_number = pull.number
})
afterAll(() => it.stop())
beforeEach(() => {
  now += 120_000
})

const read = () => it.octokit.rest.repos.get(name)
const comment = () => it.octokit.rest.issues.createComment({ ...name, issue_number, body: 'x' })
const query = () => it.octokit.graphql('{ viewer { login } }')

test('an hour that is used up says so with its end, and begins anew then', async () => {
  it.github.setLimits(it.installation, { hourly: 2, windowSeconds: 10 })
  expect((await read()).headers).toMatchObject({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-resource': 'core',
  })
  await read()
  await expect(read()).rejects.toMatchObject({
    status: 403,
    response: {
      headers: {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(now / 1000) + 10),
        'x-ratelimit-resource': 'core',
      },
    },
  })
  // GraphQL has its own.
  await query()
  now += 10_000
  await read()
})

test('too much content within a minute is refused with everything else, longer for whoever goes on', async () => {
  it.github.setLimits(it.installation, { hourly: 5000, contentPerMinute: 2, pauseSeconds: 30 })
  await comment()
  await comment()
  const refusal = { status: 403, response: { headers: { 'retry-after': '30' } } }
  await expect(comment()).rejects.toMatchObject(refusal)
  now += 29_000
  await expect(read()).rejects.toMatchObject(refusal)
  now += 29_000
  await expect(query()).rejects.toMatchObject(refusal)
  now += 30_000
  await comment()
})

test('a write costs five points of a minute, a read one', async () => {
  it.github.setLimits(it.installation, { contentPerMinute: Infinity, pointsPerMinute: 7, pauseSeconds: 60 })
  await comment()
  await read()
  await query()
  await expect(read()).rejects.toThrow('secondary rate limit')
  now += 60_000
  await read()
})
