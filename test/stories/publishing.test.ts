// From a pull request to an image that users can pull, with the bot, its publishing process and two registries as they
// run: one that bots read of, and one that wants credentials for every push.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishCrashPoints } from '../../src/landing/crash-point.ts'
import { commentOf, outcomeOf } from '../../sandbox/demo/outcome.ts'
import { readFixture } from '../../sandbox/demo/demo-world.ts'
import { imagesAt, type PublishedImage } from '../../sandbox/demo/published-images.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { startRegistry, type Registry } from '../../sandbox/registry/registry.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

const patience = 90
const image = 'coast/published'
const path = 'catalogs/v4.20/lighthouse/catalog.yaml'

describe('a catalog that is merged', () => {
  let world: StoryWorld
  let shop: Registry
  let directory: string
  let pull: Pull
  const say = (password: string) =>
    writeFileSync(
      join(directory, 'push.json'),
      JSON.stringify({
        auths: { [shop.host]: { auth: Buffer.from(`robot:${password}`).toString('base64') } },
      }),
    )
  const read = (tag: string): Promise<PublishedImage | undefined> =>
    imagesAt(shop.host).read(`${image}:${tag}`)
  const push = (channel: string) => {
    const text = world.coast.files[path] ?? ''
    return world.coast.github.pushToBase('coast/operators', { [path]: `${text}\n# ${channel}\n` })
  }
  const holds = async (tag: string, words: string): Promise<boolean> =>
    (await read(tag))?.text('lighthouse/catalog.yaml').includes(words) === true

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'publishing-'))
    shop = await startRegistry({
      auth: { kind: 'bearer', users: { robot: 'right' }, style: 'ghcr' },
    })
    shop.putImage('coast/opm', 'latest', { platforms: ['linux/amd64', 'linux/arm64'] })
    say('right')
    const targets = join(directory, 'targets.yml')
    writeFileSync(
      targets,
      `- {github: coast/operators, push: [${shop.host}/${image}], credentials: push.json, bases: [${shop.host}/coast/opm]}\n`,
    )
    const fixed = readFixture('')['.github/catalog-bot.yml'] ?? ''
    world = await openStoryWorld({
      sweepSeconds: 2,
      validateTraffic: true,
      files: {
        '.github/catalog-bot.yml': `${fixed}publish: [{catalog: catalogs/v4.20, repository: ${shop.host}/${image}, tags: [latest], base: '${shop.host}/coast/opm:latest', preview: {}}]\n`,
      },
      environment: { PUBLISH_TARGETS: targets, PUBLISH_RETRY_SECONDS: '1' },
    })
    const insecure = `${world.coast.registry.host},${shop.host}`
    await world.start({ INSECURE_REGISTRIES: insecure, LEASE_SECONDS: '3' })
  }, 180_000)
  afterAll(async () => {
    await world.close()
    await shop.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }, 60_000)

  test('is an image that holds it, and the pull request says so', async () => {
    const [story] = stories
    if (story === undefined) throw new Error('no story')
    // What the branch has before is published, too: it is what a rollback goes back to.
    await until('there is an image', async () => (await read('latest')) !== undefined, patience, world.log)
    pull = await world.coast.github.openPull(story.open(world.coast))
    const told = { story, pull }
    await until('it lands', () => outcomeOf(told, [told], world.coast).landed, patience, world.log)
    await until('the tag holds it', () => holds('latest', 'lighthouse.v1.2.0'), patience, world.log)
    await until(
      'the comment says it',
      () => commentOf(pull)?.includes('Merged and published') === true,
      patience,
      world.log,
    )
    expect(commentOf(pull)).toContain((await read('latest'))?.digest)
    const head = pull.merged?.sha ?? ''
    const runs = world.coast.github.checkRuns({ repo: world.coast.repository, headSha: head })
    expect(runs.find(({ name }) => name === 'catalog-bot / publish')).toMatchObject({ conclusion: 'success' })
  }, 180_000)

  test('needs credentials of the operator, which neither a log nor GitHub ever sees', async () => {
    const secret = Buffer.from('robot:right').toString('base64')
    expect(shop.requests.filter(({ kind }) => kind === 'token').length).toBeGreaterThan(0)
    const said = [
      ...world.log,
      ...pull.comments.map(({ body }) => body),
      readFileSync(`/proc/${world.bot().process.pid}/environ`, 'utf8'),
      readFileSync(`/proc/${world.bot().process.pid}/cmdline`, 'utf8'),
    ].join('\n')
    expect(said).not.toContain(secret)
    expect(said).not.toContain('robot:')
  })

  test('can be tried before it is merged, and rolled back after, by a comment', async () => {
    const former = (await read('latest'))?.digest
    const story = stories.find(({ id }) => id === "stranger's update")
    if (story === undefined) throw new Error('no story')
    const { github } = world.coast
    const open = await github.openPull(story.open(world.coast))
    await until('it is reported on', () => commentOf(open) !== undefined, patience, world.log)
    // A command is about what was shown before it was written, and GitHub's times are in seconds.
    const shown = performance.now()
    await until('a second has passed', () => performance.now() - shown > 1100, 5)
    github.comment(open, 'bob', '/preview')
    github.comment(open, 'bob', '/rollback')
    const preview = `pr-${open.number}-v4.20`
    await until('there is a preview', async () => (await read(preview)) !== undefined, patience, world.log)
    expect((await read(preview))?.text('tidepool/catalog.yaml')).toContain('tidepool.v0.6.0')
    // An owner of one package does not decide what all users get.
    expect((await read('latest'))?.digest).toBe(former)
    // Where the change is that users should not have had: it is merged.
    github.comment(pull, 'bob', '/rollback')
    github.comment(pull, 'harbormaster', '/rollback')
    await until(
      'it is rolled back, and said so',
      async () =>
        (await read('latest'))?.digest !== former &&
        pull.comments.some(({ body }) => body.includes('Rolled back:')),
      patience,
      world.log,
    )
    expect(await holds('latest', 'lighthouse.v1.2.0')).toBe(false)
    await github.close(open)
    await until('the preview is gone', async () => (await read(preview)) === undefined, patience, world.log)
  }, 180_000)

  test('waits for a registry that is down, and is there when it is back', async () => {
    const back = shop.fail(({ kind }) => kind === 'upload' || kind === 'manifest', { status: 503 })
    await push('while it was down')
    await until(
      'an issue says so',
      () =>
        [...world.coast.repository.issues.values()].some(
          ({ title, state }) => title.startsWith('Merged but not published') && state === 'open',
        ),
      patience,
      world.log,
    )
    back()
    await until('the tag holds it', () => holds('latest', 'while it was down'), patience, world.log)
    await until(
      'the issue is closed',
      () => [...world.coast.repository.issues.values()].every(({ state }) => state === 'closed'),
      patience,
      world.log,
    )
  }, 180_000)

  test.each(publishCrashPoints)(
    'is published by the next process, when one is killed at "%s"',
    async (point) => {
      await world.bot().kill()
      const insecure = `${world.coast.registry.host},${shop.host}`
      const doomed = await world.start({
        INSECURE_REGISTRIES: insecure,
        LEASE_SECONDS: '3',
        CATALOG_BOT_CRASH_AT: point,
      })
      const commit = await push(point)
      expect(await doomed.gone).toBe('SIGKILL')
      await world.start({ INSECURE_REGISTRIES: insecure, LEASE_SECONDS: '3' })
      await until('the tag holds it', () => holds('latest', `# ${point}`), patience, world.log)
      const check = () =>
        world.coast.github
          .checkRuns({ repo: world.coast.repository, headSha: commit })
          .filter(({ name }) => name === 'catalog-bot / publish')
          .at(-1)
      await until('the check says so', () => check()?.conclusion === 'success', patience, world.log)
      expect(check()?.summary).not.toMatch(/Somebody else/)
    },
    180_000,
  )

  test('is told of as GitHub documents it', () => {
    expect(world.coast.github.violations).toEqual([])
  })
})
