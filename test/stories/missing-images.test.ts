// Images that catalogs already name disappear from their registry and come back. The bot reports them in one issue.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { evaluateDemoStory } from '../../sandbox/demo/story-outcome.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import type { MockIssue } from '../../sandbox/github/github-data.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

describe('missing images, with a scan every second', () => {
  let story: StoryEnvironment
  const issues = () => [...story.demo.repository.issues.values()]
  const issue = (): MockIssue => {
    const [first] = issues()
    if (first === undefined) throw new Error('there is no issue')
    return first
  }
  /** Removes an image from the registry. The result restores it. */
  const remove = (repository: string, tag: string) => {
    const { registry } = story.demo
    const digest = registry.manifest(repository, tag)?.digest
    if (digest === undefined) throw new Error(`the registry has no ${repository}:${tag}`)
    registry.removeTag(repository, tag)
    return () => registry.setTag(repository, tag, digest)
  }
  const putBack: (() => void)[] = []

  beforeAll(async () => {
    story = await startStoryEnvironment({
      sweepSeconds: 1,
      validateTraffic: true,
      environment: { SCAN_SECONDS: '1', SECOND_LOOK_SECONDS: '1' },
    })
    await story.start()
  })
  afterAll(() => story.close())

  test('are reported after a second scan in an issue by the App', async () => {
    putBack.push(remove('lighthouse/lighthouse-bundle', 'v1.0.0'))
    await story.waitUntil('there is an issue', () => issues().length > 0)
    expect(issue()).toMatchObject({ state: 'open', title: '1 image in lighthouse is missing or changed' })
    expect(issue().author.login).toBe('catalog-bot[bot]')
    expect(issue().body).toContain('lighthouse/lighthouse-bundle:v1.0.0` **is missing**')
    expect(issue().body).toContain('`catalogs/v4.20/lighthouse/catalog.yaml:')
    expect(issue().body).toContain('Owners: `alice`')
  })

  test('are reported in the same issue when another one disappears', async () => {
    putBack.push(remove('tidepool/tidepool-bundle', 'v0.4.0'))
    await story.waitUntil('the issue names both', () => issue().title.startsWith('2 images in 2 packages'))
    expect(issues()).toHaveLength(1)
  })

  test('do not block a pull request if its package named them before', async () => {
    const opened = await openDemoStory(story.demo, 'good update')
    await story.waitUntil('it is merged', () => evaluateDemoStory(opened, [opened], story.demo).isMerged)
  })

  test('close the issue with a comment when they are back', async () => {
    for (const back of putBack) back()
    await story.waitUntil('the issue is closed', () => issue().state === 'closed')
    expect(issues()).toHaveLength(1)
    expect(issue().comments.map(({ body }) => body)).toEqual([expect.stringMatching(/is available again/)])
    expect(story.demo.github.violations).toEqual([])
  })
})
