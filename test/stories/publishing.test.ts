// From a pull request to an image that users can pull, with the real bot, its publishing process, and two registries:
// one that the bot reads anonymously, and one that requires credentials for every push.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishCrashPoints } from '../../src/jobs/crash-point.ts'
import { findBotComment, evaluateDemoStory } from '../../sandbox/demo/story-outcome.ts'
import { readDemoCatalogFiles } from '../../sandbox/demo/demo-environment.ts'
import { createCatalogImageReader, type PulledCatalogImage } from '../../sandbox/demo/run-demo.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { startMockRegistry, type MockRegistry } from '../../sandbox/registry/registry.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { startStoryEnvironment, waitUntil, type StoryEnvironment } from './story-environment.ts'

const publishedRepositoryName = 'coast/published'
const catalogPath = 'catalogs/v4.20/lighthouse/catalog.yaml'

describe('a merged catalog', () => {
  let story: StoryEnvironment
  let shop: MockRegistry
  let directory: string
  let pull: MockPull
  const say = (password: string) =>
    writeFileSync(
      join(directory, 'push.json'),
      JSON.stringify({
        auths: { [shop.host]: { auth: Buffer.from(`robot:${password}`).toString('base64') } },
      }),
    )
  const read = (tag: string): Promise<PulledCatalogImage | undefined> =>
    createCatalogImageReader(shop.host).read(`${publishedRepositoryName}:${tag}`)
  const push = (channel: string) => {
    const text = story.demo.files[catalogPath] ?? ''
    return story.demo.github.pushToBase('coast/operators', { [catalogPath]: `${text}\n# ${channel}\n` })
  }
  const holds = async (tag: string, text: string): Promise<boolean> =>
    (await read(tag))?.text('lighthouse/catalog.yaml').includes(text) === true

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'publishing-'))
    shop = await startMockRegistry({ auth: { kind: 'bearer', users: { robot: 'right' }, style: 'ghcr' } })
    shop.putImage('coast/opm', 'latest', { platforms: ['linux/amd64', 'linux/arm64'] })
    say('right')
    const targets = join(directory, 'targets.yml')
    writeFileSync(
      targets,
      `- {github: coast/operators, push: [${shop.host}/${publishedRepositoryName}], credentials: push.json, bases: [${shop.host}/coast/opm]}\n`,
    )
    const fixed = readDemoCatalogFiles('')['.github/catalog-bot.yml'] ?? ''
    story = await startStoryEnvironment({
      sweepSeconds: 2,
      validateTraffic: true,
      files: {
        '.github/catalog-bot.yml': `${fixed}publish: [{catalog: catalogs/v4.20, repository: ${shop.host}/${publishedRepositoryName}, tags: [latest], base: '${shop.host}/coast/opm:latest', preview: {}}]\n`,
      },
      environment: { PUBLISH_TARGETS: targets, PUBLISH_RETRY_SECONDS: '1' },
    })
    const insecure = `${story.demo.registry.host},${shop.host}`
    await story.start({ INSECURE_REGISTRIES: insecure, LEASE_SECONDS: '3' })
  })
  afterAll(async () => {
    await story.close()
    await shop.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  })

  test('is published as an image, and the pull request reports it', async () => {
    // The previous state of the branch is published, too, because a rollback returns to it.
    await story.waitUntil('there is an image', async () => (await read('latest')) !== undefined)
    const opened = await openDemoStory(story.demo, 'good update')
    pull = opened.pull
    await story.waitUntil('it is merged', () => evaluateDemoStory(opened, [opened], story.demo).isMerged)
    await story.waitUntil('the tag holds it', () => holds('latest', 'lighthouse.v1.2.0'))
    await story.waitUntil(
      'the comment says it',
      () => findBotComment(pull)?.includes('Merged and published') === true,
    )
    expect(findBotComment(pull)).toContain((await read('latest'))?.digest)
    const head = pull.merged?.sha ?? ''
    const runs = story.demo.github.checkRuns({ repo: story.demo.repository, headSha: head })
    expect(runs.find(({ name }) => name === 'catalog-bot / publish')).toMatchObject({ conclusion: 'success' })
  })

  test('is pushed with credentials of the operator, which never appear in a log or on GitHub', async () => {
    const secret = Buffer.from('robot:right').toString('base64')
    expect(shop.requests.filter(({ kind }) => kind === 'token').length).toBeGreaterThan(0)
    const said = [
      ...story.log,
      ...pull.comments.map(({ body }) => body),
      readFileSync(`/proc/${story.bot().process.pid}/environ`, 'utf8'),
      readFileSync(`/proc/${story.bot().process.pid}/cmdline`, 'utf8'),
    ].join('\n')
    expect(said).not.toContain(secret)
    expect(said).not.toContain('robot:')
  })

  test('can be previewed before the merge, and rolled back after it, by a comment', async () => {
    const former = (await read('latest'))?.digest
    const { github } = story.demo
    const { pull: open } = await openDemoStory(story.demo, 'update by a non-owner')
    await story.waitUntil('it is reported on', () => findBotComment(open) !== undefined)
    // A command applies to what was shown before it was written, and GitHub's times are in seconds.
    const shown = performance.now()
    await waitUntil('a second has passed', () => performance.now() - shown > 1100, 5)
    github.comment(open, 'bob', '/preview')
    github.comment(open, 'bob', '/rollback')
    const preview = `pr-${open.number}-v4.20`
    await story.waitUntil('there is a preview', async () => (await read(preview)) !== undefined)
    expect((await read(preview))?.text('tidepool/catalog.yaml')).toContain('tidepool.v0.6.0')
    // An owner of one package can't decide for all users.
    expect((await read('latest'))?.digest).toBe(former)
    // The pull request of the bad change is already merged.
    github.comment(pull, 'bob', '/rollback')
    github.comment(pull, 'harbormaster', '/rollback')
    await story.waitUntil(
      'it is rolled back, and said so',
      async () =>
        (await read('latest'))?.digest !== former &&
        pull.comments.some(({ body }) => body.includes('Rolled back `')),
    )
    expect(await holds('latest', 'lighthouse.v1.2.0')).toBe(false)
    await github.close(open)
    await story.waitUntil('the preview is gone', async () => (await read(preview)) === undefined)
  })

  test('waits for a registry that is down, and is published when it is back', async () => {
    const back = shop.fail(({ kind }) => kind === 'upload' || kind === 'manifest', { status: 503 })
    await push('while it was down')
    await story.waitUntil('an issue says so', () =>
      [...story.demo.repository.issues.values()].some(
        ({ title, state }) => title.startsWith('Merged but not published') && state === 'open',
      ),
    )
    back()
    await story.waitUntil('the tag holds it', () => holds('latest', 'while it was down'))
    await story.waitUntil('the issue is closed', () =>
      [...story.demo.repository.issues.values()].every(({ state }) => state === 'closed'),
    )
  })

  test('is published although process after process is killed, each at the next point', async () => {
    await story.bot().kill()
    const environment = {
      INSECURE_REGISTRIES: `${story.demo.registry.host},${shop.host}`,
      LEASE_SECONDS: '3',
    }
    const commit = await push('the change')
    for (const point of publishCrashPoints) {
      const doomed = await story.start({ ...environment, CATALOG_BOT_CRASH_AT: point })
      expect(await doomed.exited).toBe('SIGKILL')
    }
    await story.start(environment)
    await story.waitUntil('the tag holds it', () => holds('latest', '# the change'))
    const check = () =>
      story.demo.github
        .checkRuns({ repo: story.demo.repository, headSha: commit })
        .filter(({ name }) => name === 'catalog-bot / publish')
        .at(-1)
    await story.waitUntil('the check says so', () => check()?.conclusion === 'success')
    expect(check()?.summary).not.toMatch(/had been moved/)
  }, 300_000)

  test('is reported as GitHub documents it', () => {
    expect(story.demo.github.violations).toEqual([])
  })
})
