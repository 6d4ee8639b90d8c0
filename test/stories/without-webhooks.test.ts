// Webhooks are hints: the sweep alone comes to the same end (T41, I17).
import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { outcomeOf, type Told } from '../../sandbox/demo/outcome.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

describe('with every webhook dropped', () => {
  let world: StoryWorld
  beforeAll(async () => {
    world = await openStoryWorld({ sweepSeconds: 2 })
    world.coast.github.webhooks.drop()
    await world.start()
  }, 120_000)
  afterAll(() => world.close())

  test('every pull request of the demo comes to the same end', async () => {
    const told: Told[] = []
    for (const story of stories)
      told.push({ story, pull: await world.coast.github.openPull(story.open(world.coast)) })
    await until(
      'all stories end',
      () => told.every((each) => outcomeOf(each, told, world.coast).asItShouldBe),
      150,
      world.log,
    )
  }, 180_000)
})
