// Pull requests of strangers that are made to keep the bot busy, all open at once, and a harmless one after them. How fast
// it is, `npm run bench:strangers` tells; here: that each of them comes to its own end.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { repositoryName } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('')
const catalog = 'catalogs/v4.20'

/** What each of them changes. */
const hostile: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'many keys': { [`${catalog}/lighthouse/OWNERS`]: lines(16_000, (at) => `key${at}: [a]\n`) },
  'many logins': {
    'operators/newcomer/ci.yaml': `---\nreviewers:\n${lines(1500, (at) => `  - somebody-${at}\n`)}`,
  },
  'deep nesting': { [`${catalog}/lighthouse/OWNERS`]: `a: ${'['.repeat(100_000)}` },
  'many patterns': {
    [`${catalog}/.indexignore`]: lines(100_000, (at) => `a*${at}*b*c\n`),
    ...Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`${catalog}/lighthouse/f${at}.yaml`, 'schema: x\n']),
    ),
  },
}

let world: StoryWorld
beforeAll(async () => {
  world = await openStoryWorld()
}, 120_000)
afterAll(() => world.close())

test('a harmless pull request is merged beside them, and the largest is told the number', async () => {
  const { coast, log } = world
  const opened = new Map<string, Awaited<ReturnType<typeof coast.github.openPull>>>()
  for (const [title, changes] of Object.entries(hostile))
    opened.set(
      title,
      await coast.github.openPull({ repository: repositoryName, author: 'mallory', title, changes }),
    )
  const good = stories.find(({ id }) => id === 'good update')
  if (!good) throw new Error('the demo has no good update')
  const harmless = await coast.github.openPull(good.open(coast))
  // The first sweep finds them all at once.
  await world.start()
  await until('the harmless one is merged', () => harmless.merged !== null, 150, log)
  const answered = (title: string) => opened.get(title)?.comments.some(({ app }) => app !== null) === true
  await until('each of the others is answered', () => [...opened.keys()].every(answered), 150, log)
  for (const pull of opened.values()) expect(pull.merged).toBeNull()
  const told = opened.get('many logins')?.comments.map(({ body }) => body)
  expect(told?.join('\n')).toMatch(/at most 500/)
}, 400_000)
