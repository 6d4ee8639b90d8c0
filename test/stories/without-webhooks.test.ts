// Webhooks are hints: the sweep alone has the same outcome (T41, I17).
import { afterAll, test } from '@jest/globals'
import { evaluateDemoStory, type DemoStoryWithPull } from '../../sandbox/demo/story-outcome.ts'
import { demoStories } from '../../sandbox/demo/stories.ts'
import { startStoryEnvironment } from './story-environment.ts'

const storyEnvironment = await startStoryEnvironment({ sweepSeconds: 2 })
const { github } = storyEnvironment.demo
github.webhooks.drop()
await storyEnvironment.start()
afterAll(() => storyEnvironment.close())

test('with every webhook dropped, every pull request of the demo has the same outcome, and a later approval counts', async () => {
  const opened: DemoStoryWithPull[] = []
  for (const story of demoStories)
    opened.push({ story, pull: await github.openPull(story.open(storyEnvironment.demo)) })
  await storyEnvironment.waitUntil(
    'all stories end',
    () => opened.every((each) => evaluateDemoStory(each, opened, storyEnvironment.demo).isExpected),
    150,
  )
  const waiting = opened.find(({ story }) => story.id === 'update by a non-owner')?.pull
  if (waiting === undefined) throw new Error('no pull request waits')
  github.comment(waiting, 'bob', '/approve')
  await storyEnvironment.waitUntil('a sweep finds the approval', () => waiting.merged !== null)
}, 240_000)
