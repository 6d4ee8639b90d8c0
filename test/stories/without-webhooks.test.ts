// Webhooks are hints: the sweep alone has the same outcome (T41, I17).
import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { evaluateDemoStory, type DemoStoryWithPull } from '../../sandbox/demo/story-outcome.ts'
import { demoStories } from '../../sandbox/demo/stories.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

describe('with every webhook dropped', () => {
  let world: StoryEnvironment
  beforeAll(async () => {
    world = await startStoryEnvironment({ sweepSeconds: 2 })
    world.demo.github.webhooks.drop()
    await world.start()
  }, 120_000)
  afterAll(() => world.close())

  test('every pull request of the demo has the same outcome', async () => {
    const told: DemoStoryWithPull[] = []
    for (const story of demoStories)
      told.push({ story, pull: await world.demo.github.openPull(story.open(world.demo)) })
    await world.waitUntil(
      'all stories end',
      () => told.every((each) => evaluateDemoStory(each, told, world.demo).isExpected),
      150,
    )
  }, 180_000)
})
