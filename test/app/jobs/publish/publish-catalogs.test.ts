// What is merged and what users get, against the sandbox's GitHub, a real mirror and a real store; the registry is in
// memory and the time the test's own.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { GitHubApp } from '../../../../src/github/github-app.ts'
import { publishCatalogs } from '../../../../src/app/jobs/publish/publish-catalogs.ts'
import { rollbackWishes } from '../../../../src/app/jobs/publish/publication-state.ts'
import type { Store } from '../../../../src/ports/store.ts'
import { RegistryError } from '../../../../src/registry/registry-error.ts'
import type { Furnished } from '../../../sandbox/github/sample-world.ts'
import { openJobGround, type JobGround } from '../job-ground.ts'
import { base, config, entry, image, openPublishScene, type PublishScene } from './publish-scene.ts'

const patience = 180_000
const catalog = 'catalogs/v4.18/alpha/catalog.yaml'
const hour = 3600

let ground: JobGround
let it: Furnished
let app: GitHubApp
let store: Store
let directory: string
const opened: PublishScene[] = []

beforeAll(async () => {
  ground = await openJobGround()
  ;({ it, app, store, directory } = ground)
}, patience)
afterEach(async () => {
  it.github.clearFaults()
  for (const each of opened.splice(0)) await each.close()
})
afterAll(async () => {
  await ground.close()
}, patience)

const begin = async (given?: Readonly<Record<string, string>>): Promise<PublishScene> => {
  const scene = await openPublishScene(it, app, store, directory, given)
  opened.push(scene)
  return scene
}
const writes = ({ full }: PublishScene) =>
  it.github.requests.filter(({ method, path }) => method !== 'GET' && path.startsWith(`/repos/${full}/`))
    .length
const pushes = ({ registry }: PublishScene) =>
  registry.asked.filter((asked) => asked.startsWith('push')).length
const headOf = ({ full }: PublishScene) => it.github.repository(full).known.get('refs/heads/main') ?? ''
const commentOf = (pull: { readonly comments: readonly { readonly body: string }[] }) =>
  pull.comments.find(({ body }) => body.startsWith('<!-- catalog-bot:report'))?.body

describe('a merged catalog', () => {
  test('becomes an image under every tag, with a check and a deployment that name its digest', async () => {
    const scene = await begin()
    await scene.run()
    const digest = scene.registry.at(`${image}:latest`)
    expect(digest).toMatch(/^sha256:/)
    expect(scene.registry.at(`${image}:v4.18`)).toBe(digest)
    expect(scene.registry.at(`${image}:v4.18-${headOf(scene).slice(0, 12)}`)).toBe(digest)
    expect(scene.registry.textOf(`${image}:latest`)).toContain('name: alpha')
    expect(scene.check(headOf(scene))).toMatchObject({ status: 'completed', conclusion: 'success' })
    expect(scene.check(headOf(scene))?.summary).toContain(`\`${digest}\``)
    expect(scene.deployments()).toMatchObject([
      {
        sha: headOf(scene),
        environment: 'catalog v4.18',
        app: it.app,
        statuses: [{ state: 'success', description: `Published: ${digest}` }],
      },
    ])
    expect(scene.issues()).toEqual([])
  }, 180_000)

  test('costs nothing while nothing changes, and no image for a commit that changes none', async () => {
    const scene = await begin()
    await scene.run()
    const before = { writes: writes(scene), asked: scene.registry.asked.length }
    await scene.run()
    await scene.push({ 'README.md': 'words', 'catalogs/v4.19/alpha/catalog.yaml': entry('alpha', 'fast') })
    await scene.run()
    expect({ writes: writes(scene), asked: scene.registry.asked.length }).toEqual(before)
  }, 180_000)

  test('is published again when it changes; what changed for users is said in catalog words', async () => {
    const scene = await begin()
    await scene.run()
    const first = scene.registry.at(`${image}:latest`)
    const { pull, commit } = await scene.land({ 'catalogs/v4.18/beta/catalog.yaml': entry('beta') })
    await scene.run()
    const second = scene.registry.at(`${image}:latest`)
    expect(second).not.toBe(first)
    expect(scene.check(commit)?.summary).toMatch(/`beta` is new in `4\.18`/)
    expect(commentOf(pull)).toMatch(/### ✅ Merged and published/)
    expect(commentOf(pull)).toContain(`\`${image}:latest\`, \`${image}:v4.18\` is \`${second}\``)
    // The former one stays, for those who want it back.
    expect(scene.registry.at(`${image}:v4.18-${headOf(scene).slice(0, 12)}`)).toBe(second)
  }, 180_000)

  test('is told of on its pull request, though the merge was on record only after it was published', async () => {
    const scene = await begin()
    await scene.run()
    const { pull, commit } = await scene.land({ [catalog]: entry('alpha', 'fast') }, () => scene.run())
    expect(scene.check(commit)).toMatchObject({ conclusion: 'success' })
    expect(commentOf(pull)).toBeUndefined()
    await scene.run()
    expect(commentOf(pull)).toMatch(/### ✅ Merged and published/)
    const before = writes(scene)
    await scene.run()
    expect(writes(scene)).toBe(before)
  }, 180_000)

  test('of a branch that nobody serves is not published, whatever its own configuration says', async () => {
    const scene = await begin({ '.github/catalog-bot.yml': '' })
    await scene.push({ '.github/catalog-bot.yml': config() }, 'mallory')
    await scene.run()
    expect(scene.registry.asked).toEqual([])
    await scene.push({
      '.github/catalog-bot.yml': config('    branch: mallory\n'),
    })
    await scene.run()
    expect(scene.registry.asked).toEqual([])
    expect(scene.issues()[0]?.body).toMatch(/no branch mallory, or the configuration does not name it/)
    await scene.push({
      '.github/catalog-bot.yml': `branches: [release-*]\n${config('    branch: release-1\n')}`,
      [catalog]: entry('main'),
    })
    await scene.push({ [catalog]: entry('released') }, 'release-1')
    await scene.run()
    expect(scene.registry.textOf(`${image}:latest`)).toContain('name: released')
    expect(scene.issues()[0]).toMatchObject({ state: 'closed' })
  }, 180_000)
})

describe('two commits fast after one another', () => {
  test('the newest wins, and the older one says so, though it was begun', async () => {
    const scene = await begin()
    await scene.run()
    const one = await scene.land({ [catalog]: entry('alpha', 'one') })
    let two: Awaited<ReturnType<PublishScene['land']>> | undefined
    scene.registry.before = async (asked) => {
      if (asked === 'build' && two === undefined) two = await scene.land({ [catalog]: entry('alpha', 'two') })
    }
    await scene.run()
    expect(scene.registry.textOf(`${image}:latest`)).toContain('name: two')
    expect(pushes(scene)).toBe(2)
    expect(scene.check(one.commit)).toMatchObject({ conclusion: 'neutral' })
    expect(scene.check(one.commit)?.summary).toContain(two?.commit.slice(0, 12))
    expect(scene.check(two?.commit ?? '')).toMatchObject({ conclusion: 'success' })
    for (const landed of [one, two]) expect(commentOf(landed?.pull as never)).toMatch(/Merged and published/)
  }, 180_000)

  test('an older one that was never begun says so too', async () => {
    const scene = await begin()
    await scene.run()
    const one = await scene.land({ [catalog]: entry('alpha', 'one') })
    const two = await scene.land({ [catalog]: entry('alpha', 'two') })
    await scene.run()
    expect(scene.check(one.commit)?.summary).toContain(two.commit.slice(0, 12))
    expect(commentOf(one.pull)).toMatch(/Merged and published/)
  }, 180_000)
})

describe('a registry that is down', () => {
  test('is waited for with patience, then told of in one issue, which is closed when it is back', async () => {
    const scene = await begin()
    await scene.run()
    const { pull, commit } = await scene.land({ [catalog]: entry('alpha', 'fast') })
    scene.registry.before = () => {
      throw new RegistryError('server', 'quay.io answered 503')
    }
    await scene.run()
    expect(scene.check(commit)).toMatchObject({ status: 'in_progress' })
    expect(scene.issues()).toEqual([])
    expect(commentOf(pull)).toMatch(/### 🔄 Merged; being published/)
    const quiet = writes(scene)
    await scene.run()
    expect(writes(scene)).toBe(quiet)
    for (const seconds of [10, 20, 40]) {
      scene.pass(seconds)
      await scene.run()
    }
    const [issue, ...more] = scene.issues()
    expect(more).toEqual([])
    expect(issue).toMatchObject({ title: 'Merged but not published: 1 catalog image', state: 'open' })
    expect(issue?.body).toContain('quay.io answered 503')
    expect(scene.check(commit)).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(commentOf(pull)).toMatch(/### ❌ Merged, but not published/)
    expect(scene.deployments().at(-1)?.statuses.at(-1)?.state).toBe('failure')
    scene.pass(hour)
    const told = writes(scene)
    await scene.run()
    // Nothing is news, so nothing is written.
    expect(writes(scene)).toBe(told)
    expect(scene.issues()).toHaveLength(1)

    scene.registry.before = () => undefined
    scene.pass(hour)
    await scene.run()
    expect(scene.registry.textOf(`${image}:latest`)).toContain('name: fast')
    expect(issue).toMatchObject({ state: 'closed' })
    expect(scene.check(commit)).toMatchObject({ conclusion: 'success' })
    expect(commentOf(pull)).toMatch(/### ✅ Merged and published/)
  }, 180_000)

  test('does not keep a newer commit waiting for the end of the pause', async () => {
    const scene = await begin()
    scene.registry.before = () => {
      throw new RegistryError('server', 'quay.io answered 503')
    }
    await scene.run()
    scene.registry.before = () => undefined
    await scene.push({ [catalog]: entry('alpha', 'fast') })
    await scene.run()
    expect(scene.registry.textOf(`${image}:latest`)).toContain('name: fast')
  }, 180_000)
})

test('wrong credentials are told of at once', async () => {
  const scene = await begin()
  scene.registry.before = (asked) => {
    if (asked.startsWith('push')) throw new RegistryError('credentials', 'we may not push there')
  }
  await scene.run()
  expect(scene.issues()).toMatchObject([{ title: 'Merged but not published: 1 catalog image' }])
  expect(scene.check(headOf(scene))).toMatchObject({ conclusion: 'failure' })
}, 180_000)

test('a target that the operator does not allow is told of, and no registry is asked', async () => {
  const scene = await begin({ '.github/catalog-bot.yml': config().replace(image, 'quay.io/inland/catalog') })
  await scene.run()
  expect(scene.registry.asked).toEqual([])
  expect(scene.issues()[0]?.body).toMatch(/the operator of the App does not let .* push to/)
  expect(scene.check(headOf(scene))).toMatchObject({ conclusion: 'failure' })
}, 180_000)

describe('a tag that somebody else moves', () => {
  test('is left alone and told of until the catalog changes, then set again with a word about it', async () => {
    const scene = await begin()
    await scene.run()
    await scene.run()
    scene.registry.put(image, 'latest', 'theirs')
    scene.pass(hour)
    await scene.run()
    const theirs = scene.registry.at(`${image}:latest`)
    expect(scene.issues()[0]).toMatchObject({ title: '1 catalog image was changed by somebody else' })
    expect(scene.issues()[0]?.body).toContain(theirs)
    const commit = await scene.push({ [catalog]: entry('alpha', 'fast') })
    await scene.run()
    expect(scene.registry.at(`${image}:latest`)).not.toBe(theirs)
    expect(scene.check(commit)?.summary).toMatch(/Somebody else had moved the tag `latest`/)
    expect(scene.issues()[0]).toMatchObject({ state: 'closed' })
  }, 180_000)

  test('while we set it is met again, and the image ends up right', async () => {
    const scene = await begin()
    await scene.run()
    await scene.push({ [catalog]: entry('alpha', 'fast') })
    let times = 1
    scene.registry.before = (asked) => {
      if (asked.startsWith('push') && times-- > 0) scene.registry.put(image, 'latest', 'theirs')
    }
    await scene.run()
    scene.pass(10)
    await scene.run()
    expect(scene.registry.textOf(`${image}:latest`)).toContain('name: fast')
  }, 180_000)
})

test('GitHub refuses deployments: the image is published, and the check says what is missing', async () => {
  const scene = await begin()
  it.github.fail(
    'POST /repos/{owner}/{repo}/deployments',
    { status: 403, body: { message: 'Resource not accessible by integration' } },
    100,
  )
  await scene.run()
  expect(scene.registry.at(`${image}:latest`)).toBeDefined()
  expect(scene.check(headOf(scene))).toMatchObject({ conclusion: 'success' })
  expect(scene.check(headOf(scene))?.summary).toMatch(/deployments: write/)
  const before = writes(scene)
  await scene.run()
  expect(writes(scene)).toBe(before)
}, 180_000)

test('a process that is killed at any moment is taken up where it was, and everything is said once', async () => {
  const scene = await begin()
  await scene.run()
  const { app: parts } = scene.place
  let left = Number.POSITIVE_INFINITY
  let calls = 0
  const mortal = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    calls += 1
    const answer = await work()
    // The work was done, and nobody heard of it.
    if (left-- <= 0) throw new Error('killed')
    return answer
  }
  const { forge } = scene.place
  const cut: typeof scene.place = {
    ...scene.place,
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
    publishCatalogs({ kind: 'publish', installation: it.installation.id, repository: forge.repository }, cut)
  for (let at = 0; ; at += 1) {
    const { pull, commit } = await scene.land({ [catalog]: entry('alpha', `channel-${at}`) })
    left = at
    calls = 0
    const ended = await run().then(
      () => true,
      () => false,
    )
    left = Number.POSITIVE_INFINITY
    await run()
    await scene.tellPulls()
    expect(scene.registry.textOf(`${image}:latest`)).toContain(`name: channel-${at}`)
    const run1 = scene.check(commit)
    expect(run1).toMatchObject({ conclusion: 'success' })
    // A push that was repeated finds its own work, which is nobody else's and no unchanged image.
    expect(run1?.summary).not.toMatch(/Somebody else|already/)
    expect(scene.deployments().filter(({ sha }) => sha === commit)).toHaveLength(1)
    expect(commentOf(pull)).toMatch(/Merged and published/)
    if (ended) break
    expect(at).toBeLessThan(60)
  }
  expect(calls).toBeGreaterThan(4)
  expect(scene.issues()).toEqual([])
}, 180_000)

describe('/rollback', () => {
  test('gives the tags the former image, says so where it was asked, and no unchanged build undoes it', async () => {
    const scene = await begin()
    await scene.run()
    const first = scene.registry.at(`${image}:latest`) ?? ''
    const { pull } = await scene.land({ [catalog]: entry('alpha', 'bad') })
    await scene.run()
    const second = scene.registry.at(`${image}:latest`) ?? ''
    const wish = { comment: 1, pull: pull.number, login: 'maintainer', digest: first }
    const { repository } = scene.place.forge
    const id = `main catalogs/v4.18 ${image}:latest`
    await store.writeState(rollbackWishes, repository, new Map([[id, wish]]))
    await scene.run()
    expect(scene.registry.at(`${image}:latest`)).toBe(first)
    expect(scene.registry.at(`${image}:v4.18`)).toBe(first)
    const said = () => pull.comments.filter(({ body }) => body.includes('catalog-bot:rollback'))
    expect(said()).toHaveLength(1)
    expect(said()[0]?.body).toMatch(/Rolled back/)
    expect(scene.check(headOf(scene))?.title).toBe('Rolled back')
    expect(
      scene
        .deployments()
        .find(({ sha }) => sha === headOf(scene))
        ?.statuses.at(-1)?.state,
    ).toBe('inactive')
    await scene.push({ 'README.md': 'nothing of the catalog' })
    scene.pass(2 * hour)
    await scene.run()
    await scene.run()
    expect(scene.registry.at(`${image}:latest`)).toBe(first)
    expect(said()).toHaveLength(1)

    await scene.push({ [catalog]: entry('alpha', 'good') })
    await scene.run()
    const third = scene.registry.at(`${image}:latest`)
    expect([first, second]).not.toContain(third)
  }, 180_000)
})

test('a new base image gets the same catalog, when it is looked for', async () => {
  const scene = await begin({ '.github/catalog-bot.yml': config('    rebase: 1h\n') })
  await scene.run()
  await scene.run()
  const first = scene.registry.at(`${image}:latest`)
  scene.registry.bases.set(base, `sha256:${'c'.repeat(64)}`)
  await scene.run()
  expect(scene.registry.at(`${image}:latest`)).toBe(first)
  scene.pass(hour)
  await scene.run()
  expect(scene.registry.at(`${image}:latest`)).not.toBe(first)
  expect(scene.registry.textOf(`${image}:latest`)).toContain('name: alpha')
  expect(scene.registry.asked.filter((asked) => asked === 'build')).toHaveLength(1)
  expect(scene.check(headOf(scene))?.summary).toMatch(/put on the new base image/)
}, 180_000)

test('former images stay as many as configured; older ones go, and never one that a tag needs', async () => {
  const scene = await begin({ '.github/catalog-bot.yml': config('    retention: {keep: 1}\n') })
  const digests: string[] = []
  for (const channel of ['one', 'two', 'three', 'four']) {
    await scene.push({ [catalog]: entry('alpha', channel) })
    await scene.run()
    digests.push(scene.registry.at(`${image}:latest`) ?? '')
    if (channel === 'one') scene.registry.shelf(image).tags.set('release', digests[0] ?? '')
  }
  const left = [...scene.registry.shelf(image).images.keys()]
  expect(left.sort()).toEqual([digests[0], digests[2], digests[3]].sort())
}, 180_000)
