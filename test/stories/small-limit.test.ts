// A small limit at GitHub: what is important goes first, what is not waits, the pages say so, and nobody runs against it.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { stories } from '../../sandbox/demo/stories.ts'
import type { Installation, Pull } from '../../sandbox/github/world.ts'
import { repositoryName } from '../../sandbox/demo/demo-world.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

let world: StoryWorld
let installation: Installation
const hourly = 30
beforeAll(async () => {
  world = await openStoryWorld({ sweepSeconds: 2, environment: { SCAN_SECONDS: '1' } })
  installation = world.coast.github.installationOn(repositoryName)
  // What six looks need does not fit in.
  world.coast.github.setLimits(installation, { hourly, windowSeconds: 2 })
  await world.start()
}, 60_000)
afterAll(() => world.close())

function open(id: string): Promise<Pull> {
  const story = stories.find((one) => one.id === id)
  if (story === undefined) throw new Error(`no story ${id}`)
  return world.coast.github.openPull(story.open(world.coast))
}

const get = async (path: string) => (await fetch(`${world.bot().address}${path}`)).text()
const refused = () => world.coast.github.requests.filter(({ status }) => status === 403 || status === 429)

/** How many requests of a class were held back so far. */
async function held(work: string): Promise<number> {
  const line = new RegExp(`budget_requests_total\\{class="${work}",outcome="held"\\} (\\d+)`)
  return Number(line.exec(await get('/metrics'))?.[1])
}

test('six pull requests that wait for it send nothing that is refused, and all have their answer', async () => {
  const pulls: Pull[] = []
  for (let count = 0; count < 6; count += 1) pulls.push(await open("stranger's update"))
  await until('all are told', () => pulls.every(({ comments }) => comments.length === 1), 60, world.log)
  expect(refused()).toEqual([])
  const spent = world.coast.github.requests.filter(({ status, path }) => status < 300 && !path.startsWith('/app') && !path.includes('.git/')) // prettier-ignore
  expect(spent.length).toBeGreaterThan(hourly)
}, 90_000)

test('where less is left, scans wait first, then the sweep; a pull request is looked at and merged', async () => {
  const { github } = world.coast
  github.setLimits(installation, { hourly: 1000, windowSeconds: 3600 })
  github.setRemaining(installation, 400)
  const before = { scan: await held('scan'), sweep: await held('sweep') }
  await until('scans wait', async () => (await held('scan')) > before.scan, 30, world.log)
  expect(await held('sweep')).toBe(before.sweep)
  github.setRemaining(installation, 200)
  await until('the sweep waits', async () => (await held('sweep')) > before.sweep, 30, world.log)
  const pull = await open('good update')
  await until('it is merged', () => pull.merged !== null, 60, world.log)
  expect(await get('/readyz')).toMatch(/^what is left of GitHub's limit .* wait the sweep, scans of images$/m)
  const { limited } = JSON.parse(await get(`/r/${repositoryName}.json`)) as { limited: { kind: string }[] }
  expect(limited.map(({ kind }) => kind)).toContain('sweep')
  expect(refused()).toEqual([])
}, 90_000)
