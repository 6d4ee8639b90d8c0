// The job that adds merged bundles to the catalogs, against the sandbox's GitHub, a real mirror and a real store.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import {
  catalogYaml,
  createFakeDigest,
  createReleasableBundleFiles,
  releaseRepositoryFiles,
  templateYaml,
  templatePath,
} from './worker/release-files.ts'
import { createJobFixture } from '../server/jobs/job-fixture.ts'
import {
  createReleaseConfig,
  botConfigPath,
  createReleaseScenario,
  type ReleaseScenario,
} from './release-scenario.ts'

const secondsPerDay = 24 * 3600
const getReleaseBranchRef = (version: string) => `refs/heads/catalog-bot/add/foo/${version}`
const bundleImageReference = `quay.io/foo/foo@${createFakeDigest('b')}`

const jobFixture = await createJobFixture()
const { github: githubFixture, app: githubApp, store, directory: temporaryDirectory } = jobFixture
const scenariosToClose: ReleaseScenario[] = []

afterEach(async () => {
  githubFixture.github.clearFaults()
  for (const each of scenariosToClose.splice(0)) await each.close()
})
afterAll(() => jobFixture.close())

/** Opens a scenario in which the job has run once, so that bundles merged from now on count. */
const createInitializedReleaseScenario = async (
  given?: Readonly<Record<string, string>>,
): Promise<ReleaseScenario> => {
  const scene = await createReleaseScenario(githubFixture, githubApp, store, temporaryDirectory, given)
  scenariosToClose.push(scene)
  await scene.run()
  return scene
}
/** Runs the job until it has nothing left to do at once. */
const runJobsUntilIdle = async (scene: ReleaseScenario): Promise<void> => {
  for (let runs = 0; runs < 5; runs++) {
    scene.enqueued.length = 0
    await scene.run()
    if (!scene.enqueued.some(({ seconds }) => seconds <= 1)) return
  }
  throw new Error('the job asks for itself without an end')
}
/** With the pull request that adds bundle 1.1.0 to the catalog. */
const createScenarioWithReleasePull = async () => {
  const scene = await createInitializedReleaseScenario()
  scene.put('1.1.0', 'b')
  await scene.merge(createReleasableBundleFiles('1.1.0'))
  await runJobsUntilIdle(scene)
  const [own] = scene.botPulls()
  if (!own) throw new Error('there is no pull request')
  return { scene, own }
}

describe('a bundle directory that is merged', () => {
  test('gets one pull request, which adds it by digest to its template and catalogs', async () => {
    const scene = await createInitializedReleaseScenario()
    scene.put('1.1.0', 'b')
    const pull = await scene.merge(createReleasableBundleFiles('1.1.0'))
    await runJobsUntilIdle(scene)
    const [own, ...others] = scene.botPulls()
    expect(others).toEqual([])
    expect(own).toMatchObject({
      title: 'Add foo 1.1.0 to the catalogs',
      headRef: 'catalog-bot/add/foo/1.1.0',
      baseRef: 'main',
      state: 'open',
      draft: false,
    })
    expect(own?.body).toContain(`from #${pull.number} to the templates`)
    expect(own?.body).toContain(bundleImageReference)
    const text = await scene.file(getReleaseBranchRef('1.1.0'), templatePath)
    expect(text.split('\n').filter((line) => !templateYaml.split('\n').includes(line))).toEqual([
      '      - name: foo.v1.1.0',
      '        replaces: foo.v1.0.0',
      `    image: ${bundleImageReference}`,
    ])
    for (const version of ['v4.19', 'v4.20'])
      expect(
        await scene.file(getReleaseBranchRef('1.1.0'), `catalogs/${version}/foo/catalog.yaml`),
      ).toContain(`image: ${bundleImageReference}\nname: foo.v1.1.0\n`)
    expect(scene.comments(pull)).toEqual([])

    // Further runs without a push write nothing more.
    const writes = () =>
      githubFixture.github.requests.filter(
        ({ method, path }) => method !== 'GET' && path.startsWith('/repos/'),
      ).length
    const before = writes()
    await runJobsUntilIdle(scene)
    await runJobsUntilIdle(scene)
    expect(writes()).toBe(before)
  })

  test('gets one pull request even if the bot is killed at any point', async () => {
    const scene = await createInitializedReleaseScenario()
    let moments = 0
    for (let isKilled = true; isKilled; moments++) {
      const version = `1.0.${moments + 1}`
      scene.put(version, '0123456789bcdef'[moments % 15])
      await scene.push(createReleasableBundleFiles(version))
      // Killed half an effect later each time: before the first effect, after it, before the second, and so on.
      isKilled = (await scene.run(moments / 2)) === 'killed'
      for (let runs = 0; runs < 2 && !isKilled; runs++) isKilled = (await scene.run(moments / 2)) === 'killed'
      await runJobsUntilIdle(scene)
      const own = scene.botPulls().filter(({ headRef }) => headRef.endsWith(`/${version}`))
      expect(own).toHaveLength(1)
      expect(own[0]).toMatchObject({ state: 'open' })
      expect(await scene.file(getReleaseBranchRef(version), templatePath)).toContain(
        `name: foo.v${version}\n`,
      )
      for (const pull of own) await githubFixture.github.close(pull)
    }
    // The points are: noticed, image known, around the commit, the branch, the pull request, and the end.
    expect(moments).toBeGreaterThan(10)
  })

  test('does not get another pull request after people closed the first one', async () => {
    const { scene, own } = await createScenarioWithReleasePull()
    await githubFixture.github.close(own, 'alice')
    await scene.push({ [templatePath]: templateYaml.replace('people', 'a person') })
    await runJobsUntilIdle(scene)
    expect(own.state).toBe('closed')
    expect(scene.botPulls()).toHaveLength(1)
    expect(await scene.wants()).toBe(false)
  })

  test('does not change its pull request after people pushed to it', async () => {
    const { scene, own } = await createScenarioWithReleasePull()
    const theirs = await githubFixture.github.pushToPull(
      own,
      { 'operators/foo/notes.txt': 'x\n' },
      { by: 'alice' },
    )
    await scene.push({ [templatePath]: templateYaml.replace('people', 'a person') })
    await runJobsUntilIdle(scene)
    expect(own.headSha).toBe(theirs)
    expect(own.state).toBe('open')
  })

  test('gets its pull request updated when the template changes, and closed when nothing is left', async () => {
    const scene = await createInitializedReleaseScenario()
    scene.put('1.1.0', 'b')
    await scene.merge(createReleasableBundleFiles('1.1.0'))
    await runJobsUntilIdle(scene)
    const [own] = scene.botPulls()
    const first = own?.headSha ?? ''
    await scene.push({ 'operators/bar/notes.txt': 'something else\n' })
    await runJobsUntilIdle(scene)
    expect(own?.headSha).toBe(first)
    await scene.push({ [templatePath]: templateYaml.replace('Kept by people', 'Kept by some people') })
    await runJobsUntilIdle(scene)
    expect(own?.headSha).not.toBe(first)
    expect(scene.repo.pulls.get(own?.number ?? 0)?.state).toBe('open')
    expect(await scene.file(getReleaseBranchRef('1.1.0'), templatePath)).toMatch(
      /^# Kept by some people[^]*foo\.v1\.1\.0/,
    )
    expect(await scene.file(getReleaseBranchRef('1.1.0'), 'operators/bar/notes.txt')).toBe('something else\n')
    expect(scene.botPulls()).toHaveLength(1)
    // The base gets the change in another way, so there is nothing left to merge.
    const tree = async (path: string) => scene.file(getReleaseBranchRef('1.1.0'), path)
    await scene.push({
      [templatePath]: await tree(templatePath),
      'catalogs/v4.19/foo/catalog.yaml': await tree('catalogs/v4.19/foo/catalog.yaml'),
      'catalogs/v4.20/foo/catalog.yaml': await tree('catalogs/v4.20/foo/catalog.yaml'),
    })
    await runJobsUntilIdle(scene)
    expect(own?.state).toBe('closed')
  })

  test('waits for the merge of the bundle it replaces, and causes no loop', async () => {
    const scene = await createInitializedReleaseScenario()
    scene.put('1.1.0', 'b')
    scene.put('1.2.0', 'c')
    await scene.merge(createReleasableBundleFiles('1.1.0'))
    const second = await scene.merge(createReleasableBundleFiles('1.2.0', 'foo.v1.1.0'))
    await runJobsUntilIdle(scene)
    expect(scene.botPulls().map(({ headRef }) => headRef)).toEqual(['catalog-bot/add/foo/1.1.0'])
    expect(scene.comments(second)).toEqual([])
    const octokit = await githubApp.octokit(githubFixture.installation.id)
    const [own] = scene.botPulls()
    const [owner = '', repo = ''] = scene.full.split('/')
    await octokit.rest.pulls.merge({ owner, repo, pull_number: own?.number ?? 0 })
    await runJobsUntilIdle(scene)
    expect(scene.botPulls().map(({ headRef }) => headRef)).toEqual([
      'catalog-bot/add/foo/1.1.0',
      'catalog-bot/add/foo/1.2.0',
    ])
    await octokit.rest.pulls.merge({ owner, repo, pull_number: scene.botPulls()[1]?.number ?? 0 })
    await runJobsUntilIdle(scene)
    expect(scene.botPulls()).toHaveLength(2)
    expect(await scene.wants()).toBe(false)
    const text = await scene.file('main', 'catalogs/v4.20/foo/catalog.yaml')
    expect(text).toContain('- name: foo.v1.2.0\n  replaces: foo.v1.1.0\n')
  })
})

describe('a bundle image', () => {
  test('that is missing is polled, reported once after the configured wait, and polled further', async () => {
    const scene = await createInitializedReleaseScenario({
      [botConfigPath]: createReleaseConfig('    wait: 1d\n'),
    })
    const pull = await scene.merge(createReleasableBundleFiles('1.1.0'))
    const waits: number[] = []
    for (let runs = 0; runs < 4; runs++) {
      scene.enqueued.length = 0
      await scene.run()
      const wait = scene.enqueued[0]?.seconds ?? 0
      waits.push(wait)
      // A run before the next poll is due does nothing.
      await scene.run()
      scene.advanceTime(wait)
    }
    expect(waits).toEqual([30, 60, 120, 240])
    expect(scene.questions).toEqual(Array.from({ length: 4 }, () => 'quay.io/foo/foo:1.1.0'))
    expect(scene.comments(pull)).toEqual([])
    scene.advanceTime(secondsPerDay)
    await scene.run()
    scene.images.set('quay.io/foo/foo:1.1.0', { kind: 'unknown', reason: 'it answered 503', retryAfter: 5 })
    scene.advanceTime(secondsPerDay)
    await scene.run()
    const [told, ...more] = scene.comments(pull)
    expect(more).toEqual([])
    expect(told).toContain('was merged 24 hours ago, but its image')
    expect(told).toContain('No action is needed from the author of this directory')
    scene.put('1.1.0', 'b')
    scene.advanceTime(secondsPerDay)
    await runJobsUntilIdle(scene)
    expect(scene.botPulls()).toHaveLength(1)
  })

  test('that does not match its directory is reported, and checked again later', async () => {
    const scene = await createInitializedReleaseScenario()
    scene.put('1.1.0', 'b', '1.0.0')
    const pull = await scene.merge(createReleasableBundleFiles('1.1.0'))
    await runJobsUntilIdle(scene)
    await runJobsUntilIdle(scene)
    expect(scene.botPulls()).toEqual([])
    expect(scene.comments(pull)).toEqual([
      expect.stringContaining('the bundle image does not match the bundle directory'),
    ])
    scene.put('1.1.0', 'c')
    scene.advanceTime(secondsPerDay)
    await runJobsUntilIdle(scene)
    expect(await scene.file(getReleaseBranchRef('1.1.0'), templatePath)).toContain(createFakeDigest('c'))
  })
})

describe('no pull request is opened', () => {
  test('if the resulting catalogs would be invalid, which the merged pull request reports once', async () => {
    const scene = await createInitializedReleaseScenario()
    scene.put('1.1.0', 'b')
    const pull = await scene.merge(createReleasableBundleFiles('1.1.0', 'foo.v0.9.0'))
    await runJobsUntilIdle(scene)
    await scene.push({ 'operators/bar/notes.txt': 'x\n' })
    await runJobsUntilIdle(scene)
    expect(scene.comments(pull)).toEqual([expect.stringContaining('the resulting catalogs would be invalid')])
    expect(scene.branches()).toEqual([])
    await scene.push(createReleasableBundleFiles('1.1.0'))
    await runJobsUntilIdle(scene)
    expect(scene.botPulls()).toHaveLength(1)
  })

  test('while releases are disabled, or for bundles merged before they were enabled', async () => {
    const scene = await createInitializedReleaseScenario({
      [botConfigPath]: '',
      ...createReleasableBundleFiles('1.1.0'),
    })
    scene.put('1.1.0', 'b')
    scene.put('1.2.0', 'c')
    await scene.push(createReleasableBundleFiles('1.2.0'))
    await runJobsUntilIdle(scene)
    // Once enabled, only later merges count.
    await scene.push({ [botConfigPath]: createReleaseConfig() })
    await runJobsUntilIdle(scene)
    await scene.push({ 'operators/bar/notes.txt': 'x\n' })
    await runJobsUntilIdle(scene)
    expect(scene.questions).toEqual([])
    // If releases are disabled in between, a pending bundle is dropped.
    scene.put('1.3.0', 'd')
    await scene.push(createReleasableBundleFiles('1.3.0'))
    await scene.run()
    await scene.push({ [botConfigPath]: '' })
    await runJobsUntilIdle(scene)
    await scene.push({ [botConfigPath]: createReleaseConfig() })
    await runJobsUntilIdle(scene)
    expect(scene.botPulls()).toEqual([])
  })

  test('if a branch of the same name that the bot did not create already exists', async () => {
    const scene = await createInitializedReleaseScenario()
    scene.put('1.1.0', 'b')
    await scene.push({ [templatePath]: 'theirs\n' }, 'catalog-bot/add/foo/1.1.0')
    const theirs = scene.repo.knownRefs.get(getReleaseBranchRef('1.1.0'))
    const pull = await scene.merge(createReleasableBundleFiles('1.1.0'))
    await runJobsUntilIdle(scene)
    expect(scene.botPulls()).toEqual([])
    expect(scene.repo.knownRefs.get(getReleaseBranchRef('1.1.0'))).toBe(theirs)
    expect(scene.comments(pull)).toEqual([expect.stringContaining('could not open')])
  })

  test('for a push that adds many bundles at once', async () => {
    const scene = await createInitializedReleaseScenario()
    const many = Array.from({ length: 51 }, (_, at) => createReleasableBundleFiles(`2.0.${at}`))
    await scene.push(Object.assign({}, ...many) as Record<string, string>)
    await runJobsUntilIdle(scene)
    expect(scene.questions).toEqual([])
    expect(releaseRepositoryFiles[templatePath]).toBe(templateYaml)
    expect(catalogYaml).not.toContain('2.0.')
  })
})

test('a bundle directory from a direct push is reported on its commit', async () => {
  const scene = await createInitializedReleaseScenario()
  scene.put('1.1.0', 'b')
  const commit = await scene.push(createReleasableBundleFiles('1.1.0', 'foo.v0.9.0'))
  await runJobsUntilIdle(scene)
  const runs = githubFixture.github.checkRuns({ repo: scene.repo, headSha: commit })
  expect(runs.map(({ name, conclusion }) => [name, conclusion])).toEqual([
    ['catalog-bot / release', 'neutral'],
  ])
})
