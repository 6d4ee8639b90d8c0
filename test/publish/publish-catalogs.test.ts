// Publishes catalogs with the sandbox's GitHub, a real mirror and store, an in-memory registry, and a simulated clock.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { publishCatalogs } from '../../src/publish/publish-catalogs.ts'
import { rollbackRequestStateNamespace } from '../../src/publish/publication-state.ts'
import { executeRollback } from '../../src/publish/rollback-command.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import { RegistryError } from '../../src/adapters/registry/registry-error.ts'
import { createJobFixture } from '../server/jobs/job-fixture.ts'
import {
  baseImageReference,
  createPublishConfig,
  createPackageYaml,
  catalogImageName,
  createPublishScenario,
  type PublishScenario,
} from './publish-scenario.ts'

const catalogPath = 'catalogs/v4.18/alpha/catalog.yaml'
const secondsPerHour = 3600

const jobFixture = await createJobFixture()
const { github: githubFixture, app: githubApp, store, directory: temporaryDirectory } = jobFixture
const scenariosToClose: PublishScenario[] = []

afterEach(async () => {
  githubFixture.github.clearFaults()
  for (const each of scenariosToClose.splice(0)) await each.close()
})
afterAll(() => jobFixture.close())

const createPublishScenarioWithCleanup = async (
  given?: Readonly<Record<string, string>>,
): Promise<PublishScenario> => {
  const scene = await createPublishScenario(githubFixture, githubApp, store, temporaryDirectory, given)
  scenariosToClose.push(scene)
  return scene
}
const countGitHubWriteRequests = ({ full }: PublishScenario) =>
  githubFixture.github.requests.filter(
    ({ method, path }) => method !== 'GET' && path.startsWith(`/repos/${full}/`),
  ).length
const countImagePushes = ({ registry }: PublishScenario) =>
  registry.calls.filter((call) => call.startsWith('push')).length
const getMainBranchTipSha = ({ full }: PublishScenario) =>
  githubFixture.github.repository(full).knownRefs.get('refs/heads/main') ?? ''
const findReportComment = (pull: { readonly comments: readonly { readonly body: string }[] }) =>
  pull.comments.find(({ body }) => body.startsWith('<!-- catalog-bot:report'))?.body

describe('a merged catalog', () => {
  test('becomes an image under every tag, with a check and a deployment that name its digest', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const digest = scene.registry.findDigest(`${catalogImageName}:latest`)
    expect(digest).toMatch(/^sha256:/)
    expect(scene.registry.findDigest(`${catalogImageName}:v4.18`)).toBe(digest)
    expect(
      scene.registry.findDigest(`${catalogImageName}:v4.18-${getMainBranchTipSha(scene).slice(0, 12)}`),
    ).toBe(digest)
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: alpha')
    expect(scene.check(getMainBranchTipSha(scene))).toMatchObject({
      status: 'completed',
      conclusion: 'success',
    })
    expect(scene.check(getMainBranchTipSha(scene))?.summary).toContain(`\`${digest}\``)
    expect(scene.deployments()).toMatchObject([
      {
        sha: getMainBranchTipSha(scene),
        environment: 'catalog v4.18',
        app: githubFixture.app,
        statuses: [{ state: 'success', description: `Published: ${digest}` }],
      },
    ])
    expect(scene.issues()).toEqual([])
  })

  test('causes no writes or registry calls while it does not change, even after other commits', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const before = { writes: countGitHubWriteRequests(scene), calls: scene.registry.calls.length }
    await scene.run()
    await scene.push({
      'README.md': 'words',
      'catalogs/v4.19/alpha/catalog.yaml': createPackageYaml('alpha', 'fast'),
    })
    await scene.run()
    expect({ writes: countGitHubWriteRequests(scene), calls: scene.registry.calls.length }).toEqual(before)
  })

  test('is published again when it changes, with a summary in catalog terms', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const first = scene.registry.findDigest(`${catalogImageName}:latest`)
    const { pull, commit } = await scene.merge({
      'catalogs/v4.18/beta/catalog.yaml': createPackageYaml('beta'),
    })
    await scene.run()
    const second = scene.registry.findDigest(`${catalogImageName}:latest`)
    expect(second).not.toBe(first)
    expect(scene.check(commit)?.summary).toMatch(/`beta` is new in `4\.18`/)
    expect(findReportComment(pull)).toMatch(/### ✅ Merged and published/)
    expect(findReportComment(pull)).toContain(
      `\`${catalogImageName}:latest\`, \`${catalogImageName}:v4.18\`: published as \`${second}\``,
    )
    // Each image also has a history tag, so that a rollback can find it.
    expect(
      scene.registry.findDigest(`${catalogImageName}:v4.18-${getMainBranchTipSha(scene).slice(0, 12)}`),
    ).toBe(second)
  })

  test('is reported on its pull request even if the merge was recorded only after publishing', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const { pull, commit } = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'fast') }, () =>
      scene.run(),
    )
    expect(scene.check(commit)).toMatchObject({ conclusion: 'success' })
    expect(findReportComment(pull)).toBeUndefined()
    await scene.run()
    expect(findReportComment(pull)).toMatch(/### ✅ Merged and published/)
    const before = countGitHubWriteRequests(scene)
    await scene.run()
    expect(countGitHubWriteRequests(scene)).toBe(before)
  })

  test('of an unlisted branch is not published, regardless of the configuration on it', async () => {
    const scene = await createPublishScenarioWithCleanup({ '.github/catalog-bot.yml': '' })
    await scene.push({ '.github/catalog-bot.yml': createPublishConfig() }, 'mallory')
    await scene.run()
    expect(scene.registry.calls).toEqual([])
    await scene.push({ '.github/catalog-bot.yml': createPublishConfig('    branch: mallory\n') })
    await scene.run()
    expect(scene.registry.calls).toEqual([])
    expect(scene.issues()[0]?.body).toMatch(
      /branch mallory does not exist or is not listed under branches in the configuration/,
    )
    await scene.push({
      '.github/catalog-bot.yml': `branches: [release-*]\n${createPublishConfig('    branch: release-1\n')}`,
      [catalogPath]: createPackageYaml('main'),
    })
    await scene.push({ [catalogPath]: createPackageYaml('released') }, 'release-1')
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: released')
    expect(scene.issues()[0]).toMatchObject({ state: 'closed' })
  })
})

describe('two commits in quick succession', () => {
  test('the newest wins, and the check of the older one refers to it, even if already started', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const one = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'one') })
    let two: Awaited<ReturnType<PublishScenario['merge']>> | undefined
    scene.registry.beforeCall = async (step) => {
      if (step === 'build' && two === undefined)
        two = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'two') })
    }
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: two')
    expect(countImagePushes(scene)).toBe(2)
    expect(scene.check(one.commit)).toMatchObject({ conclusion: 'neutral' })
    expect(scene.check(one.commit)?.summary).toContain(two?.commit.slice(0, 12))
    expect(scene.check(two?.commit ?? '')).toMatchObject({ conclusion: 'success' })
    for (const commit of [one, two])
      expect(findReportComment(commit?.pull as never)).toMatch(/Merged and published/)
  })

  test('the check of an older one that never started refers to the newest, too', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const one = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'one') })
    const two = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'two') })
    await scene.run()
    expect(scene.check(one.commit)?.summary).toContain(two.commit.slice(0, 12))
    expect(findReportComment(one.pull)).toMatch(/Merged and published/)
  })
})

describe('a registry that is down', () => {
  test('is retried, then reported in one issue, which is closed when the registry is back', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const { pull, commit } = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'fast') })
    scene.registry.beforeCall = () => {
      throw new RegistryError('server', 'quay.io answered 503')
    }
    await scene.run()
    expect(scene.check(commit)).toMatchObject({ status: 'in_progress' })
    expect(scene.issues()).toEqual([])
    expect(findReportComment(pull)).toMatch(/### 🔄 Merged; publishing the catalog image/)
    const quiet = countGitHubWriteRequests(scene)
    await scene.run()
    expect(countGitHubWriteRequests(scene)).toBe(quiet)
    for (const seconds of [10, 20, 40]) {
      scene.advanceTime(seconds)
      await scene.run()
    }
    const [issue, ...more] = scene.issues()
    expect(more).toEqual([])
    expect(issue).toMatchObject({ title: 'Merged but not published: 1 catalog image', state: 'open' })
    expect(issue?.body).toContain('quay.io answered 503')
    expect(scene.check(commit)).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(findReportComment(pull)).toMatch(/### ❌ Merged, but not published/)
    expect(scene.deployments().at(-1)?.statuses.at(-1)?.state).toBe('failure')
    scene.advanceTime(secondsPerHour)
    const writesBefore = countGitHubWriteRequests(scene)
    await scene.run()
    // Nothing changed, so nothing is written.
    expect(countGitHubWriteRequests(scene)).toBe(writesBefore)
    expect(scene.issues()).toHaveLength(1)

    scene.registry.beforeCall = () => undefined
    scene.advanceTime(secondsPerHour)
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: fast')
    expect(issue).toMatchObject({ state: 'closed' })
    expect(scene.check(commit)).toMatchObject({ conclusion: 'success' })
    expect(findReportComment(pull)).toMatch(/### ✅ Merged and published/)
  })

  test('does not delay a newer commit until the end of the retry pause', async () => {
    const scene = await createPublishScenarioWithCleanup()
    scene.registry.beforeCall = () => {
      throw new RegistryError('server', 'quay.io answered 503')
    }
    await scene.run()
    scene.registry.beforeCall = () => undefined
    await scene.push({ [catalogPath]: createPackageYaml('alpha', 'fast') })
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: fast')
  })
})

test('wrong credentials are reported immediately', async () => {
  const scene = await createPublishScenarioWithCleanup()
  scene.registry.beforeCall = (step) => {
    if (step.startsWith('push')) throw new RegistryError('credentials', 'we may not push there')
  }
  await scene.run()
  expect(scene.issues()).toMatchObject([{ title: 'Merged but not published: 1 catalog image' }])
  expect(scene.check(getMainBranchTipSha(scene))).toMatchObject({ conclusion: 'failure' })
})

test('a target that the operator does not allow is reported, and the registry is not called', async () => {
  const scene = await createPublishScenarioWithCleanup({
    '.github/catalog-bot.yml': createPublishConfig().replace(catalogImageName, 'quay.io/inland/catalog'),
  })
  await scene.run()
  expect(scene.registry.calls).toEqual([])
  expect(scene.issues()[0]?.body).toMatch(/the bot administrator does not allow .* to push to/)
  expect(scene.check(getMainBranchTipSha(scene))).toMatchObject({ conclusion: 'failure' })
})

describe('a tag that was moved outside catalog-bot', () => {
  test('is left alone and reported until the catalog changes, then set again with a note', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    await scene.run()
    scene.registry.putImage(catalogImageName, 'latest', 'theirs')
    scene.advanceTime(secondsPerHour)
    await scene.run()
    const theirs = scene.registry.findDigest(`${catalogImageName}:latest`)
    expect(scene.issues()[0]).toMatchObject({ title: '1 catalog image was changed outside catalog-bot' })
    expect(scene.issues()[0]?.body).toContain(theirs)
    const commit = await scene.push({ [catalogPath]: createPackageYaml('alpha', 'fast') })
    await scene.run()
    expect(scene.registry.findDigest(`${catalogImageName}:latest`)).not.toBe(theirs)
    expect(scene.check(commit)?.summary).toMatch(/The tag `latest` had been moved to/)
    expect(scene.issues()[0]).toMatchObject({ state: 'closed' })
  })

  test('is set again on the next run if it moved during the push', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    await scene.push({ [catalogPath]: createPackageYaml('alpha', 'fast') })
    let times = 1
    scene.registry.beforeCall = (step) => {
      if (step.startsWith('push') && times-- > 0)
        scene.registry.putImage(catalogImageName, 'latest', 'theirs')
    }
    await scene.run()
    scene.advanceTime(10)
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: fast')
  })
})

test('if GitHub rejects deployments, the image is published and the check reports why', async () => {
  const scene = await createPublishScenarioWithCleanup()
  githubFixture.github.fail(
    'POST /repos/{owner}/{repo}/deployments',
    { status: 403, body: { message: 'Resource not accessible by integration' } },
    100,
  )
  await scene.run()
  expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBeDefined()
  expect(scene.check(getMainBranchTipSha(scene))).toMatchObject({ conclusion: 'success' })
  expect(scene.check(getMainBranchTipSha(scene))?.summary).toMatch(/deployments: write/)
  const before = countGitHubWriteRequests(scene)
  await scene.run()
  expect(countGitHubWriteRequests(scene)).toBe(before)
})

test('resumes after a kill at any point, and reports everything once', async () => {
  const scene = await createPublishScenarioWithCleanup()
  await scene.run()
  const { app: parts } = scene.ctx
  let left = Number.POSITIVE_INFINITY
  let calls = 0
  const mortal = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    calls += 1
    const answer = await work()
    // The work was done, but the process died before it got the answer.
    if (left-- <= 0) throw new Error('killed')
    return answer
  }
  const { forge } = scene.ctx
  const cut: typeof scene.ctx = {
    ...scene.ctx,
    forge: { ...forge, perform: (action) => mortal(() => forge.perform(action)) },
    app: {
      ...parts,
      store: { ...parts.store, writeState: (...given) => mortal(() => parts.store.writeState(...given)) },
      publishing: {
        ...parts.publishing,
        order: (...given) => mortal(() => parts.publishing.order(...given)),
      },
    },
  }
  const run = () =>
    publishCatalogs(
      { kind: 'publish', installation: githubFixture.installation.id, repository: forge.repository },
      cut,
    )
  for (let at = 0; ; at += 1) {
    const { pull, commit } = await scene.merge({ [catalogPath]: createPackageYaml('alpha', `channel-${at}`) })
    left = at
    calls = 0
    const ended = await run().then(
      () => true,
      () => false,
    )
    left = Number.POSITIVE_INFINITY
    await run()
    await scene.reportPulls()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain(`name: channel-${at}`)
    const run1 = scene.check(commit)
    expect(run1).toMatchObject({ conclusion: 'success' })
    // A repeated push recognizes its own image: it is neither a tag moved by others nor an unchanged image.
    expect(run1?.summary).not.toMatch(/had been moved|already/)
    expect(scene.deployments().filter(({ sha }) => sha === commit)).toHaveLength(1)
    expect(findReportComment(pull)).toMatch(/Merged and published/)
    if (ended) break
    expect(at).toBeLessThan(60)
  }
  expect(calls).toBeGreaterThan(4)
  expect(scene.issues()).toEqual([])
})

describe('/rollback', () => {
  test('that is read late applies neither after a later one nor to an image that was published since', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const first = scene.registry.findDigest(`${catalogImageName}:latest`) ?? ''
    scene.advanceTime(60)
    const { pull } = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'bad') })
    await scene.run()
    const publishedAt = scene.ctx.app.clock.now()
    const comments = (
      [
        [1, -10],
        [2, 10],
        [3, 20],
      ] as const
    ).map(([id, seconds]) => ({ id, createdAt: new Date(publishedAt + seconds * 1000).toISOString() }))
    const snapshot = createTestPullSnapshot({ pull: toPullNumber(pull.number), comments: comments as never })
    const rollBack = async (comment: number, words = '') => {
      const record = { comment, command: 'rollback', outcome: 'done', login: 'maria', rollback: { words } }
      const decided = await executeRollback({ record, reaction: '+1' } as never, snapshot, scene.ctx)
      return decided.record.rollback?.digest ?? decided.answer
    }
    expect(await rollBack(1)).toMatch(/published after this comment/)
    expect(await rollBack(3)).toBe(first)
    expect(await rollBack(2, 'v4.18')).toMatch(/a later \/rollback/)
    // A catalog that changes after the comment is published, although the tags are set back first.
    scene.advanceTime(60)
    await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'good') })
    scene.enqueued.length = 0
    await scene.run()
    expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBe(first)
    expect(scene.enqueued.some(({ job, seconds }) => job.kind === 'publish' && seconds === 0)).toBe(true)
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: good')
    // A job that ended early runs again.
    expect(await rollBack(3, first)).toBe(first)
    await scene.run()
    expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: good')
  })
  test('restores the former image, confirms it once, and is not undone by an unchanged catalog', async () => {
    const scene = await createPublishScenarioWithCleanup()
    await scene.run()
    const first = scene.registry.findDigest(`${catalogImageName}:latest`) ?? ''
    const { pull } = await scene.merge({ [catalogPath]: createPackageYaml('alpha', 'bad') })
    await scene.run()
    const second = scene.registry.findDigest(`${catalogImageName}:latest`) ?? ''
    const rollbackRequest = { comment: 1, pull: pull.number, login: 'maintainer', digest: first }
    const { repository } = scene.ctx.forge
    const id = `main catalogs/v4.18 ${catalogImageName}:latest`
    await store.writeState(rollbackRequestStateNamespace, repository, new Map([[id, rollbackRequest]]))
    await scene.run()
    expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBe(first)
    expect(scene.registry.findDigest(`${catalogImageName}:v4.18`)).toBe(first)
    const listRollbackComments = () =>
      pull.comments.filter(({ body }) => body.includes('catalog-bot:rollback'))
    expect(listRollbackComments()).toHaveLength(1)
    expect(listRollbackComments()[0]?.body).toMatch(/Rolled back/)
    expect(scene.check(getMainBranchTipSha(scene))?.title).toBe('Rolled back')
    expect(
      scene
        .deployments()
        .find(({ sha }) => sha === getMainBranchTipSha(scene))
        ?.statuses.at(-1)?.state,
    ).toBe('inactive')
    await scene.push({ 'README.md': 'nothing of the catalog' })
    scene.advanceTime(2 * secondsPerHour)
    await scene.run()
    await scene.run()
    expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBe(first)
    expect(listRollbackComments()).toHaveLength(1)

    await scene.push({ [catalogPath]: createPackageYaml('alpha', 'good') })
    await scene.run()
    const third = scene.registry.findDigest(`${catalogImageName}:latest`)
    expect([first, second]).not.toContain(third)
  })
})

test('publishes the same catalog on a new base image at the next rebase check', async () => {
  const scene = await createPublishScenarioWithCleanup({
    '.github/catalog-bot.yml': createPublishConfig('    rebase: 1h\n'),
  })
  await scene.run()
  await scene.run()
  const first = scene.registry.findDigest(`${catalogImageName}:latest`)
  scene.registry.bases.set(baseImageReference, `sha256:${'c'.repeat(64)}`)
  await scene.run()
  expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBe(first)
  scene.advanceTime(secondsPerHour)
  await scene.run()
  expect(scene.registry.findDigest(`${catalogImageName}:latest`)).not.toBe(first)
  expect(scene.registry.readText(`${catalogImageName}:latest`)).toContain('name: alpha')
  expect(scene.registry.calls.filter((step) => step === 'build')).toHaveLength(1)
  expect(scene.check(getMainBranchTipSha(scene))?.summary).toMatch(/published on the new base image/)
})

test('keeps the configured number of former images, and any image that another tag uses', async () => {
  const scene = await createPublishScenarioWithCleanup({
    '.github/catalog-bot.yml': createPublishConfig('    retention: {keep: 1}\n'),
  })
  const digests: string[] = []
  for (const channel of ['one', 'two', 'three', 'four']) {
    await scene.push({ [catalogPath]: createPackageYaml('alpha', channel) })
    await scene.run()
    digests.push(scene.registry.findDigest(`${catalogImageName}:latest`) ?? '')
    if (channel === 'one')
      scene.registry.getRepository(catalogImageName).tags.set('release', digests[0] ?? '')
  }
  const remainingImages = [...scene.registry.getRepository(catalogImageName).images.keys()]
  expect(remainingImages.sort()).toEqual([digests[0], digests[2], digests[3]].sort())
})
