// Pull requests by untrusted authors that keep the bot busy, all open at once, and a harmless one after them.
// `npm run bench:untrusted-pulls` measures the speed; this story tests that each of them gets a result.
import { afterAll, expect, test } from '@jest/globals'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { startStoryEnvironment, waitUntil } from './story-environment.ts'

const createNumberedLines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('')
const catalogRoot = 'catalogs/v4.20'

/** What each of them changes. */
const hostileFileChanges: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'many keys': {
    [`${catalogRoot}/lighthouse/OWNERS`]: createNumberedLines(16_000, (at) => `key${at}: [a]\n`),
  },
  'many logins': {
    'operators/newcomer/ci.yaml': `---\nreviewers:\n${createNumberedLines(1500, (at) => `  - somebody-${at}\n`)}`,
  },
  'deep nesting': { [`${catalogRoot}/lighthouse/OWNERS`]: `a: ${'['.repeat(100_000)}` },
  'many patterns': {
    [`${catalogRoot}/.indexignore`]: createNumberedLines(100_000, (at) => `a*${at}*b*c\n`),
    ...Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`${catalogRoot}/lighthouse/f${at}.yaml`, 'schema: x\n']),
    ),
  },
}

const storyEnvironment = await startStoryEnvironment()
afterAll(() => storyEnvironment.close())

test('a harmless pull request is merged beside them, and the largest gets a report with the limit', async () => {
  const { demo, log } = storyEnvironment
  const opened = new Map<string, Awaited<ReturnType<typeof demo.github.openPull>>>()
  for (const [title, changes] of Object.entries(hostileFileChanges))
    opened.set(
      title,
      await demo.github.openPull({ repository: demoRepositoryName, author: 'mallory', title, changes }),
    )
  const { pull: harmless } = await openDemoStory(demo, 'good update')
  // The first sweep finds all of them at once.
  await storyEnvironment.start()
  await waitUntil('the harmless one is merged', () => harmless.merged !== null, 150, log)
  const answered = (title: string) => opened.get(title)?.comments.some(({ app }) => app !== null) === true
  await waitUntil('each of the others is answered', () => [...opened.keys()].every(answered), 150, log)
  for (const pull of opened.values()) expect(pull.merged).toBeNull()
  const told = opened.get('many logins')?.comments.map(({ body }) => body)
  expect(told?.join('\n')).toMatch(/at most 500/)
}, 400_000)
